//! Who is blamed for what, and in which words.

use std::collections::BTreeMap;

use super::*;
use crate::core::diagnostic::Position;
use crate::core::fact::{Base, FactKey, FilePath, Read, Rev, Value};
use crate::core::text::Source;

const TEMPLATE: &str = "You are an agent.\nRules follow.\n\nCWD: {{ cwd }}\nEnd.\n";

fn labels() -> Labels<'static> {
    Labels {
        event: &|event| match event.0 {
            0 => "the opening".into(),
            4 => "Cd in call 1".into(),
            5 => "edit of AGENTS.md".into(),
            other => format!("event {other}"),
        },
        layer: &|id| if id == "system_prompt" { "00_base".into() } else { id.replace('_', "-") },
        strip: &|id, new_turn| {
            let rule = if new_turn { "persist: strip" } else { "earlier: strip" };
            (id == "reminder").then(|| rule.into())
        },
    }
}

fn reads(facts: &[(FactKey, u64, u32)]) -> Arc<Reads> {
    let read =
        |&(_, rev, cause): &(_, u64, u32)| Read { rev: Rev(rev), cause: EventId(cause), in_text: true };
    Arc::new(Reads(facts.iter().map(|fact| (fact.0.clone(), read(fact))).collect::<BTreeMap<_, _>>()))
}

/// `TEMPLATE` with a working directory, as the template engine traces it.
fn base(builder: &mut Builder, cwd: &str, cause: u32) {
    let source = Source::file("prompt.md", TEMPLATE);
    let open = TEMPLATE.find("{{").unwrap();
    let close = TEMPLATE.find("}}").unwrap() + 2;
    let key = FactKey::named("cwd");
    builder.begin("system_prompt".into(), reads(&[(key.clone(), Value::text(cwd).rev().0, cause)]));
    let origin = |made, cause| Arc::new(Origin { part: "system_prompt".into(), made, cause: EventId(cause) });
    let verbatim = |at| Made::Verbatim { source: source.clone(), at };
    builder.push(&TEMPLATE[..open], origin(verbatim(0), 0), false);
    let placeholder = Some((source.clone(), open + 3..open + 6));
    builder.push(cwd, origin(Made::Fact { key, rev: Value::text(cwd).rev(), placeholder }, cause), false);
    builder.push(&TEMPLATE[close..], origin(verbatim(close), 0), false);
}

fn prompt(cwd: &str, cause: u32) -> Vec<Arc<Block>> {
    let mut builder = Builder::default();
    base(&mut builder, cwd, cause);
    builder.append("\n", &traced(&[("skills", "", &filler(1, 3_000))]));
    vec![
        tool("all", &filler(2, 1_280)),
        block(BlockKind::System, "system", 0, builder.finish()),
        user(1, &filler(3, 1_000)),
    ]
}

/// The sentence about the second of two requests.
fn second(old: &[Arc<Block>], new: &[Arc<Block>]) -> (Outcome, String) {
    let mut play = Play::of(block_model());
    play.send(old, &[]);
    let outcome = play.send(new, &[]);
    let sentence = outcome.sentence(&labels());
    (outcome, sentence)
}

#[test]
fn a_fact_in_the_system_prompt() {
    let (outcome, sentence) = second(&prompt("/home/shop", 0), &prompt("/home/shop/api", 4));
    assert_eq!(
        sentence,
        "call 2 changed: system byte 48, 00_base {{cwd}} prompt.md:4:6, \"/home/shop\" -> \"/home/shop/api\", \
         by Cd in call 1; 3,968 paid again ($0.0089)."
    );
    assert_eq!(
        outcome.short(&labels()),
        "call 2 loses 3,968: system byte 48, 00_base {{cwd}} prompt.md:4:6."
    );
    let blame = outcome.blame.unwrap();
    assert_eq!(
        (blame.zone, blame.block, blame.part.as_ref()),
        (crate::core::wire::Zone::System, 1, "system_prompt")
    );
    assert_eq!(
        (blame.what, blame.cause, blame.facts.clone()),
        (What::Changed, Some(EventId(4)), vec![FactKey::named("cwd")])
    );
    assert_eq!(blame.written.as_ref().unwrap().at, Position { line: 4, column: 6 });
}

#[test]
fn a_value_that_becomes_shorter_longer_or_empty_is_still_its_own() {
    for (old, new) in [("/home/shop/api", "/home/shop"), ("/a", ""), ("", "/a"), ("/a\nEnd", "/a")] {
        let (outcome, sentence) = second(&prompt(old, 0), &prompt(new, 4));
        let blame = outcome.blame.unwrap();
        assert_eq!((blame.old.as_str(), blame.new.as_str()), (old, new), "{sentence}");
        assert_eq!(blame.written.as_ref().unwrap().expression.as_deref(), Some("cwd"), "{sentence}");
        assert_eq!(blame.cause, Some(EventId(4)), "{sentence}");
    }
}

#[test]
fn an_edited_file() {
    let with = |text: &str, cause: u32| {
        let key = FactKey::File(FilePath::new(Base::Workspace, "AGENTS.md"));
        let source = Source::file("AGENTS.md", text);
        let origin =
            Origin { part: "agents".into(), made: Made::Verbatim { source, at: 0 }, cause: EventId(cause) };
        let mut builder = Builder::default();
        builder.begin("agents".into(), reads(&[(key, Value::text(text).rev().0, cause)]));
        builder.push(text, Arc::new(origin), false);
        vec![block(BlockKind::System, "system", 0, builder.finish()), user(1, &filler(3, 2_000))]
    };
    let (_, sentence) = second(&with("# Rules\nBe short.\n", 0), &with("# Rules\nBe brief.\n", 5));
    assert_eq!(
        sentence,
        "call 2 changed: system byte 11, agents AGENTS.md:2:4, \"Be short.\" -> \"Be brief.\", by edit of AGENTS.md; \
         1,920 paid again ($0.0043)."
    );
}

