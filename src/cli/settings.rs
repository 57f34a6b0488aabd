//! Settings and where they come from: flag, then environment, then default.

use std::collections::BTreeMap;
use std::ffi::OsString;

/// A value and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The value.
    pub value: String,
    /// `--theme`, `NO_COLOR`, `default`.
    pub origin: &'static str,
}

/// The environment variables that the program looks at.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<&'static str, String>,
}

/// Every variable that the program looks at on its own account.
const VARIABLES: &[&str] =
    &["COLORTERM", "LANG", "LC_ALL", "LC_CTYPE", "NO_COLOR", "PLYWOOD_CLIPBOARD", "PLYWOOD_THEME", "TERM"];

impl Environment {
    /// That of this process. An empty variable counts as not set, as terminals' conventions have it.
    #[must_use]
    pub fn of_process() -> Environment {
        Environment::new(|name| std::env::var_os(name))
    }

    fn new(look: impl Fn(&str) -> Option<OsString>) -> Environment {
        let set = |name: &&'static str| {
            let value = look(name)?.to_string_lossy().into_owned();
            (!value.is_empty()).then_some((*name, value))
        };
        Environment { variables: VARIABLES.iter().filter_map(set).collect() }
    }

    /// A variable that is set and not empty.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    fn first(&self, names: &[&'static str], default: &str) -> Setting {
        names
            .iter()
            .find_map(|name| self.get(name).map(|value| Setting { value: value.to_owned(), origin: name }))
            .unwrap_or_else(|| Setting { value: default.to_owned(), origin: "default" })
    }

    /// The theme, by the flag or what stands for it.
    #[must_use]
    pub fn theme(&self, flag: Option<&str>) -> Setting {
        if let Some(flag) = flag {
            return Setting { value: flag.to_owned(), origin: "--theme" };
        }
        if let Some(theme) = self.get("PLYWOOD_THEME") {
            return Setting { value: theme.to_owned(), origin: "PLYWOOD_THEME" };
        }
        if self.get("NO_COLOR").is_some() {
            return Setting { value: "mono".to_owned(), origin: "NO_COLOR" };
        }
        // The terminal's own colours fit every background.
        Setting { value: "ansi".to_owned(), origin: "default" }
    }

    /// Which way leads to the clipboard: a word of [`crate::io::clipboard::Preference`].
    #[must_use]
    pub fn clipboard(&self) -> Setting {
        self.first(&["PLYWOOD_CLIPBOARD"], "auto")
    }

    /// The locale, which says how the terminal is encoded.
    #[must_use]
    pub fn locale(&self) -> Setting {
        self.first(&["LC_ALL", "LC_CTYPE", "LANG"], "not set")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &[(&str, &str)]) -> Environment {
        Environment::new(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn the_flag_wins_over_the_environment_and_that_over_the_default() {
        let theme = |flag, pairs: &[_]| {
            let setting = with(pairs).theme(flag);
            format!("{} by {}", setting.value, setting.origin)
        };
        let all = [("PLYWOOD_THEME", "light"), ("NO_COLOR", "1"), ("COLORTERM", "truecolor")];
        assert_eq!(theme(Some("ansi"), &all), "ansi by --theme");
        assert_eq!(theme(None, &all), "light by PLYWOOD_THEME");
        assert_eq!(theme(None, &all[1..]), "mono by NO_COLOR");
        assert_eq!(theme(None, &all[2..]), "ansi by default");
    }

    #[test]
    fn an_empty_variable_is_not_set() {
        let environment = with(&[("LC_ALL", ""), ("LANG", "zh_CN.UTF-8"), ("NO_COLOR", "")]);
        assert_eq!(environment.locale(), Setting { value: "zh_CN.UTF-8".into(), origin: "LANG" });
        assert_eq!(environment.theme(None).origin, "default");
    }
}
