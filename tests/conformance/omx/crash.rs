//! Locks, crashes and the ends of sessions: cases O44 to O48, O64 and O66, on disk.
//!
//! | case | what is tested instead, or where |
//! |---|---|
//! | O44 | here with threads; with four processes that are killed at times among the tests of the program |
//! | O45 | that it is at once is tested beside the code, where nobody really waits |
//! | O46 | the owner is named; the time that is waited is the one that is given, 5 s by default |
//! | O47 | the rule of the worker: an ownerless lock is taken away when it is 30 s old, and nobody prints anything meanwhile |
//! | O64 | a file that somebody else has edited stays without its block |
//! | O66 | nothing is cleaned up at a start; a stale session is told, and ended by `clean` or by whoever resumes it |

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use plywood::io::bench_file::Machine as Place;
use plywood::io::load::fixed_clock;
use plywood::io::overlay::lock::{OWNERLESS, PATIENCE};
use plywood::io::overlay::owner::{self, KNOWS_START, Owner};
use plywood::io::overlay::profile::{Profile, Wanted};
use plywood::io::overlay::session::{Life, Record, SCHEMA, Target};
use plywood::io::overlay::world::{Machine, World};
use plywood::io::overlay::{Overlay, Site, Texts};

use super::START;

const RULES: &str = "# 规则\n\n- 一\n";
const NOW: &str = "2026-03-07T08:00:00Z";
/// No process has this number.
const NOBODY: u32 = i32::MAX as u32;

/// A project, and the profile that is part of the program.
struct Project {
    folder: tempfile::TempDir,
    site: Site,
    texts: Texts,
}

impl Project {
    fn new() -> Project {
        let folder = tempfile::tempdir().expect("a folder");
        let workspace = folder.path().canonicalize().expect("a path");
        let source = workspace.join("AGENTS.md");
        fs::write(&source, RULES).expect("written");
        let machine = Place { clock: fixed_clock(NOW), home: None };
        let wanted = Wanted { source, workspace, ..Wanted::default() };
        let mut profile =
            Profile::open(&wanted, &machine).unwrap_or_else(|problems| panic!("{}", problems[0]));
        let site = profile.site("s1").expect("a site");
        let composed = profile.compose("s1", NOW).expect("composed");
        assert!(composed.chars <= 3_500 && composed.texts.file.starts_with(RULES), "{composed:?}");
        Project { folder, site, texts: composed.texts }
    }

    fn overlay(&self, patience: Duration) -> Overlay<'_> {
        Overlay { world: &Machine, site: &self.site, patience, dry: false }
    }

    fn record(&self, owner: Owner) -> Record {
        Record {
            schema: SCHEMA.into(),
            id: "s1".into(),
            owner,
            workspace: self.site.workspace.clone(),
            source: self.site.source.clone(),
            target: Target::Session,
            began: NOW.into(),
            ended: None,
            resumed: 0,
            written: Vec::new(),
        }
    }

    fn source(&self) -> String {
        fs::read_to_string(&self.site.source).expect("it is there")
    }

    fn session_file(&self) -> PathBuf {
        self.site.sessions.as_ref().expect("there are").file("s1")
    }

    /// Puts a lock there as somebody else would have.
    fn lock(&self, record: &str) -> &Path {
        let lock = &self.site.lock;
        fs::create_dir_all(lock.parent().expect("a folder")).expect("made");
        fs::write(lock, record).expect("written");
        lock
    }
}

#[test]
fn the_lock_and_the_file_of_a_session_are_where_others_look_for_them() {
    let project = Project::new();
    let root = project.folder.path().canonicalize().expect("a path");
    assert_eq!(project.site.lock, root.join(".omx/locks/overlay"));
    assert_eq!(project.session_file(), root.join(".omx/state/sessions/s1/AGENTS.md"));
}

#[test]
fn o44_four_at_once_leave_one_block_and_the_text_around_it() {
    let project = Project::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let overlay = project.overlay(Duration::from_secs(120));
                overlay.apply_source(&project.texts.block).expect("in its turn");
            });
        }
    });
    let text = project.source();
    assert_eq!((text.matches(START).count(), text.starts_with(&format!("{RULES}\n\n{START}"))), (1, true));
    assert!(!project.site.lock.exists());
}