fn tool_message(parts: &[(&str, &str, &str)]) -> Vec<Arc<Block>> {
    vec![
        system(&[("s", "", &filler(1, 1_280))]),
        user(6, "go"),
        tool_result(7, parts),
        user(8, &filler(4, 200)),
    ]
}

#[test]
fn a_stripped_reminder() {
    let full = [("tool Cd", "", "done"), ("dynamic_context", "\n\n", "<d/>"), ("reminder", "\n\n", "<r/>")];
    let (outcome, sentence) = second(&tool_message(&full), &tool_message(&full[..2]));
    assert_eq!(
        sentence,
        "call 2 changed: message 7; reminder (earlier: strip) removed its own tags; 128 paid again ($0.0003)."
    );
    assert_eq!(outcome.behind, []);
    // Both went: one break, and the separators in front of them are nobody's.
    let (outcome, sentence) = second(&tool_message(&full), &tool_message(&full[..1]));
    assert!(sentence.contains("message 7, dynamic-context and reminder disappeared"), "{sentence}");
    assert_eq!((outcome.behind, outcome.verdict), (vec![], Verdict::Changed));
}

#[test]
fn separators_are_blamed_only_for_themselves() {
    let first = |old: &[(&str, &str, &str)], new: &[(&str, &str, &str)]| {
        let blame = second(&tool_message(old), &tool_message(new)).0.blame.unwrap();
        (blame.part.to_string(), blame.what, blame.separator)
    };
    // The first part goes, so the next one loses its separator.
    let (a, b, c) = (("a", "", "one"), ("b", "\n", "two"), ("b", "", "two"));
    assert_eq!(first(&[a, b], &[c]), ("a".into(), What::Disappeared, false));
    assert_eq!(first(&[c], &[a, b]), ("a".into(), What::Appeared, false));
    // A part whose text equals what follows the common separator.
    let two = [("a", "", "x"), ("c", "\n", "z")];
    let three = [("a", "", "x"), ("b", "\n", "\n"), ("c", "\n", "z")];
    assert_eq!(first(&two, &three), ("b".into(), What::Appeared, false));
    assert_eq!(first(&three, &two), ("b".into(), What::Disappeared, false));
    // The bench's own separator changes.
    assert_eq!(first(&[a, ("b", "\n\n", "two")], &[a, b]), ("b".into(), What::Changed, true));
    // Only the order.
    let order = [("a", "", "1"), ("b", "\n", "2"), ("c", "\n", "3")];
    let other = [("c", "", "3"), ("a", "\n", "1"), ("b", "\n", "2")];
    assert_eq!(first(&order, &other), ("c".into(), What::Moved, false));
    assert_eq!(second(&tool_message(&order), &tool_message(&other)).0.verdict, Verdict::Reordered);
    assert_eq!(first(&[a, b], &[a, b, ("b", "\n", "two")]), ("b".into(), What::Appeared, false));
    assert_eq!(
        second(&tool_message(&[a, b]), &tool_message(&[a, b, ("b", "\n", "two")])).0.verdict,
        Verdict::Duplicated
    );
}

#[test]
fn blocks_that_come_and_go() {
    let all: Vec<_> = (1..=6).map(|at| user(at, &filler(at as usize, 400))).collect();
    let mut without = all.clone();
    without.remove(2);
    let (outcome, sentence) = second(&all, &without);
    assert_eq!(outcome.verdict, Verdict::Missing);
    assert!(sentence.starts_with("call 2 missing: message 3, user disappeared; "), "{sentence}");
    let (outcome, sentence) = second(&without, &all);
    assert_eq!(outcome.verdict, Verdict::Changed);
    assert!(sentence.starts_with("call 2 changed: message 3, user appeared, by event 3; "), "{sentence}");
    without.remove(2);
    let (outcome, sentence) = second(&all, &without);
    assert!(sentence.starts_with("call 2 missing: message 3, 2 blocks disappeared; "), "{sentence}");
    assert_eq!(outcome.behind, []);
    // A text that moves on to the newest message.
    let old = tool_message(&[("tool", "", "done"), ("told", "\n", "cwd is /a")]);
    let mut new = tool_message(&[("tool", "", "done")]);
    new.push(tool_result(9, &[("tool", "", "done"), ("told", "\n", "cwd is /a")]));
    let (outcome, sentence) = second(&old, &new);
    assert_eq!(outcome.verdict, Verdict::Moved);
    assert!(sentence.starts_with("call 2 moved: message 7, told moved; "), "{sentence}");
}

#[test]
fn what_is_cut_off_at_the_end_loses_nothing() {
    let all: Vec<_> = (1..=6).map(|at| user(at, &filler(at as usize, 400))).collect();
    let (outcome, _) = second(&all, &all[..4]);
    assert_eq!((outcome.verdict, outcome.lost()), (Verdict::Missing, Some(0)));
}

#[test]
fn the_name_of_a_tool_call_is_blamed_when_no_text_differs() {
    let call = |tool: &str| {
        let text = traced(&[("model", "", "{}")]);
        let made =
            Block::new(BlockKind::ToolUse, "call_1".into(), Some(tool.into()), Some(MessageId(2)), text);
        vec![system(&[("s", "", &filler(1, 1_280))]), made, user(3, &filler(2, 1_000))]
    };
    let blame = second(&call("Read"), &call("Grep")).0.blame.unwrap();
    assert_eq!((blame.part.as_ref(), blame.old.as_str(), blame.new.as_str()), ("model", "Read", "Grep"));
}
