//! `plywood themes`: the themes, one of them as a file to copy, and how its roles look.

use ratatui::style::{Color, Modifier, Style};
use serde::Serialize;

use super::args::ThemesArgs;
use super::head::Schema;
use super::output::{Failure, Out, Outcome, Result, Table};
use super::settings::{Environment, sources};
use crate::core::diagnostic::Diagnostic;
use crate::io::settings::Settings;
use crate::io::settings::place::shortened;
use crate::io::settings::themes::{ThemeFiles, ThemeText};
use crate::tui::theme::{self, Depth};

#[derive(Serialize)]
struct Report {
    themes: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    about: String,
    /// The file; none for a theme that is built in.
    file: Option<String>,
    /// True for the one that the settings choose (where they choose by the background, for each that they name).
    on: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    roles: Vec<RoleRow>,
}

#[derive(Serialize)]
struct RoleRow {
    role: &'static str,
    style: String,
}

/// Prints the themes, or one of them.
pub(super) fn run(args: &ThemesArgs, out: &mut Out<'_>) -> Result {
    let environment = Environment::of_process();
    let sources = sources(&args.settings, &environment)?;
    let files = ThemeFiles { folder: sources.places.themes() };
    let settings = sources.read().map_err(Failure::Diagnostics)?;
    let sampled =
        args.sample.then(|| settings.theme.value.names().first().map(ToString::to_string)).flatten();
    let Some(name) = &args.theme.clone().or(sampled) else {
        let chosen = settings.theme.value.to_string();
        let chosen = |name: &str| chosen.split([',', ' ']).any(|word| word == name);
        let found = |name: String| {
            let found = files.find(&name, None).map_err(one);
            row(&files, found, chosen(&name), name)
        };
        let rows: Vec<Row> = files.names().into_iter().map(found).collect();
        if args.json {
            out.json(&Schema::Themes.plain(Report { themes: rows }))?;
        } else {
            let mut table = Table::new(&["", "theme", "from", "about"]);
            for row in rows {
                let from = row.file.unwrap_or_else(|| "built in".to_owned());
                let about = row.problem.map_or(row.about, |problem| format!("! {problem}"));
                table.row([if row.on { ">" } else { "" }.to_owned(), row.name, from, about]);
            }
            table.write(out)?;
        }
        return Ok(Outcome::Told(unknown(&settings, &files)));
    };
    let text = files.find(name, None).map_err(|problem| Failure::Diagnostics(vec![problem]))?;
    // A broken theme is printed all the same: whoever copies it has to mend it.
    if !args.sample && !args.json {
        out.text(&text.source.text)?;
        return Ok(Outcome::Done);
    }
    let depth = Depth::True;
    let theme = theme::load(&files, name, depth).map_err(Failure::Diagnostics)?.theme;
    if args.json {
        let roles = theme.roles().map(|(_, role, style)| RoleRow { role, style: described(style) }).collect();
        let on = false;
        let row = Row { roles, ..row(&files, Ok(text), on, name.clone()) };
        out.json(&Schema::Themes.plain(Report { themes: vec![row] }))?;
        return Ok(Outcome::Done);
    }
    let ground = theme.style(theme::Role::Text);
    let wide = theme.roles().map(|(_, role, _)| role.len()).max().unwrap_or(0);
    for (_, role, style) in theme.roles() {
        let shown = format!(" {role:wide$}  The quick brown fox 敏捷的棕毛狐狸 0123 ");
        let shown = out.painted(&shown, &sgr(ground.patch(style)));
        out.raw_line(format_args!("{shown}  {}", described(style)))?;
    }
    Ok(Outcome::Done)
}

/// What is wrong with the theme that the settings choose, at the place that chooses it.
pub(super) fn unknown(settings: &Settings, files: &ThemeFiles) -> Vec<Diagnostic> {
    let names = settings.theme.value.names();
    let problems = names.iter().filter_map(|name| files.find(name, None).err());
    problems.map(|problem| settings.theme.origin.locate(problem)).collect()
}

fn one(problem: Diagnostic) -> String {
    problem.message
}

fn row(files: &ThemeFiles, found: std::result::Result<ThemeText, String>, on: bool, name: String) -> Row {
    let text = match found {
        Ok(text) => text,
        Err(problem) => {
            let (about, file) = (String::new(), None);
            return Row { name, about, file, on, problem: Some(problem), roles: Vec::new() };
        }
    };
    let problem = theme::load(files, &name, Depth::True).err().map(|problems| {
        let problem = &problems[0];
        match (&problem.file, problem.at) {
            (Some(file), Some(at)) => format!("{} ({file}:{at})", problem.message),
            _ => problem.message.clone(),
        }
    });
    let file = text.path.as_deref().map(shortened);
    Row { name, about: theme::about(&text), file, on, problem, roles: Vec::new() }
}

/// A style as theme files write it.
fn described(style: Style) -> String {
    let mut words = Vec::new();
    if let Some(color) = style.fg {
        words.push(color_word(color));
    }
    if let Some(color) = style.bg {
        words.push(format!("on {}", color_word(color)));
    }
    for (modifier, word) in MODIFIERS {
        if style.add_modifier.contains(modifier) {
            words.push(word.0.to_owned());
        }
    }
    words.join(" ")
}

/// Each modifier with its word and its number in escape sequences.
const MODIFIERS: [(Modifier, (&str, &str)); 5] = [
    (Modifier::BOLD, ("bold", "1")),
    (Modifier::DIM, ("dim", "2")),
    (Modifier::ITALIC, ("italic", "3")),
    (Modifier::UNDERLINED, ("underlined", "4")),
    (Modifier::REVERSED, ("reversed", "7")),
];

/// The sixteen colours with their names and numbers.
const SIXTEEN: [(Color, &str); 16] = [
    (Color::Black, "black"),
    (Color::Red, "red"),
    (Color::Green, "green"),
    (Color::Yellow, "yellow"),
    (Color::Blue, "blue"),
    (Color::Magenta, "magenta"),
    (Color::Cyan, "cyan"),
    (Color::Gray, "white"),
    (Color::DarkGray, "bright-black"),
    (Color::LightRed, "bright-red"),
    (Color::LightGreen, "bright-green"),
    (Color::LightYellow, "bright-yellow"),
    (Color::LightBlue, "bright-blue"),
    (Color::LightMagenta, "bright-magenta"),
    (Color::LightCyan, "bright-cyan"),
    (Color::White, "bright-white"),
];

fn color_word(color: Color) -> String {
    match color {
        Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
        Color::Indexed(index) => index.to_string(),
        color => {
            let known = SIXTEEN.iter().find(|(known, _)| *known == color);
            known.map_or("default", |(_, name)| name).to_owned()
        }
    }
}

/// The parameters of the escape sequence that sets a style.
fn sgr(style: Style) -> String {
    let mut codes = Vec::new();
    for (color, base) in [(style.fg, 38), (style.bg, 48)] {
        match color {
            Some(Color::Rgb(red, green, blue)) => codes.push(format!("{base};2;{red};{green};{blue}")),
            Some(Color::Indexed(index)) => codes.push(format!("{base};5;{index}")),
            Some(color) => {
                if let Some(index) = SIXTEEN.iter().position(|(known, _)| *known == color) {
                    codes.push(format!("{base};5;{index}"));
                }
            }
            None => {}
        }
    }
    codes.extend(
        MODIFIERS
            .iter()
            .filter(|(modifier, _)| style.add_modifier.contains(*modifier))
            .map(|(_, (_, code))| (*code).to_owned()),
    );
    codes.join(";")
}
