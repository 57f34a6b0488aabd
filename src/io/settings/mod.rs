//! The user's settings: what may be set, where it is set, and which of several places wins.
//!
//! A value is looked for in this order: flag, environment, bench, the user's file, default. Each value keeps its
//! [`Origin`], which `doctor` and `config` print. The file is YAML in the same syntax as benches: unknown keys and wrong
//! values are errors with file, line, column and a hint ([`mod@file`]). A bench may only say how it wants to be shown
//! ([`file::of_bench`]): what reads files, binds keys or sets limits is the user's own.

pub mod file;
pub mod place;
pub mod sources;
pub mod template;
pub mod themes;
pub mod values;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::core::diagnostic::{Diagnostic, Position};
use crate::core::text::Source;
use crate::io::clipboard::Preference;
use crate::io::watch::Mode;

pub use sources::Sources;
pub use values::{Color, ThemeChoice};

/// Where a value was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A flag of the command line, with its dashes.
    Flag(&'static str),
    /// A variable of the environment.
    Environment(&'static str),
    /// The bench that is open, or the user's own file.
    File {
        /// The file, with its text, for messages.
        source: Arc<Source>,
        /// Where the value stands.
        at: Position,
    },
    /// Nowhere.
    Default,
}

impl Origin {
    /// A problem with a value from here, told with its place.
    #[must_use]
    pub fn locate(&self, problem: Diagnostic) -> Diagnostic {
        match self {
            Origin::File { source, at } => problem.at(source.name.clone(), &source.text, *at),
            Origin::Flag(name) | Origin::Environment(name) => {
                let message = format!("{name}: {}", problem.message);
                Diagnostic { message, ..problem }
            }
            Origin::Default => problem,
        }
    }
}

/// `--theme`, `NO_COLOR`, `~/.config/plywood/config.yaml:3`, `default`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Flag(name) | Origin::Environment(name) => f.write_str(name),
            Origin::File { source, at } => write!(f, "{}:{}", source.name, at.line),
            Origin::Default => f.write_str("default"),
        }
    }
}

/// A value and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Where it was set.
    pub origin: Origin,
}

impl<T> Setting<T> {
    /// A value from somewhere.
    pub fn new(value: T, origin: Origin) -> Setting<T> {
        Setting { value, origin }
    }

    /// A value that was set nowhere.
    pub fn default_is(value: T) -> Setting<T> {
        Setting::new(value, Origin::Default)
    }
}

/// The keys of one action, as they stand in the user's file. What they mean is known to whoever has the table of
/// actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebinding {
    /// The action's id.
    pub action: Arc<str>,
    /// Where it stands.
    pub at: Position,
    /// Its keys, with where each stands.
    pub keys: Vec<(Arc<str>, Position)>,
}

/// All rebound keys, with the file that rebinds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebindings {
    /// The file.
    pub source: Arc<Source>,
    /// In the order of the file.
    pub list: Vec<Rebinding>,
}

/// The name of a setting with what may override it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The key in the file.
    pub key: &'static str,
    /// The variable of the environment; none where it can be set in a file only.
    pub variable: Option<&'static str>,
}

const fn known(key: &'static str, variable: &'static str) -> Known {
    Known { key, variable: Some(variable) }
}

/// Every setting, in the order in which they are printed.
pub const KNOWN: [Known; 9] = [
    known("theme", "PLYWOOD_THEME"),
    known("color", "PLYWOOD_COLOR"),
    known("mouse", "PLYWOOD_MOUSE"),
    known("watch", "PLYWOOD_WATCH"),
    known("show_keys", "PLYWOOD_SHOW_KEYS"),
    known("animations", "PLYWOOD_ANIMATIONS"),
    known("clipboard", "PLYWOOD_CLIPBOARD"),
    known("models", "PLYWOOD_MODELS"),
    Known { key: "keys", variable: None },
];

/// What one place says: only what is set there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// The theme.
    pub theme: Option<Setting<ThemeChoice>>,
    /// How many colours.
    pub color: Option<Setting<Color>>,
    /// Whether the mouse is captured at the start.
    pub mouse: Option<Setting<bool>>,
    /// How files are watched.
    pub watch: Option<Setting<Mode>>,
    /// Whether the last keys are shown.
    pub show_keys: Option<Setting<bool>>,
    /// Whether anything moves by itself.
    pub animations: Option<Setting<bool>>,
    /// How texts are copied.
    pub clipboard: Option<Setting<Preference>>,
    /// The user's own model data.
    pub models: Option<Setting<PathBuf>>,
    /// Rebound keys.
    pub keys: Option<Rebindings>,
}

