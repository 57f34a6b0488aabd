//! The sessions of a bench and the connections that use them: messages in, replies out.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::journal::Journals;
use super::protocol::{Incoming, Kind, Reply, SessionId};
use super::sessions::{Before, Problem, Talk, Told};
use super::{JOURNAL_BYTES, SESSIONS};
use crate::core::bench::Bench;
use crate::core::run::Load;

/// A connection, numbered in the order in which they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionId(u64);

struct Held {
    /// The connection that uses it, until that closes.
    user: Option<ConnectionId>,
    talk: Talk,
}

/// All sessions of a bench.
pub struct Registry {
    bench: Arc<Bench>,
    load: Box<dyn Load + Send>,
    journals: Journals,
    sessions: BTreeMap<SessionId, Held>,
    /// How many sessions there are, in memory or only kept.
    count: usize,
    connections: u64,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").field("bench", &self.bench.name).field("sessions", &self.count).finish()
    }
}

impl Registry {
    /// The registry of a bench, with the sessions that were kept. `load` answers for files as they are when it is asked.
    #[must_use]
    pub fn new(bench: Arc<Bench>, load: Box<dyn Load + Send>, journals: Journals) -> Registry {
        let count = journals.count();
        Registry { bench, load, journals, sessions: BTreeMap::new(), count, connections: 0 }
    }

    /// The bench.
    #[must_use]
    pub fn bench(&self) -> &Arc<Bench> {
        &self.bench
    }

    /// What answers for files.
    pub fn load(&mut self) -> &mut dyn Load {
        &mut *self.load
    }

    /// How many sessions there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// A connection opens.
    pub fn connect(&mut self) -> ConnectionId {
        self.connections += 1;
        ConnectionId(self.connections)
    }

    /// A connection closes: others may take up its sessions.
    pub fn disconnect(&mut self, connection: ConnectionId) {
        for held in self.sessions.values_mut().filter(|held| held.user == Some(connection)) {
            held.user = None;
        }
    }

    /// What a session's client reports in a field now; none for a session that is unknown or not in memory.
    #[must_use]
    pub fn reported(&self, session: &str, field: &str) -> Option<&str> {
        self.sessions.get(&SessionId(session.into()))?.talk.reported(field).map(|text| &**text)
    }

    /// Takes a message of a connection and gives what is to be sent back to it, in order. One message never changes another
    /// session than the one that it names.
    pub fn take(&mut self, connection: ConnectionId, text: &str) -> Vec<Reply> {
        let incoming = match Incoming::read(text, &self.bench.serve) {
            Ok(incoming) => incoming,
            Err(reply) => return vec![reply],
        };
        let Some(session) = incoming.session.clone() else {
            let message = "no sessionId: nothing was done";
            return vec![Reply::Ignored { message_id: incoming.id, message }];
        };
        let failed = |(code, message): Problem| Reply::Error {
            session_id: Some(session.0.clone()),
            message_id: incoming.id.clone(),
            code,
            message,
        };
        let creates = matches!(incoming.kind, Kind::Send | Kind::Report);
        if let Err(problem) = self.open(&session, connection, creates) {
            return vec![failed(problem)];
        }
        if incoming.kind == Kind::End {
            if let Some(held) = self.sessions.remove(&session) {
                held.talk.end();
                self.count -= 1;
            }
            return vec![Reply::Ended { session_id: session.0.clone(), message_id: incoming.id }];
        }
        let Some(Held { talk, .. }) = self.sessions.get_mut(&session) else { return Vec::new() };
        let mut replies = Vec::new();
        if let Err(problem) = answer(talk, &mut *self.load, &incoming, &session, &mut replies) {
            replies.push(failed(problem));
        }
        if let Err(reason) = talk.keep() {
            let message = format!("this is done, but would be lost with the server: {reason}");
            replies.push(failed(("not_kept", message)));
        }
        replies
    }

