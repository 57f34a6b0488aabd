//! The registry of a server that holds what clients report: cases M23 to M27, M29, M30 and M34, on the sample whose rules
//! are reported, and that no two sessions see each other whatever is sent in whatever order.

use std::sync::Arc;

use plywood::io::server::{ConnectionId, Journals, Registry};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::scene::{Files, bench};

const FIELD: &str = "agentsMdContent";

/// A server's registry, and one connection to it.
struct Table {
    registry: Registry,
    connection: ConnectionId,
}

impl Table {
    fn new() -> Table {
        let files = Files::of_sample("mao");
        let bench = Arc::new(bench(&files.text("bench.yaml"), &["local"], &files));
        let mut registry = Registry::new(bench, Box::new(files), Journals::none());
        let connection = registry.connect();
        Table { registry, connection }
    }

    fn take(&mut self, message: &Json) -> Vec<Json> {
        let replies = self.registry.take(self.connection, &message.to_string());
        replies.iter().map(|reply| serde_json::from_str(&reply.json()).expect("JSON")).collect()
    }

    /// The one reply to a message.
    fn one(&mut self, message: &Json) -> Json {
        let mut replies = self.take(message);
        assert_eq!(replies.len(), 1, "{replies:?}");
        replies.remove(0)
    }

    fn report(&mut self, session: &Json, rules: Json) -> Json {
        self.one(&json!({ "type": "report", "sessionId": session, FIELD: rules }))
    }

    fn say(&mut self, session: u32, content: &str, rules: Json) -> Json {
        let data = json!({ "content": content, FIELD: rules });
        self.one(&json!({ "type": "send_message", "sessionId": session, "data": data }))
    }

    fn answer(&mut self, session: u32, content: &str) -> Vec<Json> {
        self.take(&json!({ "type": "answer", "sessionId": session, "data": { "content": content } }))
    }

    fn get(&self, session: &str) -> Option<&str> {
        self.registry.reported(session, FIELD)
    }
}

/// The rules at the end of a request's system prompt.
fn rules(request: &Json) -> Option<&str> {
    let system = request["system"].as_str().unwrap_or_else(|| panic!("no request: {request}"));
    system.split_once("## 工作区规则\n\n").map(|(_, rules)| rules.trim_end())
}

#[test]
fn m23_what_was_reported_is_there() {
    let mut table = Table::new();
    assert_eq!(table.report(&json!(11), json!("# r\nx\n"))["characters"][FIELD], 6);
    assert_eq!(table.get("11"), Some("# r\nx\n"));
}

#[test]
fn m24_an_unknown_session_has_no_report() {
    let mut table = Table::new();
    table.report(&json!(11), json!("r"));
    assert_eq!(table.get("12"), None);
    assert_eq!(table.answer(12, "ok")[0]["code"], "unknown_session");
}

#[test]
fn m25_null_and_blank_clear() {
    for nothing in [Json::Null, json!(""), json!(" \n\t")] {
        let mut table = Table::new();
        table.report(&json!(11), json!("r"));
        assert_eq!(table.report(&json!(11), nothing.clone())["characters"][FIELD], Json::Null);
        assert_eq!(table.get("11"), None, "{nothing}");
    }
}

#[test]
fn m26_the_end_of_a_session_clears() {
    let mut table = Table::new();
    table.report(&json!(11), json!("r"));
    assert_eq!(table.one(&json!({ "type": "end_session", "sessionId": 11 }))["type"], "ended");
    assert_eq!((table.get("11"), table.registry.count()), (None, 0));
    assert_eq!(rules(&table.say(11, "a", Json::Null)), None);
}

#[test]
fn m27_the_second_report_wins() {
    let mut table = Table::new();
    table.report(&json!(11), json!("one"));
    table.report(&json!("11"), json!("two"));
    assert_eq!(table.get("11"), Some("two"), "a number and its digits are one session");
    assert_eq!(rules(&table.say(11, "a", json!("three"))), Some("three"));
}

