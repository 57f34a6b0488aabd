//! The settings of a file: the user's own, or the few that a bench may have.

use std::path::Path;
use std::sync::Arc;

use super::values::{
    self, CLIPBOARD_WORDS, COLOR_WORDS, ThemeChoice, WATCH_WORDS, clipboard, color, is_path, watch,
};
use super::{Given, Origin, Rebinding, Rebindings, Setting};
use crate::core::diagnostic::Diagnostic;
use crate::core::text::Source;
use crate::io::syntax::node::{Kind, Node};
use crate::io::syntax::parse;
use crate::io::syntax::shape::{Field, Problems, Record, Shape, Word, field};

const THEME_DOC: &str = "the colours: the name of a theme, a file, `auto`, or one for each background";

static THEME: Shape = Shape::Either(&[Shape::Text, Shape::Record(&BY_BACKGROUND)]);

static BY_BACKGROUND: Record = Record {
    what: "a `theme` by background",
    doc: "A theme for a light background and one for a dark one.",
    choice: None,
    kinds: &[],
    fields: &[
        field("light", Shape::Text, "the theme for a light background; `light` by default"),
        field("dark", Shape::Text, "the theme for a dark background; `dark` by default"),
        field("fallback", Shape::Text, "where the terminal does not say; `ansi` by default"),
    ],
};

/// The user's own file.
pub(super) static SETTINGS: Record = Record {
    what: "the settings",
    doc: "How Plywood looks and behaves.",
    choice: None,
    kinds: &[],
    fields: &[
        field("theme", THEME, THEME_DOC),
        field("color", Shape::Words(&COLOR_WORDS), "how many colours are used"),
        field("mouse", Shape::Bool, "whether the mouse is captured at the start; M changes it"),
        field("watch", Shape::Words(&WATCH_WORDS), "how files are watched"),
        field("show_keys", Shape::Bool, "whether the last keys are shown in a corner, for an audience"),
        field("animations", Shape::Bool, "whether anything on the screen moves by itself"),
        field("clipboard", Shape::Words(&CLIPBOARD_WORDS), "how texts are copied"),
        field(
            "models",
            Shape::Text,
            "a file with model data of your own; `models.yaml` beside this file by default",
        ),
        field(
            "keys",
            Shape::Names(&Shape::Any),
            "other keys for actions, by the ids that `plywood keys` lists",
        ),
    ],
};

/// What a bench may say about how it is shown. It comes from somebody else: nothing here reads a file, binds a key or
/// changes what the program may do.
pub(crate) static OF_BENCH: Record = Record {
    what: "the `settings` of a bench",
    doc: "How the bench is shown, unless flag or environment say otherwise.",
    choice: None,
    kinds: &[],
    fields: &[
        field("theme", Shape::Words(&BUILT_IN), "a theme that is built in"),
        field("show_keys", Shape::Bool, "whether the last keys are shown in a corner, for an audience"),
        field("animations", Shape::Bool, "whether anything on the screen moves by itself"),
    ],
};

const fn theme(name: &'static str, doc: &'static str) -> Word {
    Word { word: name, doc }
}

static BUILT_IN: [Word; 5] = [
    theme("auto", "light, dark or ansi, by the background"),
    theme("ansi", "the terminal's own colours"),
    theme("dark", "for dark backgrounds"),
    theme("light", "for light backgrounds and projectors"),
    theme("mono", "no colours"),
];

/// The fields of the user's file, for the template.
pub(super) fn fields() -> &'static [Field] {
    SETTINGS.fields
}

/// What a setting may be, as a hint.
pub(super) fn expected(key: &str) -> String {
    let list = |words: &[Word]| {
        let words: Vec<String> = words.iter().map(|word| format!("`{}`", word.word)).collect();
        format!("one of {}", words.join(", "))
    };
    match SETTINGS.field(key).map(|field| field.shape) {
        Some(Shape::Words(words)) => list(words),
        Some(Shape::Bool) => "`true` or `false`".to_owned(),
        _ => "a text".to_owned(),
    }
}