#[test]
fn o45_the_lock_of_a_dead_process_is_no_obstacle() {
    let project = Project::new();
    project.lock(&format!(r#"{{"pid":{NOBODY},"ts":1}}"#));
    project.overlay(PATIENCE).apply_source(&project.texts.block).expect("applied");
    assert_eq!(project.source().matches(START).count(), 1);
    assert!(!project.site.lock.exists(), "it is gone afterwards");
    // Nor is one whose number was given to somebody else.
    if KNOWS_START {
        project.lock(&format!(r#"{{"pid":{},"start":"1-0"}}"#, std::process::id()));
        project.overlay(PATIENCE).strip_source().expect("stripped");
    }
}

#[test]
fn o46_a_live_owner_keeps_its_lock_and_is_named() {
    assert_eq!(PATIENCE, Duration::from_secs(5));
    let project = Project::new();
    let record = format!(r#"{{"pid":{}}}"#, std::process::id());
    let lock = project.lock(&record);
    let patience = Duration::from_millis(60);
    let told = project.overlay(patience).apply_source(&project.texts.block).expect_err("busy").to_string();
    assert!(told.contains(&format!("process {} has it", std::process::id())), "{told}");
    assert!(told.starts_with(&format!("no lock {} within 0.", lock.display())), "{told}");
    assert_eq!((project.source().as_str(), fs::read_to_string(lock).expect("it stays")), (RULES, record));
}

#[test]
fn o47_a_lock_without_an_owner_does_not_hang_for_ever() {
    let project = Project::new();
    let lock = project.lock("");
    let none = Duration::ZERO;
    assert!(project.overlay(none).apply_source(&project.texts.block).is_err(), "it is young");
    let old = SystemTime::now() - OWNERLESS - Duration::from_secs(1);
    fs::File::open(lock).and_then(|lock| lock.set_modified(old)).expect("aged");
    project.overlay(PATIENCE).apply_source(&project.texts.block).expect("it is old");
    assert!(!project.site.lock.exists());
}

#[cfg(unix)]
#[test]
fn o48_whatever_goes_wrong_the_lock_is_given_back_and_the_error_passed_on() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    fs::set_permissions(&project.site.source, fs::Permissions::from_mode(0o444)).expect("protected");
    let told =
        project.overlay(PATIENCE).apply_source(&project.texts.block).expect_err("protected").to_string();
    assert!(told.ends_with("AGENTS.md: it is write-protected"), "{told}");
    assert_eq!((project.source().as_str(), project.site.lock.exists()), (RULES, false));
}

#[test]
fn o64_at_its_end_a_session_loses_its_file_and_nothing_else() {
    let project = Project::new();
    let overlay = project.overlay(PATIENCE);
    overlay.apply(&project.record(owner::me()), &project.texts).expect("applied");
    assert_eq!(fs::read_to_string(project.session_file()).expect("there"), project.texts.file);
    let end = || overlay.end("s1", Some(&owner::me()), NOW).expect("ended");
    assert_eq!((end().word(), project.session_file().exists()), ("removed", false));
    assert!(project.session_file().parent().is_some_and(Path::is_dir), "its folder stays");
    assert_eq!((end().word(), project.source().as_str()), ("unchanged", RULES));
}

#[test]
fn o66_a_session_is_stale_when_its_owner_is_dead_or_somebody_else() {
    let project = Project::new();
    let life = |record: &Record| record.life(&Machine, &project.site.workspace);
    let me = owner::me();
    let with = |owner: Owner| life(&project.record(owner));
    assert_eq!(with(me.clone()), Life::Live);
    assert_eq!(with(Owner { pid: NOBODY, ..me.clone() }), Life::Stale);
    // Its number was given again; or it does not say when it started, where that is known.
    let other = if KNOWS_START { Life::Stale } else { Life::Live };
    assert_eq!(with(Owner { start: None, ..me.clone() }), other);
    if KNOWS_START {
        assert_eq!(with(Owner { start: Some("1-0".into()), ..me.clone() }), Life::Stale);
    }
    let elsewhere =
        Record { workspace: "/elsewhere".into(), ..project.record(Owner { pid: NOBODY, ..me.clone() }) };
    assert_eq!(life(&elsewhere), Life::Elsewhere);
    // Another session that begins cleans up nothing; `clean` does.
    let overlay = project.overlay(PATIENCE);
    overlay.apply(&project.record(me.clone()), &project.texts).expect("applied");
    let stale = project.record(Owner { pid: NOBODY, ..me.clone() });
    let sessions = project.site.sessions.as_ref().expect("there are");
    let written: Record = sessions.read(&Machine, "s1").expect("read").expect("there");
    let stale = Record { written: written.written, ..stale };
    fs::write(sessions.record("s1"), serde_json::to_string(&stale).expect("JSON")).expect("written");
    let second = Record { id: "s2".into(), ..project.record(me.clone()) };
    overlay.apply(&second, &project.texts).expect("applied");
    assert!(project.session_file().exists());
    assert_eq!(overlay.clean(NOW).expect("cleaned").len(), 1);
    assert_eq!((project.session_file().exists(), sessions.file("s2").exists()), (false, true));
    assert!(Machine.alive(&me));
}