#[test]
fn m29_a_message_without_a_session_has_no_effect() {
    let mut table = Table::new();
    table.report(&json!(11), json!("r"));
    for kind in ["report", "send_message", "edit_and_resend", "answer", "end_session"] {
        for message in [
            json!({ "type": kind, "sessionId": null, FIELD: "x", "data": { "content": "c", FIELD: "x" } }),
            json!({ "type": kind, FIELD: "x", "data": { "content": "c", FIELD: "x" } }),
        ] {
            assert_eq!(table.one(&message)["type"], "ignored", "{message}");
        }
    }
    assert_eq!((table.get("11"), table.registry.count()), (Some("r"), 1));
}

#[test]
fn m30_two_sessions_do_not_see_each_other() {
    let mut table = Table::new();
    let one = table.say(1, "secret of one", json!("r1"));
    let two = table.say(2, "secret of two", json!("r2"));
    assert_eq!((rules(&one), rules(&two)), (Some("r1"), Some("r2")));
    assert!(!two.to_string().contains("secret of one"));
    table.answer(1, "ok");
    table.take(&json!({ "type": "end_session", "sessionId": 1 }));
    assert_eq!(table.get("2"), Some("r2"));
    assert_eq!(table.answer(2, "ok")[0]["call"], 1);
}

#[test]
fn m34_a_message_that_waited_carries_the_latest_report() {
    let mut table = Table::new();
    assert_eq!(table.say(1, "first", json!("old"))["type"], "request");
    let queued = table.say(1, "second", json!("new"));
    assert_eq!((&queued["type"], &queued["waiting"]), (&json!("queued"), &json!(1)));
    table.report(&json!(1), json!("last"));
    let replies = table.answer(1, "ok");
    assert_eq!((&replies[0]["type"], &replies[0]["call"]), (&json!("answered"), &json!(1)));
    assert_eq!((&replies[1]["type"], rules(&replies[1])), (&json!("request"), Some("last")));
    // A third, behind it, finds the rules that hold then.
    assert_eq!(table.answer(1, "ok").len(), 1);
    assert_eq!(rules(&table.say(1, "third", json!("last"))), Some("last"));
}

/// What somebody does with a session.
#[derive(Clone, Copy, Debug)]
enum Does {
    Says,
    SaysAgain,
    Answers,
    Reports,
    Clears,
    Ends,
    Reconnects,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Each text names its session and its step. Whatever a session is sent back names no other session, and its rules are
    /// those that it reported last when its turn began.
    #[test]
    fn no_session_ever_sees_the_text_of_another(
        steps in prop::collection::vec(
            (1_u32..5, prop::sample::select(vec![
                Does::Says, Does::Says, Does::SaysAgain, Does::Answers, Does::Answers, Does::Reports, Does::Clears,
                Does::Ends, Does::Reconnects,
            ])),
            1..40,
        )
    ) {
        let mut table = Table::new();
        for (step, (session, does)) in steps.into_iter().enumerate() {
            let text = format!("text-of-<{session}>-{step}");
            let data = json!({ "content": text, FIELD: text });
            let replies = match does {
                Does::Says => table.take(&json!({ "type": "send_message", "sessionId": session, "data": data })),
                Does::SaysAgain => table.take(
                    &json!({ "type": "edit_and_resend", "sessionId": session, FIELD: text, "data": { "content": text } }),
                ),
                Does::Answers => table.answer(session, &text),
                Does::Reports => vec![table.report(&json!(session), json!(text))],
                Does::Clears => vec![table.report(&json!(session), Json::Null)],
                Does::Ends => table.take(&json!({ "type": "end_session", "sessionId": session })),
                Does::Reconnects => {
                    table.registry.disconnect(table.connection);
                    table.connection = table.registry.connect();
                    Vec::new()
                }
            };
            for reply in &replies {
                let all = reply.to_string();
                for other in (1..5).filter(|other| *other != session) {
                    let foreign = format!("text-of-<{other}>");
                    prop_assert!(!all.contains(&foreign), "session {} was sent {}", session, all);
                }
                if reply["type"] == "request" && !matches!(does, Does::Answers) {
                    let reported = table.get(&session.to_string());
                    prop_assert_eq!(rules(reply), reported, "{:?}", does);
                }
            }
        }
    }
}