impl Given {
    /// This, and where it says nothing what `below` says.
    #[must_use]
    pub fn over(self, below: Given) -> Given {
        Given {
            theme: self.theme.or(below.theme),
            color: self.color.or(below.color),
            mouse: self.mouse.or(below.mouse),
            watch: self.watch.or(below.watch),
            show_keys: self.show_keys.or(below.show_keys),
            animations: self.animations.or(below.animations),
            clipboard: self.clipboard.or(below.clipboard),
            models: self.models.or(below.models),
            keys: self.keys.or(below.keys),
        }
    }

    /// What the environment says. `look` gives a variable that is set and not empty.
    ///
    /// `NO_COLOR` (see <https://no-color.org>) asks for no colours; `PLYWOOD_COLOR`, and a theme that is named in the
    /// environment, speak more exactly and win over it.
    ///
    /// # Errors
    ///
    /// One message for each variable whose value is none.
    pub fn of_environment(look: &dyn Fn(&str) -> Option<String>) -> Result<Given, Vec<Diagnostic>> {
        let mut given = Given::default();
        let mut problems = Vec::new();
        for Known { key, variable } in KNOWN {
            let Some(variable) = variable else { continue };
            let Some(text) = look(variable) else { continue };
            let origin = Origin::Environment(variable);
            if let Err(hint) = given.set(key, &text, &origin) {
                let problem = Diagnostic::error(format!("`{key}` cannot be `{text}`"));
                problems.push(origin.locate(problem.hint(hint)));
            }
        }
        if given.color.is_none() && given.theme.is_none() && look("NO_COLOR").is_some() {
            given.color = Some(Setting::new(Color::Never, Origin::Environment("NO_COLOR")));
        }
        if problems.is_empty() { Ok(given) } else { Err(problems) }
    }

    /// Sets a value that is written as one word. The error is what it may be.
    fn set(&mut self, key: &str, text: &str, origin: &Origin) -> Result<(), String> {
        fn put<T>(slot: &mut Option<Setting<T>>, value: Option<T>, origin: &Origin) -> bool {
            *slot = value.map(|value| Setting::new(value, origin.clone()));
            slot.is_some()
        }
        let done = match key {
            "theme" => put(&mut self.theme, Some(ThemeChoice::read(text)), origin),
            "color" => put(&mut self.color, values::color(text), origin),
            "mouse" => put(&mut self.mouse, values::switch(text), origin),
            "watch" => put(&mut self.watch, values::watch(text), origin),
            "show_keys" => put(&mut self.show_keys, values::switch(text), origin),
            "animations" => put(&mut self.animations, values::switch(text), origin),
            "clipboard" => put(&mut self.clipboard, values::clipboard(text), origin),
            "models" => put(&mut self.models, Some(PathBuf::from(text)), origin),
            _ => false,
        };
        if done { Ok(()) } else { Err(file::expected(key)) }
    }
}

/// All settings, each from the place that wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The theme.
    pub theme: Setting<ThemeChoice>,
    /// How many colours.
    pub color: Setting<Color>,
    /// Whether the mouse is captured at the start.
    pub mouse: Setting<bool>,
    /// How files are watched.
    pub watch: Setting<Mode>,
    /// Whether the last keys are shown, for an audience.
    pub show_keys: Setting<bool>,
    /// Whether anything on the screen moves by itself.
    pub animations: Setting<bool>,
    /// How texts are copied.
    pub clipboard: Setting<Preference>,
    /// The user's own model data; none where there is no such file.
    pub models: Setting<Option<PathBuf>>,
    /// Rebound keys.
    pub keys: Option<Rebindings>,
}

impl Settings {
    /// What was given, and the default for everything else. `folder` is where the user's own files are: `models.yaml`
    /// there is taken where no other is named.
    #[must_use]
    pub fn of(given: Given, folder: Option<&Path>) -> Settings {
        let models = given.models.map(|setting| Setting::new(Some(setting.value), setting.origin));
        let own = || folder.map(|folder| folder.join("models.yaml")).filter(|path| path.is_file());
        Settings {
            theme: given.theme.unwrap_or_else(|| Setting::default_is(ThemeChoice::default())),
            color: given.color.unwrap_or_else(|| Setting::default_is(Color::Auto)),
            mouse: given.mouse.unwrap_or_else(|| Setting::default_is(true)),
            watch: given.watch.unwrap_or_else(|| Setting::default_is(Mode::Auto)),
            show_keys: given.show_keys.unwrap_or_else(|| Setting::default_is(false)),
            animations: given.animations.unwrap_or_else(|| Setting::default_is(true)),
            clipboard: given.clipboard.unwrap_or_else(|| Setting::default_is(Preference::Auto)),
            models: models.unwrap_or_else(|| Setting::default_is(own())),
            keys: given.keys,
        }
    }

