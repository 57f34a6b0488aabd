//! A recorded conversation as turns: what the user said, what came with it, what the model called and what came back.

use std::sync::Arc;

use crate::core::wire::{Document, Item, ItemKind, Zone};

/// What stands between two answers of the model.
#[derive(Debug, Default)]
pub(super) struct Group<'d> {
    /// Texts that the model did not write.
    pub texts: Vec<&'d Item>,
    pub results: Vec<&'d Item>,
    /// A turn begins here.
    pub begins: bool,
    /// The turn, from 1.
    pub turn: u32,
    /// The call whose request ends with this group, from 1.
    pub call: u32,
}

/// An answer of the model.
#[derive(Debug, Default)]
pub(super) struct Answer<'d> {
    pub texts: Vec<&'d Item>,
    pub calls: Vec<&'d Item>,
}

/// A conversation: a group, then answers and groups in turn.
#[derive(Debug)]
pub(super) struct Conversation<'d> {
    pub groups: Vec<Group<'d>>,
    /// Answer N stands between groups N and N + 1.
    pub answers: Vec<Answer<'d>>,
}

/// Reads the messages of a recording.
pub(super) fn conversation(recorded: &Document) -> Conversation<'_> {
    let mut groups = vec![Group::default()];
    let mut answers: Vec<Answer<'_>> = Vec::new();
    let mut model = false;
    for item in recorded.zone(Zone::Messages) {
        let Some(by_model) = recorded.by_model(item) else { continue };
        match (model, by_model) {
            (false, true) => answers.push(Answer::default()),
            (true, false) => groups.push(Group::default()),
            _ => {}
        }
        model = by_model;
        match (item.kind, answers.last_mut(), groups.last_mut()) {
            (ItemKind::ToolUse, Some(answer), _) => answer.calls.push(item),
            (ItemKind::Assistant, Some(answer), _) => answer.texts.push(item),
            (ItemKind::ToolResult, _, Some(group)) => group.results.push(item),
            (ItemKind::User, _, Some(group)) => group.texts.push(item),
            _ => {}
        }
    }
    // A request that ends with an answer (a prefill) is answered once more.
    if groups.len() == answers.len() {
        groups.push(Group::default());
    }
    let mut turn = 0;
    for (index, group) in groups.iter_mut().enumerate() {
        group.begins = index == 0 || answers[index - 1].calls.is_empty();
        turn += u32::from(group.begins);
        group.turn = turn;
        group.call = index as u32 + 1;
    }
    Conversation { groups, answers }
}

/// True for a text that is one element: programs wrap what they add themselves, users do not.
pub(super) fn is_wrapped(text: &str) -> bool {
    let text = text.trim();
    let Some(rest) = text.strip_prefix('<') else { return false };
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect();
    !name.is_empty() && text.ends_with(&format!("</{name}>"))
}

/// The text of a group that the user typed: the last one that nothing wraps, else the last one.
pub(super) fn said<'d>(group: &Group<'d>) -> Option<&'d Item> {
    let users = || group.texts.iter().rev().filter(|item| &*item.role == "user");
    users().find(|item| !is_wrapped(&item.text)).or_else(|| users().next()).copied()
}

/// What a call got back.
pub(super) fn result(group: &Group<'_>, call: &Item) -> Option<Arc<str>> {
    group.results.iter().find(|result| result.call == call.call).map(|result| result.text.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapped_text_is_one_element() {
        for (text, wrapped) in [
            ("<r>\nx\n</r>\n", true),
            ("<system-reminder>x</system-reminder>", true),
            ("<a href='x'>y</a>", true),
            ("<r>x</r> and more", false),
            ("fix <r>x</r>", false),
            ("<r>x</q>", false),
            ("<", false),
            ("", false),
        ] {
            assert_eq!(is_wrapped(text), wrapped, "{text}");
        }
    }

    #[test]
    fn a_conversation_has_turns_and_calls() {
        let text = concat!(
            r#"{"model":"m","messages":[{"role":"user","content":"<env>x</env>"},{"role":"user","content":"go"},"#,
            r#"{"role":"assistant","content":"I look","tool_calls":[{"id":"1","type":"function","function":{"name":"A","arguments":"{}"}}]},"#,
            r#"{"role":"tool","tool_call_id":"1","content":"r"},{"role":"user","content":"by the way"},{"role":"assistant","content":"done"},"#,
            r#"{"role":"user","content":"thanks"},{"role":"assistant","content":"Sure: "}]}"#
        );
        let document = Document::read(text).expect("a request");
        let conversation = conversation(&document);
        let shown: Vec<String> = conversation
            .groups
            .iter()
            .map(|g| format!("{} {} {} {:?}", g.turn, g.call, g.begins, said(g).map(|item| &*item.text)))
            .collect();
        assert_eq!(
            shown,
            [
                "1 1 true Some(\"go\")",
                "1 2 false Some(\"by the way\")",
                "2 3 true Some(\"thanks\")",
                "3 4 true None"
            ]
        );
        assert_eq!(conversation.answers.len(), document.answers());
        let call = conversation.answers[0].calls[0];
        assert_eq!(result(&conversation.groups[1], call).as_deref(), Some("r"));
    }
}
