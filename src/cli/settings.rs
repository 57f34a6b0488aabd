//! The settings that a command line leads to: flags and environment, laid over the files.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use super::args::{ColorArg, OpenArgs, SettingsArgs};
use super::output::{Failure, Result};
use crate::core::cache::Models;
use crate::core::diagnostic::Diagnostic;
use crate::io::models;
use crate::io::settings::place::{self, Places, shortened};
use crate::io::settings::themes::ThemeFiles;
use crate::io::settings::{Color, Given, KNOWN, Origin, Setting, Settings, Sources, ThemeChoice};
use crate::io::watch::Mode;
use crate::tui::theme::{Depth, Theme, load};

/// The environment variables that the program looks at.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<&'static str, String>,
}

/// Every variable that the program looks at on its own account, besides those of [`KNOWN`].
const VARIABLES: &[&str] = &[
    "COLORTERM",
    "EDITOR",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "NO_COLOR",
    "PLYWOOD_LOG",
    "SSH_TTY",
    "TERM",
    "TERM_PROGRAM",
    "TMUX",
    "VISUAL",
    place::VARIABLE,
];

impl Environment {
    /// That of this process. An empty variable counts as not set, as terminals' conventions have it.
    #[must_use]
    pub fn of_process() -> Environment {
        Environment::new(|name| std::env::var_os(name))
    }

    fn new(look: impl Fn(&str) -> Option<OsString>) -> Environment {
        let set = |name: &'static str| {
            let value = look(name)?.to_string_lossy().into_owned();
            (!value.is_empty()).then_some((name, value))
        };
        let known = KNOWN.iter().filter_map(|known| known.variable);
        Environment { variables: VARIABLES.iter().copied().chain(known).filter_map(set).collect() }
    }

    /// A variable that is set and not empty.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// The same, as an owned value, for those who take a function.
    pub fn look(&self) -> impl Fn(&str) -> Option<String> + '_ {
        |name| self.get(name).map(str::to_owned)
    }

    /// The same for those who keep it.
    pub fn into_look(self) -> impl Fn(&str) -> Option<String> + 'static {
        move |name| self.get(name).map(str::to_owned)
    }

    /// The locale, which says how the terminal is encoded, and where that is said.
    #[must_use]
    pub fn locale(&self) -> (&str, &'static str) {
        let set = |name: &'static str| Some((self.get(name)?, name));
        ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or(("not set", "default"))
    }
}

/// The places of the settings, without the flags of the workbench.
///
/// # Errors
///
/// When a variable of the environment has a value that means nothing.
pub(super) fn sources(args: &SettingsArgs, environment: &Environment) -> Result<Sources> {
    let look = environment.look();
    Ok(Sources {
        flags: Given::default(),
        environment: Given::of_environment(&look).map_err(Failure::Diagnostics)?,
        bench: None,
        places: Places::of_user(args.config.as_deref(), &look),
    })
}

/// The settings of a command that needs no screen.
///
/// # Errors
///
/// What is wrong with the user's own file, or with the environment.
pub(super) fn settings(args: &SettingsArgs) -> Result<Settings> {
    sources(args, &Environment::of_process())?.read().map_err(Failure::Diagnostics)
}

/// The models that are known, the user's own included.
///
/// # Errors
///
/// What is wrong with the settings or with the user's model data.
pub(super) fn models(args: &SettingsArgs) -> Result<Arc<Models>> {
    models_of(&settings(args)?)
}

/// The same from settings that were read.
///
/// # Errors
///
/// What is wrong with the user's model data.
pub(super) fn models_of(settings: &Settings) -> Result<Arc<Models>> {
    let Some(path) = &settings.models.value else { return Ok(Arc::new(models::embedded())) };
    let text = std::fs::read_to_string(path).map_err(|error| {
        let problem = format!(
            "the model data `{}` cannot be read: {}",
            shortened(path),
            crate::io::load::reason(&error)
        );
        Failure::Diagnostics(vec![settings.models.origin.locate(Diagnostic::error(problem))])
    })?;
    let name = shortened(path);
    match models::load(Some((&name, &text))) {
        Ok(models) => Ok(Arc::new(models)),
        Err(problem) => Err(Failure::Diagnostics(vec![*problem])),
    }
}

/// The theme that `--theme` names, in so many colours.
///
/// # Errors
///
/// What is wrong with it.
pub(super) fn theme(name: &str, depth: Depth) -> Result<Theme> {
    let environment = Environment::of_process();
    let files = ThemeFiles { folder: Places::of_user(None, &environment.look()).themes() };
    load(&files, name, depth).map(|loaded| loaded.theme).map_err(|problems| {
        let place = |problem: Diagnostic| match problem.file {
            None => Origin::Flag("--theme").locate(problem),
            Some(_) => problem,
        };
        Failure::Diagnostics(problems.into_iter().map(place).collect())
    })
}

/// What the flags say that whatever has a screen knows.
pub(super) fn flags(theme: Option<&str>, color: Option<ColorArg>) -> Given {
    Given {
        theme: theme.map(|theme| Setting::new(ThemeChoice::read(theme), Origin::Flag("--theme"))),
        color: color.map(|color| Setting::new(colors(color), Origin::Flag("--color"))),
        ..Given::default()
    }
}

/// What the flags of the workbench say.
pub(super) fn flags_of(args: &OpenArgs, color: Option<ColorArg>) -> Given {
    let set = |on: bool, flag| on.then_some(Origin::Flag(flag));
    Given {
        watch: set(args.no_watch, "--no-watch").map(|origin| Setting::new(Mode::Off, origin)),
        show_keys: set(args.show_keys, "--show-keys").map(|origin| Setting::new(true, origin)),
        ..flags(args.theme.as_deref(), color)
    }
}

fn colors(color: ColorArg) -> Color {
    match color {
        ColorArg::Auto | ColorArg::Always => Color::Auto,
        ColorArg::Never => Color::Never,
        ColorArg::Truecolor => Color::True,
        ColorArg::Palette => Color::Palette,
        ColorArg::Sixteen => Color::Sixteen,
    }
}

/// A path as messages name it.
pub(super) fn shown(path: Option<&Path>) -> String {
    path.map_or_else(|| "none: there is no home folder".to_owned(), shortened)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &[(&str, &str)]) -> Environment {
        Environment::new(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn an_empty_variable_is_not_set() {
        let environment = with(&[("LC_ALL", ""), ("LANG", "zh_CN.UTF-8"), ("NO_COLOR", "")]);
        assert_eq!(environment.locale(), ("zh_CN.UTF-8", "LANG"));
        assert_eq!(environment.get("NO_COLOR"), None);
        let sources = sources(&SettingsArgs::default(), &environment).expect("nothing is wrong");
        assert_eq!(sources.environment, Given::default());
    }
}
