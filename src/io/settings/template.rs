//! The settings file to begin with: every setting with its default, commented out.

use super::file::fields;
use super::{Given, Settings, values};
use crate::io::syntax::shape::Shape;

/// The text of the file. It is made from the description of the settings, so it cannot miss one.
#[must_use]
pub fn template() -> String {
    let defaults = Settings::of(Given::default(), None);
    let mut text = String::from(
        "# Settings of Plywood: every one with its default. Take the `#` away from those that you change.\n\
         # A flag wins over the environment, that over a bench, that over this file; `plywood config` shows which.\n",
    );
    for field in fields() {
        text.push_str(&format!("\n# {}.\n", capital(field.doc)));
        if let Shape::Words(words) = field.shape {
            for word in words {
                text.push_str(&format!("#   {:<10} {}\n", word.word, word.doc));
            }
        }
        let example = match field.key {
            "theme" => "# theme: { light: light, dark: dark, fallback: ansi }\ntheme: ansi".to_owned(),
            "color" => format!("color: {}", values::color_word(defaults.color.value)),
            "mouse" => format!("mouse: {}", defaults.mouse.value),
            "watch" => format!("watch: {}", values::watch_word(defaults.watch.value)),
            "show_keys" => format!("show_keys: {}", defaults.show_keys.value),
            "animations" => format!("animations: {}", defaults.animations.value),
            "clipboard" => format!("clipboard: {}", values::clipboard_word(defaults.clipboard.value)),
            "models" => "models: models.yaml".to_owned(),
            "keys" => "# keys: { send: [space, enter], quit: [] }\nkeys: {}".to_owned(),
            other => format!("{other}:"),
        };
        for line in example.lines() {
            // An example that is no default keeps a second mark.
            text.push_str(&format!("# {line}\n"));
        }
    }
    text
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::super::file::read;
    use super::*;

    /// The template with every setting taken in.
    fn taken_in() -> String {
        let keys: Vec<&str> = fields().iter().map(|field| field.key).collect();
        let setting = |line: &&str| keys.iter().any(|key| line.starts_with(&format!("# {key}: ")));
        template().lines().filter(setting).map(|line| format!("{}\n", &line[2..])).collect()
    }

    #[test]
    fn as_it_is_it_sets_nothing() {
        assert_eq!(read("config.yaml", &template()), Ok(Given::default()));
    }

    #[test]
    fn with_everything_taken_in_it_sets_the_defaults() {
        let taken = taken_in();
        assert_eq!(taken.lines().count(), fields().len(), "{taken}");
        let given = read("config.yaml", &taken).unwrap_or_else(|problems| panic!("{}\n{taken}", problems[0]));
        let value = |settings: &Settings| -> Vec<String> {
            settings.listed().into_iter().map(|(key, value, _)| format!("{key} {value}")).collect()
        };
        let mut set = value(&Settings::of(given, None));
        let mut default = value(&Settings::of(Given::default(), None));
        // What there is beside the file depends on the machine.
        for list in [&mut set, &mut default] {
            list.retain(|row| !row.starts_with("models ") && !row.starts_with("keys "));
        }
        assert_eq!(set, default);
    }
}
