//! `plywood keys`: the action table.

use serde::Serialize;

use super::args::JsonArgs;
use super::output::{Out, Outcome, Result, Table};
use super::report::Revisions;
use crate::app::action::{ACTIONS, ActionInfo};

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    revisions: Revisions,
    actions: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    id: &'static str,
    keys: &'static [&'static str],
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

/// Prints every key with what it does.
pub(super) fn run(args: JsonArgs, out: &mut Out<'_>) -> Result {
    if args.json {
        let actions = ACTIONS.iter().map(|action| Row {
            id: action.id,
            keys: action.keys,
            scope: action.scope.title(),
            title: action.title,
            about: action.about,
        });
        out.json(&Report {
            schema: "plywood.keys/1",
            revisions: Revisions::here(),
            actions: actions.collect(),
        })?;
    } else {
        let mut table = Table::new(&["keys", "action", "where", "what it does"]);
        for (scope, actions) in by_scope() {
            for action in actions {
                table.row([
                    action.shown_keys(),
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
