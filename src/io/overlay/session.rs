//! Sessions: which there are, whose they are, and what is known of their files.
//!
//! A session has a folder of its own, named by its id, in which other programs keep their state, too. Beside its
//! instructions file stands our record of it. A session whose owner is dead is *stale*: it stays as it is until its owner
//! resumes it or somebody says `clean`; starting another one cleans up nothing. A session that ended is archived: its file
//! is gone, its record stays.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::owner::{self, Owner};
use super::world::{World, reason};

/// The schema of a record.
pub const SCHEMA: &str = "plywood.overlay-session/1";
/// The name of a record.
pub const RECORD: &str = "overlay.json";

/// Which file the overlay is written to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// The session's own instructions file.
    #[default]
    Session,
    /// The source itself.
    Source,
}

/// What is known of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: String,
    /// Its id.
    pub id: String,
    /// The process that it belongs to.
    pub owner: Owner,
    /// The folder that it works in, absolute.
    pub workspace: PathBuf,
    /// The source, absolute.
    pub source: PathBuf,
    /// Where its overlay is.
    pub target: Target,
    /// When it began, as RFC 9557 text; what its overlay says of the time.
    pub began: String,
    /// When it ended, likewise; none while it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// How often another process went on with it.
    #[serde(default)]
    pub resumed: u32,
    /// SHA-256 of what was written last, and of what is to be written now: of the whole file of the session, or of its block
    /// in the source. One of the two is there unless somebody else has written it.
    #[serde(default)]
    pub written: Vec<String>,
}

/// How a session is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Life {
    /// Its owner lives.
    Live,
    /// Its owner is dead, and nobody has ended it.
    Stale,
    /// It was ended.
    Archived,
    /// There is a file, but no record of ours: another program's session.
    Foreign,
    /// Its record is about another folder, such as another worktree that shares this state.
    Elsewhere,
    /// It belongs to another source of the same folder: this one.
    OtherFile(PathBuf),
    /// Its record cannot be read: why.
    Unreadable(String),
}

impl Life {
    /// In a word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Life::Live => "live",
            Life::Stale => "stale",
            Life::Archived => "archived",
            Life::Foreign => "not ours",
            Life::Elsewhere => "of another folder",
            Life::OtherFile(_) => "of another file",
            Life::Unreadable(_) => "unreadable",
        }
    }
}

/// Where the sessions of a workspace are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sessions {
    /// The folder that holds one for each, absolute.
    pub folder: PathBuf,
    /// The path of the instructions file from there on.
    pub file: PathBuf,
}

impl Sessions {
    /// Where the sessions are of which this one's file is `path`; none where the path does not name the session.
    #[must_use]
    pub fn of(path: &Path, id: &str) -> Option<Sessions> {
        let parts: Vec<_> = path.components().collect();
        let at = parts.iter().position(|part| part.as_os_str() == id)?;
        let file: PathBuf = parts[at + 1..].iter().collect();
        (!file.as_os_str().is_empty()).then(|| Sessions { folder: parts[..at].iter().collect(), file })
    }

    /// The instructions file of a session.
    #[must_use]
    pub fn file(&self, id: &str) -> PathBuf {
        self.folder.join(id).join(&self.file)
    }

    /// The record of a session.
    #[must_use]
    pub fn record(&self, id: &str) -> PathBuf {
        self.folder.join(id).join(RECORD)
    }

    /// The ids of all sessions that have a folder, in order.
    ///
    /// # Errors
    ///
    /// When the folder cannot be listed: one sentence.
    pub fn ids(&self, world: &dyn World) -> Result<Vec<String>, String> {
        match world.list(&self.folder) {
            Ok(names) => {
                let ids = names.iter().filter_map(|name| name.to_str());
                Ok(ids.filter(|id| is_id(id)).map(str::to_owned).collect())
            }
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                Ok(Vec::new())
            }
            Err(error) => Err(reason(&error)),
        }
    }

    /// The record of a session; none where there is none.
    ///
    /// # Errors
    ///
    /// When it cannot be read: one sentence.
    pub fn read(&self, world: &dyn World, id: &str) -> Result<Option<Record>, String> {
        let bytes = match world.read(&self.record(id)) {
            Ok(bytes) => bytes,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(reason(&error)),
        };
        let record: Record =
            serde_json::from_slice(&bytes).map_err(|_| "it is no record of a session".to_owned())?;
        if record.schema != SCHEMA || record.id != id {
            return Err("it is no record of this session".into());
        }
        Ok(Some(record))
    }
}

