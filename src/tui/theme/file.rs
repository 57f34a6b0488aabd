//! Theme files: their roles, their palette, and the themes that they inherit from.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use ratatui::style::{Color, Modifier, Style};

use super::{Depth, ROLES, Theme, color};
use crate::core::diagnostic::{Diagnostic, Position};
use crate::core::text::Source;
use crate::io::settings::themes::{ThemeFiles, ThemeText};
use crate::io::syntax::node::{Kind, Node};
use crate::io::syntax::shape::{Problems, Record, Shape, field};
use crate::io::syntax::{parse, suggest};

static THEME: Record = Record {
    what: "a theme",
    doc: "A style for each role on the screen.",
    choice: None,
    kinds: &[],
    fields: &[
        field("about", Shape::Text, "one sentence"),
        field("inherits", Shape::Text, "the theme that is changed: a name, or a file beside this one"),
        field("palette", Shape::Names(&VALUE), "names for colours"),
        field("roles", Shape::Names(&VALUE), "a style for each role"),
    ],
};

static VALUE: Shape = Shape::Either(&[Shape::Int(0, 255), Shape::Text]);

/// A value with where it stands.
#[derive(Clone)]
struct Placed {
    text: Arc<str>,
    source: Arc<Source>,
    at: Position,
}

impl Placed {
    fn problem(&self, message: String) -> Diagnostic {
        Diagnostic::error(message).at(self.source.name.clone(), &self.source.text, self.at)
    }
}

/// A theme that was read, with the files that it was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The theme.
    pub theme: Theme,
    /// The user's own files among those that it was made of.
    pub files: Vec<PathBuf>,
}

/// Reads a theme with all that it inherits, for a terminal of so many colours.
///
/// # Errors
///
/// What is wrong with it, with the place of each mistake; one message without a place when there is no such theme.
pub fn load(files: &ThemeFiles, name: &str, depth: Depth) -> Result<Loaded, Vec<Diagnostic>> {
    let text = files.find(name, None).map_err(|problem| vec![problem])?;
    let mut merged = Merged::default();
    merged.take_in(files, &text, &mut Vec::new())?;
    let mut theme = Theme { name: text.name.clone(), ..Theme::plain() };
    let mut problems = Vec::new();
    // Roles that nothing falls back to are checked all the same.
    for placed in merged.roles.values() {
        if let Err(problem) = style(placed, &merged.palette, depth) {
            problems.push(problem);
        }
    }
    for (index, (_, role)) in ROLES.iter().enumerate() {
        if let Some(Ok(style)) = fall_back(role, &merged.roles).map(|p| style(p, &merged.palette, depth)) {
            theme.styles[index] = style;
        }
    }
    if problems.is_empty() { Ok(Loaded { theme, files: merged.files }) } else { Err(problems) }
}

/// What a theme file says of itself; empty where it says nothing or cannot be read.
#[must_use]
pub fn about(text: &ThemeText) -> String {
    let root = parse(&text.source.name, &text.source.text).ok();
    let about = root.as_ref().and_then(|root| root.get("about")).and_then(|node| node.as_text());
    about.map_or_else(String::new, |about| about.to_string())
}

/// The roles and colours of a theme laid over those that it inherits.
#[derive(Default)]
struct Merged {
    palette: BTreeMap<Arc<str>, Placed>,
    roles: BTreeMap<Arc<str>, Placed>,
    files: Vec<PathBuf>,
}