/// Reads the user's own file: `text` is its content, `name` what messages call it.
///
/// # Errors
///
/// Everything that is wrong with it.
pub fn read(name: &str, text: &str) -> Result<Given, Vec<Diagnostic>> {
    let source = Source::file(name, text);
    let root = parse(&source.name, &source.text)?;
    let mut problems = Problems { file: source.name.clone(), text: &source.text, list: Vec::new() };
    // A file with nothing in it, or with everything commented out, is as good as none.
    if matches!(root.kind, Kind::Null) {
        return Ok(Given::default());
    }
    problems.check(&root, &Shape::Record(&SETTINGS), "the settings");
    let keys = root.get("keys").map(|node| rebindings(node, &source, &mut problems));
    if !problems.list.is_empty() {
        problems.list.sort_by_key(|problem| problem.at);
        return Err(problems.list);
    }
    Ok(Given {
        color: value(&root, "color", &source, |node| color(&node.text)),
        mouse: value(&root, "mouse", &source, switch),
        watch: value(&root, "watch", &source, |node| watch(&node.text)),
        clipboard: value(&root, "clipboard", &source, |node| clipboard(&node.text)),
        models: value(&root, "models", &source, |node| {
            Some(Path::new(&*beside(name, &node.text)).to_owned())
        }),
        keys,
        ..shown(&root, &source)
    })
}

/// Reads the `settings` of a bench; nothing where the bench is no YAML, which is told elsewhere.
///
/// # Errors
///
/// Everything that is wrong with them.
pub fn of_bench(name: &str, text: &str) -> Result<Given, Vec<Diagnostic>> {
    let source = Source::file(name, text);
    let Ok(root) = parse(&source.name, &source.text) else { return Ok(Given::default()) };
    let Some(own) = root.get("settings") else { return Ok(Given::default()) };
    let mut problems = Problems { file: source.name.clone(), text: &source.text, list: Vec::new() };
    problems.check(own, &Shape::Record(&OF_BENCH), "`settings`");
    if problems.list.is_empty() { Ok(shown(own, &source)) } else { Err(problems.list) }
}

/// What both kinds of file may say.
fn shown(root: &Node, source: &Arc<Source>) -> Given {
    let choice = |node: &Arc<Node>| {
        let choice = match &node.kind {
            Kind::Map(_) => {
                let name = |key: &str, default: &str| -> Arc<str> {
                    node.get(key).and_then(|node| node.as_text()).cloned().unwrap_or_else(|| default.into())
                };
                ThemeChoice::ByBackground {
                    light: name("light", "light"),
                    dark: name("dark", "dark"),
                    fallback: name("fallback", "ansi"),
                }
            }
            _ => ThemeChoice::read(&node.text),
        };
        Some(choice.map(&|theme| if is_path(&theme) { beside(&source.name, &theme) } else { theme }))
    };
    Given {
        theme: value(root, "theme", source, choice),
        show_keys: value(root, "show_keys", source, switch),
        animations: value(root, "animations", source, switch),
        ..Given::default()
    }
}

fn switch(node: &Arc<Node>) -> Option<bool> {
    values::switch(&node.text)
}

fn value<T>(
    root: &Node,
    key: &str,
    source: &Arc<Source>,
    read: impl Fn(&Arc<Node>) -> Option<T>,
) -> Option<Setting<T>> {
    let node = root.get(key)?;
    let origin = Origin::File { source: source.clone(), at: node.at };
    Some(Setting::new(read(node)?, origin))
}

/// A path that a file names, from where the program runs: `~` is the home folder, and anything else starts beside the
/// file.
fn beside(file: &str, path: &str) -> Arc<str> {
    if let (Some(rest), Ok(home)) = (path.strip_prefix("~/"), etcetera::home_dir()) {
        return home.join(rest).to_string_lossy().into();
    }
    let file = super::place::unshortened(file);
    let folder = file.parent().unwrap_or(Path::new(""));
    folder.join(path).to_string_lossy().into()
}

