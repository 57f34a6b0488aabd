//! Which keys do what: those of the action table, with the user's own in their place.

use std::collections::BTreeMap;

use super::action::{self, ACTIONS, Action, ActionInfo, Scope};
use super::key::{Code, Key};
use crate::core::diagnostic::{Diagnostic, Position};
use crate::io::settings::Rebindings;
use crate::io::syntax::suggest;

/// Keys that cannot be taken away: whatever else is rebound, there is a way out.
const FIXED: [(Action, Key); 2] =
    [(Action::UpLevel, Key::plain(Code::Esc)), (Action::Cancel, Key::ctrl('c'))];

/// How keys are written in the settings.
const WRITTEN: &str =
    "keys are written `j`, `G`, `space`, `enter`, `tab`, `shift-tab`, `up`, `pgdn`, `f5`, `ctrl-l`, `alt-up`";

/// The keys of every action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keymap {
    keys: BTreeMap<Action, Vec<Key>>,
}

/// The keys of the action table.
impl Default for Keymap {
    fn default() -> Keymap {
        // That all of them can be read is tested.
        let of = |info: &ActionInfo| info.keys.iter().filter_map(|key| Key::parse(key)).collect();
        Keymap { keys: ACTIONS.iter().map(|info| (info.action, of(info))).collect() }
    }
}

