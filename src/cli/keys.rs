//! `plywood keys`: the action table, with the keys that the settings give it.

use serde::Serialize;

use super::args::ListArgs;
use super::head::Schema;
use super::output::{Failure, Out, Outcome, Result, Table};
use super::settings;
use crate::app::action::{ACTIONS, ActionInfo};
use crate::app::keymap::Keymap;
use crate::core::diagnostic::Diagnostic;
use crate::io::settings::Settings;

#[derive(Serialize)]
struct Report {
    actions: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    id: &'static str,
    keys: Vec<String>,
    /// True where the settings give it other keys than the program.
    rebound: bool,
    scope: &'static str,
    title: &'static str,
    about: &'static str,
}

/// The titles of the scopes in the order in which they first appear, each with its actions.
fn by_scope() -> Vec<(&'static str, Vec<&'static ActionInfo>)> {
    let mut scopes: Vec<(&str, Vec<&ActionInfo>)> = Vec::new();
    for action in ACTIONS {
        let title = action.scope.title();
        match scopes.iter_mut().find(|(known, _)| *known == title) {
            Some((_, actions)) => actions.push(action),
            None => scopes.push((title, vec![action])),
        }
    }
    scopes
}

/// The keys that the settings lead to.
///
/// # Errors
///
/// What is wrong with the rebound keys.
pub(super) fn keymap(settings: &Settings) -> std::result::Result<Keymap, Vec<Diagnostic>> {
    settings.keys.as_ref().map_or_else(|| Ok(Keymap::default()), Keymap::new)
}

/// Prints every key with what it does.
pub(super) fn run(args: &ListArgs, out: &mut Out<'_>) -> Result {
    let keymap = keymap(&settings::settings(&args.settings)?).map_err(Failure::Diagnostics)?;
    if args.json {
        let actions = ACTIONS.iter().map(|action| Row {
            id: action.id,
            keys: keymap.keys(action.action).iter().map(ToString::to_string).collect(),
            rebound: keymap.is_rebound(action.action),
            scope: action.scope.title(),
            title: action.title,
            about: action.about,
        });
        out.json(&Schema::Keys.plain(Report { actions: actions.collect() }))?;
    } else {
        let mut table = Table::new(&["keys", "action", "where", "what it does"]);
        for (scope, actions) in by_scope() {
            for action in actions {
                let own = if keymap.is_rebound(action.action) { " (yours)" } else { "" };
                table.row([
                    format!("{}{own}", keymap.shown_keys(action.action)),
                    action.id.to_owned(),
                    scope.to_owned(),
                    action.about.to_owned(),
                ]);
            }
        }
        table.write(out)?;
    }
    Ok(Outcome::Done)
}

/// The keys as the README lists them.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::from("| keys | where | what they do |\n|---|---|---|\n");
    for (scope, actions) in by_scope() {
        for action in actions {
            let keys: Vec<String> = action.shown_keys().split(' ').map(|key| format!("`{key}`")).collect();
            // A bar would end the cell.
            let about = action.about.replace('|', "\\|");
            text.push_str(&format!("| {} | {} | {about} |\n", keys.join(" "), scope.to_lowercase()));
        }
    }
    text.trim_end().to_owned()
}