    /// Finds a session in memory or in what was kept, or begins it, and gives it to the connection.
    fn open(&mut self, id: &SessionId, connection: ConnectionId, creates: bool) -> Result<(), Problem> {
        if let Some(held) = self.sessions.get_mut(id) {
            if held.user.is_some_and(|user| user != connection) {
                return Err(("in_use", "another connection uses this session".to_owned()));
            }
            held.user = Some(connection);
            return Ok(());
        }
        let kept = self.journals.load(id);
        let unreadable =
            |reason: String| ("cannot_resume", format!("what was kept cannot be used: {reason}"));
        let talk = match kept.map_err(unreadable)? {
            Some((kept, journal)) => {
                Talk::again(self.bench.clone(), kept, journal, &mut *self.load).map_err(unreadable)?
            }
            None if !creates => return Err(("unknown_session", format!("there is no session `{}`", id.0))),
            None if self.count >= SESSIONS => {
                return Err(("too_many_sessions", format!("there are {SESSIONS} sessions: end one first")));
            }
            None => {
                let journal = self.journals.create(id);
                let journal =
                    journal.map_err(|reason| ("not_kept", format!("it cannot be kept: {reason}")))?;
                self.count += 1;
                Talk::new(self.bench.clone(), journal)
            }
        };
        self.sessions.insert(id.clone(), Held { user: Some(connection), talk });
        Ok(())
    }
}