impl Record {
    /// How the session is found from this folder.
    #[must_use]
    pub fn life(&self, world: &dyn World, workspace: &Path) -> Life {
        if self.workspace != workspace {
            return Life::Elsewhere;
        }
        if self.ended.is_some() {
            return Life::Archived;
        }
        // Where the system tells when a process started, an owner that does not say it is not to be trusted.
        let known = !owner::KNOWS_START || self.owner.start.is_some() || !owner::is_here(&self.owner);
        if known && world.alive(&self.owner) { Life::Live } else { Life::Stale }
    }

    /// True where the session belongs to this source, under whatever name: links are followed.
    #[must_use]
    pub fn is_of(&self, world: &dyn World, source: &Path) -> bool {
        self.source == source
            || matches!((world.real(&self.source), world.real(source)), (Ok(one), Ok(other)) if one == other)
    }

    /// True where these bytes are what was written into the file of the session, and nobody else's.
    #[must_use]
    pub fn wrote(&self, bytes: &[u8]) -> bool {
        self.written.contains(&sha256(bytes))
    }
}

/// SHA-256 in hexadecimal digits.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// True for what can be the id of a session: it names a folder.
#[must_use]
pub fn is_id(id: &str) -> bool {
    (1..=64).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// A new id: what the bench is called, the milliseconds since 1970, and six digits of base 36.
#[must_use]
pub fn new_id(bench: &str, now: SystemTime) -> String {
    let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let seed = std::hash::RandomState::new();
    let mut random = std::hash::BuildHasher::hash_one(&seed, since.as_nanos());
    let digits: String = (0..6)
        .map(|_| {
            let digit = u32::try_from(random % 36).unwrap_or(0);
            random /= 36;
            char::from_digit(digit, 36).unwrap_or('0')
        })
        .collect();
    let name: String =
        bench.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).take(32).collect();
    let name = if name.is_empty() { "session" } else { &name };
    format!("{name}-{}-{digits}", since.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_all_sessions_follows_from_the_file_of_one() {
        let path = Path::new("/w/.agent/state/sessions/s-1/AGENTS.md");
        let sessions = Sessions::of(path, "s-1").expect("it names the session");
        assert_eq!(sessions.folder, Path::new("/w/.agent/state/sessions"));
        assert_eq!(sessions.file("other"), Path::new("/w/.agent/state/sessions/other/AGENTS.md"));
        assert_eq!(sessions.record("s-1"), Path::new("/w/.agent/state/sessions/s-1/overlay.json"));
        assert_eq!(Sessions::of(Path::new("/w/state/AGENTS.md"), "s-1"), None);
        assert_eq!(Sessions::of(Path::new("/w/s-1"), "s-1"), None);
    }

    #[test]
    fn ids_name_folders_and_nothing_else() {
        for id in ["a", "A_b-9", &"x".repeat(64)] {
            assert!(is_id(id), "{id}");
        }
        for id in ["", "..", "a/b", "a b", "字", &"x".repeat(65)] {
            assert!(!is_id(id), "{id}");
        }
        let now = SystemTime::UNIX_EPOCH + Duration::from_millis(1_717_567_890_123);
        let id = new_id("a bench!", now);
        assert!(
            id.starts_with("abench-1717567890123-")
                && id.len() == "abench-1717567890123-".len() + 6
                && is_id(&id)
        );
        assert_ne!(id, new_id("a bench!", now));
        assert!(is_id(&new_id("字", now)) && is_id(&new_id(&"x".repeat(99), now)));
    }
}