/// The rebound keys: for each action one key or a list of them.
fn rebindings(node: &Node, source: &Arc<Source>, problems: &mut Problems<'_>) -> Rebindings {
    let hint = "a key, or a list of keys: `[space, enter]`; `[]` for none".to_owned();
    let mut list = Vec::new();
    for entry in node.entries() {
        let one = |node: &Node| (node.text.clone(), node.at);
        let keys = match &entry.value.kind {
            Kind::Seq(items) if items.iter().all(|item| item.is_scalar()) => {
                items.iter().map(|item| one(item)).collect()
            }
            Kind::Seq(_) | Kind::Map(_) => {
                let what = entry.value.describe();
                let message =
                    format!("the keys of `{}` must be a list of keys, but this is {what}", entry.key);
                problems.error(entry.value.at, message, hint.clone());
                continue;
            }
            // `key:` with nothing behind it is an unfinished line, not "no key".
            Kind::Null if !source.text[entry.value.byte..].starts_with(&*entry.value.text) => {
                problems.error(entry.at, format!("`{}` without a key", entry.key), hint.clone());
                continue;
            }
            _ => vec![one(&entry.value)],
        };
        list.push(Rebinding { action: entry.key.clone(), at: entry.at, keys });
    }
    Rebindings { source: source.clone(), list }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::clipboard::Preference;
    use crate::io::settings::{Color, Settings};
    use crate::io::watch::Mode;

    fn settings(text: &str) -> Settings {
        match read("conf/config.yaml", text) {
            Ok(given) => Settings::of(given, None),
            Err(problems) => panic!("{}", problems[0]),
        }
    }

    fn problems(text: &str) -> Vec<String> {
        let found = read("config.yaml", text).expect_err("something is wrong");
        found.iter().map(|p| format!("{} {}", p.at.expect("a place"), p.message)).collect()
    }

    #[test]
    fn every_setting_is_read() {
        let all = settings(
            "theme: { light: light, dark: themes/night.yaml }\ncolor: 256\nmouse: false\nwatch: poll\n\
             show_keys: true\nanimations: false\nclipboard: osc52\nmodels: mine.yaml\n\
             keys: { send: [space, enter], quit: [], next_call: 5, up: '~' }\n",
        );
        assert_eq!(
            all.theme.value,
            ThemeChoice::ByBackground {
                light: "light".into(),
                dark: "conf/themes/night.yaml".into(),
                fallback: "ansi".into()
            }
        );
        assert_eq!((all.color.value, all.watch.value), (Color::Palette, Mode::Poll));
        assert_eq!((all.mouse.value, all.show_keys.value, all.animations.value), (false, true, false));
        assert_eq!(all.clipboard.value, Preference::Osc52);
        assert_eq!(all.models.value.as_deref(), Some(Path::new("conf/mine.yaml")));
        let keys: Vec<String> = all
            .keys
            .expect("keys")
            .list
            .iter()
            .map(|one| {
                format!("{} {:?}", one.action, one.keys.iter().map(|(key, _)| &**key).collect::<Vec<_>>())
            })
            .collect();
        assert_eq!(keys, ["send [\"space\", \"enter\"]", "quit []", "next_call [\"5\"]", "up [\"~\"]"]);
    }

    #[test]
    fn an_empty_file_sets_nothing() {
        for text in ["", "# theme: dark\n", "---\n"] {
            assert_eq!(read("config.yaml", text), Ok(Given::default()), "{text:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_all_at_once_and_in_order() {
        assert_eq!(
            problems(
                "thme: dark\ncolor: sometimes\nmouse: yes\nkeys: { send: { a: b }, back: }\nwatch: pol\n"
            ),
            [
                "1:1 unknown key `thme` in the settings",
                "2:8 `color` cannot be `sometimes`",
                "3:8 `mouse` must be `true` or `false`, but this is the text `yes`",
                "4:15 the keys of `send` must be a list of keys, but this is a map",
                "4:25 `back` without a key",
                "5:8 `watch` cannot be `pol`",
            ]
        );
        assert_eq!(
            problems("theme: dark\ntheme: light\n"),
            ["2:1 the key `theme` is given twice in this map"]
        );
        assert_eq!(problems("- theme\n"), ["1:1 the settings must be a map, but this is a list"]);
        let shown = read("config.yaml", "thme: dark\n").expect_err("unknown")[0].to_string();
        assert_eq!(
            shown,
            "error: unknown key `thme` in the settings\n --> config.yaml:1:1\n  |\n1 | thme: dark\n  | ^\n  = hint: did you mean `theme`?"
        );
    }

    #[test]
    fn a_bench_says_how_it_is_shown_and_nothing_else() {
        let given = of_bench("bench.yaml", "bench: 1\nsettings: { theme: light, show_keys: true }\n");
        let given = given.expect("it is right");
        assert_eq!(given.theme.expect("a theme").origin.to_string(), "bench.yaml:2");
        for (own, says) in [
            ("keys: { quit: [] }", "unknown key `keys` in the `settings` of a bench"),
            ("models: /etc/passwd", "unknown key `models` in the `settings` of a bench"),
            ("watch: off", "unknown key `watch` in the `settings` of a bench"),
            ("clipboard: osc52", "unknown key `clipboard` in the `settings` of a bench"),
            ("theme: ../theirs.yaml", "`theme` cannot be `../theirs.yaml`"),
        ] {
            let problems = of_bench("bench.yaml", &format!("settings: {{ {own} }}\n")).expect_err(own);
            assert_eq!(problems[0].message, says);
        }
        assert_eq!(of_bench("bench.yaml", "bench: [\n"), Ok(Given::default()));
    }
}
