//! What should be looked after, and what to do about it.

use std::path::Path;

use super::lock::State;
use super::session::{Life, RECORD, Target};
use super::status::{FileStatus, SessionStatus, Status};

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What: one sentence, lower case, without a full stop.
    pub what: String,
    /// What to do about it, likewise.
    pub next: String,
}

impl Status {
    /// What should be looked after; where it is empty, all is well. `shown` is how a path is shown, and typed in a command.
    #[must_use]
    pub fn findings(&self, shown: &dyn Fn(&Path) -> String) -> Vec<Finding> {
        let mut found = Vec::new();
        let mut add = |what: String, next: String| found.push(Finding { what, next });
        let file = typed(&shown(&self.source.path));
        let command = |action: &str, more: &str| format!("`plywood overlay {action} {file}{more}`");
        of_file(&self.source, shown, &command("strip", " --target source"), &mut add);
        // What is wrong with a session of another file is said where that file is looked at.
        for session in self.sessions.iter().filter(|session| !matches!(session.life, Life::OtherFile(_))) {
            let again = command("refresh", &format!(" --session {}", session.id));
            of_file(&session.file, shown, &again, &mut add);
        }
        match &self.held {
            Ok(State::Dead(record)) => add(
                format!("the lock is that of {record}, which is dead"),
                format!("whoever writes next takes it away, or {} does", command("clean", "")),
            ),
            Ok(State::Ownerless { age, old }) => add(
                format!("the lock has no owner, and is {} s old", age.as_secs()),
                match old {
                    true => format!("whoever writes next takes it away, or {} does", command("clean", "")),
                    false => format!(
                        "it may be one that is just being made; from {} s on whoever writes next takes it away",
                        super::lock::OWNERLESS.as_secs()
                    ),
                },
            ),
            Err(why) => add(
                format!("the lock cannot be read: {why}"),
                format!("nothing can be written until {} can be read or is gone", shown(&self.lock)),
            ),
            Ok(State::Free | State::Held(_)) => {}
        }
        for session in &self.sessions {
            self.of_session(session, shown, &mut add);
        }
        for path in &self.left {
            add(
                format!("{}: left by a dead process", shown(path)),
                format!("{} removes it", command("clean", "")),
            );
        }
        found
    }

    fn of_session(
        &self,
        session: &SessionStatus,
        shown: &dyn Fn(&Path) -> String,
        add: &mut dyn FnMut(String, String),
    ) {
        let (id, source) = (&session.id, typed(&shown(&self.source.path)));
        let to = if session.target == Some(Target::Source) { " --target source" } else { "" };
        let refresh = format!("`plywood overlay refresh {source} --session {id}{to}`");
        match (&session.life, &session.owner) {
            (Life::Stale, Some(owner)) => add(
                format!("the session {id} is stale: process {} is dead", owner.pid),
                format!(
                    "`plywood overlay clean {source}` ends it, `plywood overlay apply {source} --session {id}{to}` goes on with it"
                ),
            ),
            (Life::Unreadable(why), _) => {
                let record = session.file.path.parent().map(|folder| shown(&folder.join(RECORD)));
                add(
                    format!("the session {id}: {why}"),
                    format!(
                        "nobody can say whose it is: remove {} if nobody needs it",
                        record.unwrap_or_default()
                    ),
                );
            }
            _ => {}
        }
        let path = shown(if to.is_empty() { &session.file.path } else { &self.source.path });
        match (session.own, self.writer()) {
            // Who is dead needs nothing any more.
            _ if session.life != Life::Live => {}
            (None, _) if session.gone && to.is_empty() => {
                add(format!("the session {id} has lost its file {path}"), format!("{refresh} writes it again"));
            }
            (None, _) if session.gone => {
                add(
                    format!("the session {id} has lost its block in {path}"),
                    format!("{refresh} puts it in again"),
                );
            }
            (Some(false), _) if to.is_empty() => add(
                format!("{path}: somebody else has edited it"),
                "what was written there stays: from now on only its block is replaced, and at the end taken out".into(),
            ),
            (Some(false), Some(writer)) => add(
                format!("the block in {path} is that of the session {}, not of {id}", writer.id),
                format!("a file has one block: {refresh} puts that of {id} in its place"),
            ),
            (Some(false), None) => add(
                format!("somebody else has edited the block of the session {id} in {path}"),
                format!("{refresh} puts it in as it should be"),
            ),
            _ => {}
        }
    }
}

/// A path as it is typed in a shell: in quotes where something in it means more to one than itself.
#[must_use]
pub fn typed(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+@%:,".contains(c);
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// What is wrong with a file. `mends` is the command that leaves at most one block.
fn of_file(
    file: &FileStatus,
    shown: &dyn Fn(&Path) -> String,
    mends: &str,
    add: &mut dyn FnMut(String, String),
) {
    let path = shown(&file.path);
    if let Some(why) = &file.unreadable {
        add(
            format!("{path}: {why}"),
            "as long as it is no file that can be read, nothing is read from it and nothing written".into(),
        );
    }
    for stray in &file.strays {
        add(
            format!("{path}:{}:{}: {stray}", stray.line, stray.column),
            "write the other half of the block or take this one out; until then the file is left alone"
                .into(),
        );
    }
    if file.blocks > 1 {
        add(format!("{path}: it holds {} blocks", file.blocks), format!("{mends} leaves one at most"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_read_otherwise_is_quoted() {
        for (path, want) in [
            ("docs/AGENTS.md", "docs/AGENTS.md"),
            ("规则/a.md", "规则/a.md"),
            ("my rules.md", "'my rules.md'"),
            ("it's", "'it'\\''s'"),
            ("$HOME", "'$HOME'"),
        ] {
            assert_eq!(typed(path), want);
        }
    }
}