fn answer(
    talk: &mut Talk,
    load: &mut dyn Load,
    incoming: &Incoming,
    session: &SessionId,
    replies: &mut Vec<Reply>,
) -> Result<(), Problem> {
    let (session_id, message_id) = (session.0.clone(), incoming.id.clone());
    let request = |talk: &Talk, replies: &mut Vec<Reply>| match talk.request(&session.0) {
        Some(Ok(request)) => {
            replies.push(Reply::Request(Box::new(request)));
            Ok(())
        }
        Some(Err(problem)) => Err(problem),
        None => Ok(()),
    };
    let told = |told: Told, talk: &Talk, replies: &mut Vec<Reply>| match told {
        Told::Began => request(talk, replies),
        Told::Queued(waiting) => {
            replies.push(Reply::Queued {
                session_id: session.0.clone(),
                message_id: incoming.id.clone(),
                waiting,
            });
            Ok(())
        }
    };
    let before = incoming.id.as_ref().and_then(|id| talk.before(id));
    if matches!(before, Some(Before::Current | Before::Waiting(_)))
        && matches!(incoming.kind, Kind::Send | Kind::Edit)
        && incoming.id.as_ref().and_then(|id| talk.content(id)).is_some_and(|known| known != incoming.content)
    {
        let message =
            "a message with this messageId was taken before, with another text; this text was not taken";
        return Err(("id_reused", message.to_owned()));
    }
    match before {
        Some(Before::Current) => return request(talk, replies),
        Some(Before::Waiting(waiting)) => return told(Told::Queued(waiting), talk, replies),
        Some(Before::Over) => {
            replies.push(Reply::Duplicate { session_id, message_id });
            return Ok(());
        }
        None => {}
    }
    if talk.bytes() > JOURNAL_BYTES {
        let message = format!("more than {JOURNAL_BYTES} bytes are kept of this session: end it");
        return Err(("session_full", message));
    }
    for (field, text) in &incoming.reports {
        talk.report(field, text.as_ref());
    }
    match incoming.kind {
        Kind::Send => {
            let done = talk.say(incoming.id.as_ref(), &incoming.content, load)?;
            talk.take(incoming.id.as_ref());
            told(done, talk, replies)
        }
        Kind::Edit => {
            let done = talk.say_again(incoming.id.as_ref(), &incoming.content, load)?;
            talk.take(incoming.id.as_ref());
            told(done, talk, replies)
        }
        Kind::Answer => {
            let call = talk.answer(&incoming.content, load)?;
            talk.take(incoming.id.as_ref());
            replies.push(Reply::Answered { session_id, message_id, call });
            if talk.go_on(load)? { request(talk, replies) } else { Ok(()) }
        }
        Kind::Report => {
            talk.take(incoming.id.as_ref());
            let count = |text: &Option<Arc<str>>| text.as_ref().map(|text| text.chars().count());
            let characters =
                incoming.reports.iter().map(|(field, text)| (field.clone(), count(text))).collect();
            replies.push(Reply::Reported { session_id, message_id, characters });
            Ok(())
        }
        Kind::End => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::{Value as Json, json};

    use super::*;
    use crate::core::fact::{FactKey, FilePath, FileText, Found, Value};
    use crate::io::syntax;

    const BENCH: &str = r#"
bench: 1
name: small
model: openai:gpt-4o
workspace: { clock: "2026-04-01T09:00:00Z", shown_as: /w }
read:
  rules: { reported: rules, max_chars: 5 }
  file: { file: a.md }
serve:
  report:
    - { on: send_message, field: data.rules }
    - { on: edit_and_resend, field: rules }
    - { on: report, field: rules }
places:
  system: { of: system, join: "|" }
  user: { of: current_user }
layers:
  - { id: base, in: system, from: { text: "base {{ file }}" }, refresh: call }
  - { id: rules, in: system, when: rules, from: { fact: rules }, refresh: call }
  - { id: said, in: user, from: { said: user } }
"#;

    /// Files in memory that a test can change.
    #[derive(Clone, Default)]
    struct Disk(Arc<Mutex<String>>);

    impl Load for Disk {
        fn load(&mut self, keys: &[FactKey]) -> Vec<(FactKey, Found)> {
            let find = |key: &FactKey| match key {
                FactKey::File(path) => {
                    let text = self.0.lock().expect("not poisoned").clone();
                    Found::Value(Value::File(Arc::new(FileText::whole(path.clone(), text))))
                }
                _ => Found::Absent,
            };
            keys.iter().map(|key| (key.clone(), find(key))).collect()
        }
    }

    fn bench(text: &str) -> Arc<Bench> {
        let mut files = |_: &FilePath| Found::Absent;
        match syntax::open("bench.yaml", text, &[], &mut files) {
            Ok(opened) => Arc::new(opened.bench),
            Err(problems) => panic!("{problems:?}"),
        }
    }

    /// A server's registry, and one connection to it.
    struct Table {
        registry: Registry,
        connection: ConnectionId,
        disk: Disk,
    }

    impl Table {
        fn of(text: &str, journals: Journals) -> Table {
            let disk = Disk::default();
            let mut registry = Registry::new(bench(text), Box::new(disk.clone()), journals);
            let connection = registry.connect();
            Table { registry, connection, disk }
        }

        fn new() -> Table {
            Table::of(BENCH, Journals::none())
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
            self.one(&json!({ "type": "report", "sessionId": session, "rules": rules }))
        }

        fn say(&mut self, session: u32, content: &str, rules: Json) -> Json {
            let data = json!({ "content": content, "rules": rules });
            self.one(&json!({ "type": "send_message", "sessionId": session, "data": data }))
        }

        fn answer(&mut self, session: u32) -> Vec<Json> {
            self.take(&json!({ "type": "answer", "sessionId": session, "data": { "content": "ok" } }))
        }

        fn get(&self, session: &str) -> Option<&str> {
            self.registry.reported(session, "rules")
        }
    }

    #[test]
    fn an_id_that_comes_again_with_another_text_is_an_error_and_takes_nothing() {
        let mut table = Table::new();
        let message = |id: &str, content: &str, rules: &str| {
            let data = json!({ "content": content, "rules": rules });
            json!({ "type": "send_message", "sessionId": 1, "messageId": id, "data": data })
        };
        table.one(&message("a", "first", "r"));
        assert_eq!(table.one(&message("b", "second", "r"))["waiting"], 1);
        for id in ["a", "b"] {
            let reply = table.one(&message(id, "another", "x"));
            assert_eq!((&reply["code"], &reply["messageId"]), (&json!("id_reused"), &json!(id)));
        }
        assert_eq!(table.get("1"), Some("r"));
        // The same once more is no error, and takes nothing either.
        assert_eq!(table.one(&message("a", "first", "x"))["type"], "request");
        assert_eq!(table.one(&message("b", "second", "x"))["waiting"], 1);
        assert_eq!(table.get("1"), Some("r"));
        assert_eq!(table.answer(1)[1]["messages"][2]["content"], "second");
    }

    #[test]
    fn an_absent_field_clears_or_by_choice_keeps() {
        for (choice, system) in [("clear", "base "), ("keep", "base |r")] {
            let text = BENCH.replace("serve:\n", &format!("serve:\n  absent: {choice}\n"));
            let mut table = Table::of(&text, Journals::none());
            table.report(&json!(1), json!("r"));
            let message = json!({ "type": "send_message", "sessionId": 1, "data": { "content": "a" } });
            assert_eq!(table.one(&message)["system"], system, "{choice}");
            // Null clears in any case.
            table.answer(1);
            assert_eq!(table.say(1, "b", Json::Null)["system"], "base ");
        }
    }

    #[test]
    fn a_cut_is_told_and_files_are_looked_at_before_each_request() {
        let mut table = Table::new();
        *table.disk.0.lock().expect("not poisoned") = "one".into();
        let first = table.say(1, "a", json!("123456"));
        assert_eq!(first["system"], "base one|12345");
        assert_eq!(first["notes"], json!([{ "layer": "rules", "message": "cut at 5 characters" }]));
        assert_eq!(first["layers"][1], json!({ "id": "rules", "title": "rules", "characters": 5 }));
        table.answer(1);
        *table.disk.0.lock().expect("not poisoned") = "two".into();
        assert_eq!(table.say(1, "b", Json::Null)["system"], "base two");
    }

    #[test]
    fn what_was_said_last_can_be_said_otherwise() {
        let mut table = Table::new();
        let again = |content: &str, rules: Json| json!({ "type": "edit_and_resend", "sessionId": 1, "rules": rules, "data": { "content": content } });
        assert_eq!(table.one(&again("x", Json::Null))["code"], "unknown_session");
        table.say(1, "first", Json::Null);
        let edited = table.one(&again("FIRST", json!("r")));
        assert_eq!(edited["messages"], json!([{ "role": "user", "content": "FIRST" }]));
        assert_eq!(edited["system"], "base |r");
        table.answer(1);
        table.say(1, "second", Json::Null);
        table.answer(1);
        // Answered or not, the last turn goes.
        let edited = table.one(&again("SECOND", Json::Null));
        assert_eq!(edited["messages"].as_array().map(Vec::len), Some(3), "{edited}");
        assert_eq!(edited["messages"][2]["content"], "SECOND");
        // Where messages wait, it is the last of them.
        table.say(1, "third", Json::Null);
        assert_eq!(table.one(&again("THIRD", Json::Null))["waiting"], 1);
        assert_eq!(table.answer(1)[1]["messages"][4]["content"], "THIRD");
    }

    #[test]
    fn a_session_belongs_to_one_connection_until_that_closes() {
        let mut table = Table::new();
        table.say(1, "a", json!("r"));
        let first = table.connection;
        table.connection = table.registry.connect();
        assert_eq!(table.say(1, "b", json!("x"))["code"], "in_use");
        assert_eq!(table.one(&json!({ "type": "end_session", "sessionId": 1 }))["code"], "in_use");
        assert_eq!(table.say(2, "b", Json::Null)["type"], "request");
        table.registry.disconnect(first);
        assert_eq!(table.get("1"), Some("r"));
        assert_eq!(table.answer(1)[0]["call"], 1);
    }

    #[test]
    fn the_queue_and_answers_have_their_limits() {
        let mut table = Table::new();
        table.say(1, "a", Json::Null);
        for waiting in 1..=super::super::QUEUE {
            assert_eq!(table.say(1, "b", Json::Null)["waiting"], waiting);
        }
        assert_eq!(table.say(1, "c", Json::Null)["code"], "queue_full");
        table.say(2, "a", Json::Null);
        assert_eq!(table.answer(2).len(), 1);
        assert_eq!(table.answer(2)[0]["code"], "not_waiting");
        for session in 3..=SESSIONS {
            table.report(&json!(session), Json::Null);
        }
        assert_eq!(table.say(0, "one too many", Json::Null)["code"], "too_many_sessions");
        table.take(&json!({ "type": "end_session", "sessionId": 3 }));
        assert_eq!(table.say(0, "now there is room", Json::Null)["type"], "request");
    }

    #[test]
    fn a_registry_that_begins_again_goes_on_where_the_last_one_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let journals = || Journals::open(folder.path(), std::path::Path::new("/b.yaml")).expect("it opens");
        let message = |id: &str, content: &str, rules: &str| {
            let data = json!({ "content": content, "rules": rules });
            json!({ "type": "send_message", "sessionId": 1, "messageId": id, "data": data })
        };
        let mut table = Table::of(BENCH, journals());
        *table.disk.0.lock().expect("not poisoned") = "then".into();
        table.one(&message("a", "first", "old"));
        table.answer(1);
        let request = table.one(&message("b", "second", "new"));
        table.one(&message("c", "third", "last"));
        drop(table);

        let mut table = Table::of(BENCH, journals());
        *table.disk.0.lock().expect("not poisoned") = "now".into();
        assert_eq!(table.registry.count(), 1);
        // What was not acknowledged is sent again, and is not taken twice.
        assert_eq!(table.one(&message("b", "second", "new")), request);
        assert_eq!(table.one(&message("c", "third", "last"))["waiting"], 1);
        assert_eq!(table.one(&message("a", "first", "old"))["type"], "duplicate");
        let replies = table.answer(1);
        assert_eq!((&replies[0]["call"], &replies[1]["call"]), (&json!(2), &json!(3)));
        assert_eq!(replies[1]["system"], "base now|last");
        assert_eq!(replies[1]["messages"].as_array().map(Vec::len), Some(5));
        table.take(&json!({ "type": "end_session", "sessionId": 1 }));
        drop(table);

        let mut table = Table::of(BENCH, journals());
        assert_eq!(table.answer(1)[0]["code"], "unknown_session");
    }
}