impl Merged {
    /// Takes in what `text` inherits, then what it says itself. `chain` is who inherits from it, the first first.
    fn take_in(
        &mut self,
        files: &ThemeFiles,
        text: &ThemeText,
        chain: &mut Vec<Arc<str>>,
    ) -> Result<(), Vec<Diagnostic>> {
        let source = &text.source;
        self.files.extend(text.path.clone());
        chain.push(source.name.clone());
        let root = parse(&source.name, &source.text)?;
        let mut problems = Problems { file: source.name.clone(), text: &source.text, list: Vec::new() };
        if !matches!(root.kind, Kind::Null) {
            problems.check(&root, &Shape::Record(&THEME), "a theme");
        }
        let own = entries(&root, "roles", source);
        for (role, entry) in
            root.get("roles").into_iter().flat_map(|node| node.entries()).map(|e| (&e.key, e))
        {
            if !ROLES.iter().any(|(_, known)| **known == **role) {
                let known: Vec<&str> = ROLES.iter().map(|(_, known)| *known).collect();
                problems.error(entry.at, format!("unknown role `{role}`"), suggest::hint(role, known));
            }
        }
        if !problems.list.is_empty() {
            return Err(problems.list);
        }
        if let Some(parent) = root.get("inherits") {
            let place = Placed { text: parent.text.clone(), source: source.clone(), at: parent.at };
            let found = files.find(&parent.text, text.path.as_deref()).map_err(|problem| {
                let placed = place.problem(problem.message);
                vec![Diagnostic { hint: problem.hint, ..placed }]
            })?;
            if chain.contains(&found.source.name) {
                let mut chain: Vec<&str> = chain.iter().map(|name| &**name).collect();
                chain.push(&found.source.name);
                let message = format!("this theme inherits from itself: {}", chain.join(" -> "));
                return Err(vec![place.problem(message)]);
            }
            self.take_in(files, &found, chain)?;
        }
        self.palette.extend(entries(&root, "palette", source));
        self.roles.extend(own);
        Ok(())
    }
}

fn entries(root: &Node, key: &str, source: &Arc<Source>) -> Vec<(Arc<str>, Placed)> {
    let entries = root.get(key).into_iter().flat_map(|node| node.entries());
    entries
        .map(|entry| {
            let placed =
                Placed { text: entry.value.text.clone(), source: source.clone(), at: entry.value.at };
            (entry.key.clone(), placed)
        })
        .collect()
}

/// The value of a role, or of the nearest role above it.
fn fall_back<'a>(role: &str, roles: &'a BTreeMap<Arc<str>, Placed>) -> Option<&'a Placed> {
    let mut role = role;
    loop {
        if let Some(value) = roles.get(role) {
            return Some(value);
        }
        role = match role.rfind('.') {
            Some(dot) => &role[..dot],
            None if role == "text" => return None,
            None => "text",
        };
    }
}

/// Reads `cyan on black bold`.
fn style(value: &Placed, palette: &BTreeMap<Arc<str>, Placed>, depth: Depth) -> Result<Style, Diagnostic> {
    let mut style = Style::new();
    let mut background = false;
    for word in value.text.split_whitespace() {
        let modifier = match word {
            "on" => {
                background = true;
                continue;
            }
            "bold" => Modifier::BOLD,
            "dim" => Modifier::DIM,
            "italic" => Modifier::ITALIC,
            "underlined" => Modifier::UNDERLINED,
            "reversed" => Modifier::REVERSED,
            word => {
                if let Some(color) = depth.approximate(named(word, value, palette)?) {
                    style = if background { style.bg(color) } else { style.fg(color) };
                }
                background = false;
                continue;
            }
        };
        style = style.add_modifier(modifier);
    }
    if background {
        return Err(value.problem(format!("`{}` names no colour behind `on`", value.text)));
    }
    Ok(style)
}

/// A colour by its name in the palette, else by its own.
fn named(word: &str, value: &Placed, palette: &BTreeMap<Arc<str>, Placed>) -> Result<Color, Diagnostic> {
    if let Some(entry) = palette.get(word) {
        return color::parse(&entry.text)
            .ok_or_else(|| entry.problem(format!("`{}` is no colour", entry.text)).hint(COLOURS));
    }
    color::parse(word).ok_or_else(|| {
        let near = suggest::nearest(word, palette.keys().map(|name| &**name));
        let hint = near.map_or_else(|| COLOURS.to_owned(), |near| format!("did you mean `{near}`?"));
        value.problem(format!("`{word}` is no colour")).hint(hint)
    })
}