impl Keymap {
    /// The table with the user's keys in the place of its own.
    ///
    /// # Errors
    ///
    /// Unknown actions and keys, and keys that would mean two things at once: all of them, in the order of the file.
    pub fn new(rebindings: &Rebindings) -> Result<Keymap, Vec<Diagnostic>> {
        let mut map = Keymap::default();
        let mut problems = Vec::new();
        let mut own: Vec<(&'static ActionInfo, Key, Position)> = Vec::new();
        let problem = |at: Position, message: String, hint: Option<String>| {
            let source = &rebindings.source;
            let problem = Diagnostic::error(message).at(source.name.clone(), &source.text, at);
            Diagnostic { hint, ..problem }
        };
        for rebinding in &rebindings.list {
            let Some(info) = ACTIONS.iter().find(|info| info.id == &*rebinding.action) else {
                let ids: Vec<&str> = ACTIONS.iter().map(|info| info.id).collect();
                let near = suggest::nearest(&rebinding.action, ids);
                let hint = near.map_or_else(
                    || "`plywood keys` lists the actions".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                let message = format!("there is no action `{}`", rebinding.action);
                problems.push(problem(rebinding.at, message, Some(hint)));
                continue;
            };
            let mut keys = Vec::new();
            for (text, at) in &rebinding.keys {
                match read(text).and_then(|key| typed(info, key, text).map_or(Ok(key), Err)) {
                    Ok(key) if keys.contains(&key) => {}
                    Ok(key) => {
                        keys.push(key);
                        own.push((info, key, *at));
                    }
                    Err((message, hint)) => problems.push(problem(*at, message, Some(hint))),
                }
            }
            if let Some((_, key)) =
                FIXED.iter().find(|(action, key)| *action == info.action && !keys.contains(key))
            {
                keys.insert(0, *key);
            }
            map.keys.insert(info.action, keys);
        }
        for (index, (info, key, at)) in own.iter().enumerate() {
            // Of two that are rebound the second one is told.
            let other = ACTIONS.iter().find(|other| {
                other.action != info.action
                    && meet(other.scope, info.scope)
                    && map.is(other.action, *key)
                    && !own[index + 1..]
                        .iter()
                        .any(|(later, same, _)| later.action == other.action && same == key)
            });
            if let Some(other) = other {
                let message = format!("`{key}` already means `{}` ({})", other.id, other.title);
                let fixed = FIXED.iter().any(|(action, fixed)| *action == other.action && fixed == key);
                let hint = if fixed {
                    "it is the way out and keeps its key".to_owned()
                } else {
                    format!("give `{}` another key, or none: `{}: []`", other.id, other.id)
                };
                problems.push(problem(*at, message, Some(hint)));
            }
        }
        problems.sort_by_key(|problem| problem.at);
        if problems.is_empty() { Ok(map) } else { Err(problems) }
    }

    /// The keys of an action; none where the user took them away.
    #[must_use]
    pub fn keys(&self, action: Action) -> &[Key] {
        self.keys.get(&action).map_or(&[], Vec::as_slice)
    }

    /// Whether a key belongs to an action.
    #[must_use]
    pub fn is(&self, action: Action, key: Key) -> bool {
        self.keys(action).contains(&key)
    }

    /// The key of an action that is shown first; empty where it has none.
    #[must_use]
    pub fn shown_key(&self, action: Action) -> String {
        self.keys(action).first().map_or_else(String::new, ToString::to_string)
    }

    /// All keys of an action, with spaces between them.
    #[must_use]
    pub fn shown_keys(&self, action: Action) -> String {
        self.keys(action).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    /// What some keys do, in a row of hints: `Enter takes; Esc closes`. Actions without a key are left out.
    #[must_use]
    pub fn hints(&self, actions: &[(Action, &str)], between: &str) -> String {
        let hint = |(action, does): &(Action, &str)| {
            let key = self.keys(*action).first()?;
            Some(format!("{key} {does}"))
        };
        actions.iter().filter_map(hint).collect::<Vec<_>>().join(between)
    }

    /// Whether an action has other keys than the table's.
    #[must_use]
    pub fn is_rebound(&self, action: Action) -> bool {
        let table = action::info(action).keys.iter().filter_map(|key| Key::parse(key));
        !self.keys(action).iter().copied().eq(table)
    }
}

/// Whether the keys of two scopes are looked up together, with neither of them going before the other.
fn meet(a: Scope, b: Scope) -> bool {
    a == b || a == Scope::Everywhere || b == Scope::Everywhere
}

type Mistake = (String, String);

/// Reads a key and refuses those that a terminal cannot tell from others.
fn read(text: &str) -> Result<Key, Mistake> {
    if let Some(rest) = text.strip_prefix("shift-")
        && rest.chars().count() == 1
    {
        return Err((
            format!("`{text}` is no key"),
            format!("with Shift a key is written as it types: `{}`", rest.to_uppercase()),
        ));
    }
    let key = Key::parse(text).ok_or_else(|| (format!("`{text}` is no key"), WRITTEN.to_owned()))?;
    let same = match (key.code, key.ctrl) {
        (Code::Char('i'), true) => Some("tab"),
        (Code::Char('m'), true) => Some("enter"),
        (Code::Char('['), true) => Some("esc"),
        (Code::Char('h'), true) => Some("backspace"),
        _ => None,
    };
    match same {
        Some(same) => {
            let message = format!("`{text}` cannot be told from `{same}`");
            Err((message, "terminals send the same for both".to_owned()))
        }
        None => Ok(key),
    }
}

/// What is wrong with a character as a key where text is typed.
fn typed(info: &ActionInfo, key: Key, text: &str) -> Option<Mistake> {
    let types = matches!(
        info.scope,
        Scope::Everywhere
            | Scope::List
            | Scope::Models
            | Scope::Cwd
            | Scope::Search
            | Scope::Value
            | Scope::Line
            | Scope::Editor
    );
    let is_text = matches!(key.code, Code::Char(_)) && !key.ctrl && !key.alt;
    (types && is_text).then(|| {
        let message = format!("`{text}` could not be typed any more: `{}` also works while typing", info.id);
        (message, "take a key with Ctrl or Alt, or a named one".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::settings::file;

    fn keymap(keys: &str) -> Result<Keymap, Vec<String>> {
        let given = file::read("config.yaml", &format!("keys: {{ {keys} }}\n")).expect("settings");
        Keymap::new(&given.keys.expect("keys")).map_err(|problems| {
            problems
                .iter()
                .map(|p| {
                    format!("{} {}; {}", p.at.expect("a place"), p.message, p.hint.as_deref().unwrap_or(""))
                })
                .collect()
        })
    }

    #[test]
    fn the_table_is_the_default() {
        let map = Keymap::default();
        for info in ACTIONS {
            assert_eq!(map.shown_keys(info.action), info.shown_keys(), "{}", info.id);
            assert!(!map.is_rebound(info.action));
        }
    }

    #[test]
    fn keys_are_replaced_added_and_taken_away() {
        let map = keymap("send: [space, f5], quit: [], palette: ctrl-p, next_call: 9, look_again: [f8]")
            .expect("a keymap");
        assert_eq!(map.shown_keys(Action::Send), "Space F5");
        assert_eq!((map.shown_key(Action::Quit), map.keys(Action::Quit).len()), (String::new(), 0));
        assert!(map.is(Action::NextCall, Key::char('9')) && !map.is(Action::NextCall, Key::char(']')));
        assert!(map.is_rebound(Action::LookAgain) && !map.is_rebound(Action::Back));
    }

    #[test]
    fn hints_name_the_keys_that_there_are() {
        let hints = [(Action::Accept, "takes"), (Action::Quit, "quits"), (Action::UpLevel, "closes")];
        assert_eq!(Keymap::default().hints(&hints, "; "), "Enter takes; q quits; Esc closes");
        let map = keymap("accept: [f2], quit: []").expect("a keymap");
        assert_eq!(map.hints(&hints, ", "), "F2 takes, Esc closes");
    }

    #[test]
    fn a_pane_may_give_a_key_of_the_screen_a_meaning_of_its_own() {
        assert!(keymap("send: [space, enter]").is_ok());
        assert!(keymap("open_layer: [enter, e]").is_ok());
    }

    #[test]
    fn two_actions_may_swap_their_keys() {
        let map = keymap("next_call: '[', previous_call: ']'").expect("a keymap");
        assert_eq!(
            (map.shown_key(Action::NextCall), map.shown_key(Action::PreviousCall)),
            ("[".into(), "]".into())
        );
    }

    #[test]
    fn the_way_out_stays() {
        let map = keymap("cancel: [f9], up_level: []").expect("a keymap");
        assert_eq!(map.shown_keys(Action::Cancel), "Ctrl-C F9");
        assert_eq!(map.shown_keys(Action::UpLevel), "Esc");
        assert_eq!(
            keymap("send: [ctrl-c, esc]").expect_err("both are the way out"),
            [
                "1:16 `Ctrl-C` already means `cancel` (Cancel); it is the way out and keeps its key",
                "1:24 `Esc` already means `up_level` (Up one level); it is the way out and keeps its key",
            ]
        );
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        for (keys, want) in [
            ("sent: space", "1:9 there is no action `sent`; did you mean `send`?"),
            ("frobnicate: x", "1:9 there is no action `frobnicate`; `plywood keys` lists the actions"),
            ("send: hyper-x", &format!("1:15 `hyper-x` is no key; {WRITTEN}")),
            ("send: shift-x", "1:15 `shift-x` is no key; with Shift a key is written as it types: `X`"),
            ("send: ctrl-i", "1:15 `ctrl-i` cannot be told from `tab`; terminals send the same for both"),
            (
                "send: z",
                "1:15 `z` already means `zoom` (Zoom the pane); give `zoom` another key, or none: `zoom: []`",
            ),
            ("send: x9, back: x9", "1:15 `x9` is no key"),
            ("send: 9, back: 9", "1:24 `9` already means `send`"),
            (
                "look_again: x",
                "1:21 `x` could not be typed any more: `look_again` also works while typing; take a key with Ctrl or Alt",
            ),
        ] {
            let told = keymap(keys).expect_err(keys);
            assert!(told[0].starts_with(want), "{keys}: {told:?}");
        }
        assert_eq!(keymap("send: 9, back: 9").expect_err("one conflict").len(), 1);
    }
}