    /// Every setting as `config` and `doctor` print it: key, value, origin.
    #[must_use]
    pub fn listed(&self) -> Vec<(&'static str, String, String)> {
        fn row<T>(key: &'static str, setting: &Setting<T>, shown: String) -> (&'static str, String, String) {
            (key, shown, setting.origin.to_string())
        }
        let word = |on: bool| if on { "true" } else { "false" }.to_owned();
        let models = match &self.models.value {
            Some(path) => path.display().to_string(),
            None => "none".to_owned(),
        };
        let keys = match &self.keys {
            None => ("keys", "none rebound".to_owned(), Origin::Default.to_string()),
            Some(keys) => {
                let at = keys.list.first().map_or(Position::START, |first| first.at);
                let origin = Origin::File { source: keys.source.clone(), at };
                ("keys", format!("{} rebound", keys.list.len()), origin.to_string())
            }
        };
        vec![
            row("theme", &self.theme, self.theme.value.to_string()),
            row("color", &self.color, values::color_word(self.color.value).to_owned()),
            row("mouse", &self.mouse, word(self.mouse.value)),
            row("watch", &self.watch, values::watch_word(self.watch.value).to_owned()),
            row("show_keys", &self.show_keys, word(self.show_keys.value)),
            row("animations", &self.animations, word(self.animations.value)),
            row("clipboard", &self.clipboard, values::clipboard_word(self.clipboard.value).to_owned()),
            row("models", &self.models, models),
            keys,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Result<Given, Vec<Diagnostic>> {
        Given::of_environment(&|name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    fn listed(given: Given) -> Vec<String> {
        let settings = Settings::of(given, None);
        settings.listed().into_iter().map(|(key, value, origin)| format!("{key} {value} {origin}")).collect()
    }

    #[test]
    fn flag_then_environment_then_bench_then_file_then_default() {
        let flags = Given {
            theme: Some(Setting::new(ThemeChoice::read("mono"), Origin::Flag("--theme"))),
            ..Given::default()
        };
        let environment =
            environment(&[("PLYWOOD_THEME", "light"), ("PLYWOOD_MOUSE", "false")]).expect("it is right");
        let bench = file::of_bench("bench.yaml", "settings: { theme: dark, show_keys: true }\n")
            .expect("it is right");
        let file =
            file::read("config.yaml", "theme: ansi\nmouse: true\nshow_keys: false\nanimations: false\n")
                .expect("it is right");
        let all = flags.over(environment).over(bench).over(file);
        assert_eq!(
            listed(all),
            [
                "theme mono --theme",
                "color auto default",
                "mouse false PLYWOOD_MOUSE",
                "watch auto default",
                "show_keys true bench.yaml:1",
                "animations false config.yaml:4",
                "clipboard auto default",
                "models none default",
                "keys none rebound default",
            ]
        );
    }

    #[test]
    fn every_setting_is_listed_under_its_key() {
        let keys: Vec<&str> = KNOWN.iter().map(|known| known.key).collect();
        let listed: Vec<&str> =
            Settings::of(Given::default(), None).listed().into_iter().map(|(key, ..)| key).collect();
        assert_eq!(listed, keys);
    }

    #[test]
    fn no_color_speaks_where_nobody_names_a_theme() {
        let color = |pairs: &[_]| environment(pairs).expect("it is right").color;
        let never = Some(Setting::new(Color::Never, Origin::Environment("NO_COLOR")));
        assert_eq!(color(&[("NO_COLOR", "1")]), never);
        assert_eq!(color(&[("NO_COLOR", "1"), ("PLYWOOD_THEME", "light")]), None);
        let named = Some(Setting::new(Color::Palette, Origin::Environment("PLYWOOD_COLOR")));
        assert_eq!(color(&[("NO_COLOR", "1"), ("PLYWOOD_COLOR", "256")]), named);
    }

    #[test]
    fn a_wrong_variable_is_told_by_its_name() {
        let problems = environment(&[("PLYWOOD_WATCH", "always"), ("PLYWOOD_MOUSE", "maybe")])
            .expect_err("both are wrong");
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "error: PLYWOOD_MOUSE: `mouse` cannot be `maybe`\n  = hint: `true` or `false`",
                "error: PLYWOOD_WATCH: `watch` cannot be `always`\n  = hint: one of `auto`, `poll`, `off`",
            ]
        );
    }
}