/// How colours are written.
const COLOURS: &str =
    "a name such as `cyan` or `bright-black`, a number from 0 to 255, \"#rrggbb\", or a name of the palette";

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::tui::theme::Role;

    /// Themes in a folder of their own.
    fn folder(themes: &[(&str, &str)]) -> (tempfile::TempDir, ThemeFiles) {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in themes {
            fs::write(folder.path().join(format!("{name}.yaml")), text).expect("a file");
        }
        let files = ThemeFiles { folder: Some(folder.path().to_owned()) };
        (folder, files)
    }

    fn theme(text: &str) -> Result<Theme, Vec<Diagnostic>> {
        let (_folder, files) = folder(&[("x", text)]);
        load(&files, "x", Depth::True).map(|loaded| loaded.theme)
    }

    #[test]
    fn roles_fall_back() {
        let theme = theme("roles: { text: red, border: blue bold }").expect("a theme");
        assert_eq!(theme.style(Role::BorderFocus), Style::new().fg(Color::Blue).add_modifier(Modifier::BOLD));
        assert_eq!(theme.style(Role::SearchCurrent).fg, Some(Color::Red));
        assert_eq!(theme.name(), "x");
    }

    #[test]
    fn a_theme_changes_roles_and_colours_of_the_one_that_it_inherits() {
        let (folder, files) = folder(&[
            (
                "base",
                "palette: { accent: red, quiet: 244 }\nroles: { title: accent bold, dim: quiet, key: accent }\n",
            ),
            ("mine", "inherits: base\npalette: { accent: \"#00ff00\" }\nroles: { key: blue on quiet }\n"),
        ]);
        let loaded = load(&files, "mine", Depth::True).expect("a theme");
        let green = Color::Rgb(0, 255, 0);
        let theme = loaded.theme;
        assert_eq!(theme.style(Role::Title), Style::new().fg(green).add_modifier(Modifier::BOLD));
        assert_eq!(theme.style(Role::Dim).fg, Some(Color::Indexed(244)));
        assert_eq!(theme.style(Role::Key), Style::new().fg(Color::Blue).bg(Color::Indexed(244)));
        let path = |name: &str| folder.path().join(name);
        assert_eq!(loaded.files, [path("mine.yaml"), path("base.yaml")], "what has to be watched");
    }

    #[test]
    fn a_theme_may_stand_on_the_built_in_one_of_its_name() {
        let (_folder, files) = folder(&[("dark", "inherits: dark\nroles: { title: red }\n")]);
        let theme = load(&files, "dark", Depth::True).expect("a theme").theme;
        let below = Theme::built_in("dark", Depth::True).expect("a theme");
        assert_eq!(theme.style(Role::Title).fg, Some(Color::Red));
        assert_eq!(theme.style(Role::Bad), below.style(Role::Bad));
    }

    #[test]
    fn circles_and_unknown_parents_are_errors_with_their_place() {
        let (_folder, files) = folder(&[
            ("a", "about: A.\ninherits: b\n"),
            ("b", "inherits: a\n"),
            ("own", "inherits: own\n"),
            ("lost", "inherits: drak\n"),
        ]);
        let told = |name: &str| {
            let problem = load(&files, name, Depth::True).expect_err("a mistake").remove(0);
            (problem.at.expect("a place").to_string(), problem.message, problem.hint)
        };
        let (at, message, _) = told("a");
        assert_eq!(at, "1:11");
        assert!(
            message.starts_with("this theme inherits from itself: ") && message.contains("b.yaml -> "),
            "{message}"
        );
        // Its own name means the built-in theme of that name, and there is none.
        assert_eq!(told("own").1, "there is no theme `own`");
        assert_eq!(
            told("lost"),
            (
                "1:11".to_owned(),
                "there is no theme `drak`".to_owned(),
                Some("did you mean `dark`?".to_owned())
            )
        );
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        for (text, want) in [
            ("roles: { txt: red }", "1:10 unknown role `txt`"),
            ("roles:\n  text: rad\n", "2:9 `rad` is no colour"),
            ("roles: { text: red on }", "1:16 `red on` names no colour behind `on`"),
            ("palette: { accent: sky }\nroles: { text: accent }", "1:20 `sky` is no colour"),
            ("rules: { text: red }", "1:1 unknown key `rules` in a theme"),
            (
                "roles: { text: [red] }",
                "1:16 `text` must be a whole number from 0 to 255 or a text, but this is a list",
            ),
            ("roles: {", "1:8 the `{` here is not closed"),
        ] {
            let problem = theme(text).expect_err(text).remove(0);
            let told = format!("{} {}", problem.at.expect("a place"), problem.message);
            assert!(told.starts_with(want), "{told}");
        }
        let problem =
            theme("palette: { accent: red }\nroles: { text: acent }").expect_err("a slip").remove(0);
        assert_eq!(problem.hint.as_deref(), Some("did you mean `accent`?"));
    }
}
