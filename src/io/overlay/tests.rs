//! The overlay on real files, with processes that die and disks that say no at every step.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::faults::{Fault, Living, Process};
use super::session::{Life, Record, SCHEMA, Sessions, Target};
use super::world::{Machine, World};
use super::{Overlay, Site, Texts, Trouble};
use crate::core::bench::Markers;

const START: &str = "<!-- X:START -->";
const END: &str = "<!-- X:END -->";
const NOW: &str = "2026-04-01T09:00:00Z";
/// The time that the next run may take for what a dead one left, in milliseconds.
const AT_ONCE: usize = 200;

fn block() -> String {
    format!("{START}\nSession ID: s1\n{END}")
}

struct Scene {
    folder: tempfile::TempDir,
    site: Site,
    living: Living,
}

impl Scene {
    /// A project with this source, or none.
    fn new(source: Option<&str>) -> Scene {
        let folder = tempfile::tempdir().expect("a folder");
        let workspace = folder.path().canonicalize().expect("a path");
        let site = Site {
            source: workspace.join("AGENTS.md"),
            lock: workspace.join(".agent/locks/overlay"),
            own: Markers { name: "x".into(), start: START.into(), end: END.into() },
            others: Vec::new(),
            sign: None,
            sessions: Some(Sessions {
                folder: workspace.join(".agent/sessions"),
                file: PathBuf::from("AGENTS.md"),
            }),
            workspace,
        };
        let scene = Scene { folder, site, living: Living::default() };
        if let Some(source) = source {
            fs::write(&scene.site.source, source).expect("written");
        }
        scene
    }

    fn overlay<'w>(&'w self, world: &'w dyn World) -> Overlay<'w> {
        Overlay { world, site: &self.site, patience: Duration::from_secs(5), dry: false }
    }

    fn source(&self) -> Option<String> {
        fs::read_to_string(&self.site.source).ok()
    }

    fn session_file(&self) -> Option<String> {
        fs::read_to_string(self.site.sessions.as_ref().expect("there are").file("s1")).ok()
    }

    fn record(&self, world: &dyn World, target: Target) -> Record {
        Record {
            schema: SCHEMA.into(),
            id: "s1".into(),
            owner: world.me(),
            workspace: self.site.workspace.clone(),
            source: self.site.source.clone(),
            target,
            began: NOW.into(),
            ended: None,
            resumed: 0,
            written: Vec::new(),
        }
    }

    /// Every file, from the folder on, in order.
    fn files(&self) -> Vec<String> {
        fn walk(root: &Path, folder: &Path, found: &mut Vec<String>) {
            for entry in fs::read_dir(folder).expect("listed") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    walk(root, &path, found);
                } else {
                    found.push(path.strip_prefix(root).expect("below").to_string_lossy().into_owned());
                }
            }
        }
        let mut found = Vec::new();
        walk(self.folder.path(), self.folder.path(), &mut found);
        found.sort();
        found
    }
}

fn texts() -> Texts {
    Texts { block: block(), file: format!("# rules\n\n{}\n", block()) }
}

/// Something that a process does with the overlay.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    ApplySource,
    StripSource,
    ApplySession,
    EndSession,
}

impl Act {
    const ALL: [Act; 4] = [Act::ApplySource, Act::StripSource, Act::ApplySession, Act::EndSession];

    fn run(self, scene: &Scene, world: &dyn World) -> Result<(), Trouble> {
        let overlay = scene.overlay(world);
        match self {
            Act::ApplySource => overlay.apply_source(&block()).map(drop),
            Act::StripSource => overlay.strip_source().map(drop),
            Act::ApplySession => overlay.apply(&scene.record(world, Target::Session), &texts()).map(drop),
            Act::EndSession => overlay.end("s1", Some(&world.me()), NOW).map(drop),
        }
    }

    /// What the source and the session's file hold before it, and what they are to hold behind it.
    fn states(self, original: Option<&str>) -> [(Option<String>, Option<String>); 2] {
        let applied = match original {
            Some(original) => format!("{original}\n\n{}\n", block()),
            None => format!("{}\n", block()),
        };
        let original = original.map(str::to_owned);
        let file = Some(texts().file);
        match self {
            Act::ApplySource => [(original, None), (Some(applied), None)],
            Act::StripSource => [(Some(applied), None), (original, None)],
            Act::ApplySession => [(original.clone(), None), (original, file)],
            Act::EndSession => [(original.clone(), file), (original, None)],
        }
    }

    /// The process that may still live while the next one does the same. A session is its owner's while that lives.
    fn outlived_by(self, process: &Process) -> Option<&Process> {
        if matches!(self, Act::ApplySession | Act::EndSession) {
            process.end();
        }
        Some(process)
    }

    /// A project in which it can happen.
    fn scene(self, original: Option<&str>) -> Scene {
        let scene = Scene::new(original);
        match self {
            Act::ApplySource | Act::ApplySession => {}
            Act::StripSource | Act::EndSession => {
                let owner = Process::new(&scene.living, 0, Fault::None);
                let first = if self == Act::StripSource { Act::ApplySource } else { Act::ApplySession };
                first.run(&scene, &owner).expect("applied");
                owner.end();
            }
        }
        scene
    }
}

const ORIGINALS: [Option<&str>; 3] = [None, Some(""), Some("# 规则\r\n\r\n- 一")];

/// Checks that each of the two files is what it was or what it was to become.
fn whole(scene: &Scene, act: Act, original: Option<&str>, told: &str) {
    let [before, behind] = act.states(original);
    let now = (scene.source(), scene.session_file());
    let fits = |was: &(Option<String>, Option<String>)| {
        now.0 == was.0 || now.0.as_deref() == crlf(&was.0).as_deref()
    };
    assert!(fits(&before) || fits(&behind), "{told}: {now:?}");
    assert!(now.1 == before.1 || now.1 == behind.1, "{told}: {now:?}");
    for text in [&now.0, &now.1].into_iter().flatten() {
        assert!(text.matches(START).count() <= 1, "{told}: two blocks");
    }
}

/// The source with the line ends that a block gets in a file of CR LF.
fn crlf(text: &Option<String>) -> Option<String> {
    text.as_ref().map(|text| match text.contains("\r\n") {
        true => text.replace("\r\n", "\n").replace('\n', "\r\n"),
        false => text.clone(),
    })
}

/// Checks that the next process does what it is asked to, at once, and that nothing is left that it should not have left.
/// `alive` is a process that still lives meanwhile, and ends before what is left is looked at.
fn next(scene: &Scene, act: Act, original: Option<&str>, told: &str, alive: Option<&Process>) {
    let after = Process::new(&scene.living, 0, Fault::None);
    let done = act.run(scene, &after);
    assert_eq!(done, Ok(()), "{told}");
    assert!(after.slept() < AT_ONCE, "{told}: waited {} ms", after.slept());
    let [_, behind] = act.states(original);
    assert_eq!(scene.source(), crlf(&behind.0), "{told}");
    assert_eq!(scene.session_file(), behind.1, "{told}");
    if let Some(alive) = alive {
        alive.end();
    }
    scene.overlay(&after).clean(NOW).expect("cleaned");
    for file in scene.files() {
        let known = ["AGENTS.md", ".agent/sessions/s1/AGENTS.md", ".agent/sessions/s1/overlay.json"];
        assert!(known.contains(&&*file), "{told}: {file} is left");
    }
    after.end();
}

#[test]
fn whoever_dies_at_any_step_leaves_whole_files_and_nothing_that_stays() {
    for act in Act::ALL {
        // The file of a session does not depend on the source here.
        let source = matches!(act, Act::ApplySource | Act::StripSource);
        for original in if source { &ORIGINALS[..] } else { &ORIGINALS[2..] }.iter().copied() {
            let mut steps = 0;
            loop {
                steps += 1;
                let scene = act.scene(original);
                let dying = Process::new(&scene.living, steps, Fault::Death);
                let done = act.run(&scene, &dying);
                let reached = dying.reached();
                dying.end();
                let told = format!("{act:?} of {original:?}, death at step {steps}");
                assert!(reached || done.is_ok(), "{told}: {done:?}");
                whole(&scene, act, original, &told);
                next(&scene, act, original, &told, None);
                if !reached {
                    break;
                }
            }
            assert!(steps > 15, "{act:?} of {original:?} takes {steps} steps only");
        }
    }
}

#[test]
fn whoever_dies_at_any_step_can_be_taken_back() {
    // Not the same again, but the other way.
    for (act, back) in [(Act::ApplySource, Act::StripSource), (Act::ApplySession, Act::EndSession)] {
        for steps in 1.. {
            let scene = act.scene(Some("# rules\n"));
            let dying = Process::new(&scene.living, steps, Fault::Death);
            let _ = act.run(&scene, &dying);
            let reached = dying.reached();
            dying.end();
            let told = format!("{act:?}, death at step {steps}, then {back:?}");
            let after = Process::new(&scene.living, 0, Fault::None);
            assert_eq!(back.run(&scene, &after), Ok(()), "{told}");
            assert_eq!(
                (scene.source().as_deref(), scene.session_file()),
                (Some("# rules\n"), None),
                "{told}"
            );
            if !reached {
                break;
            }
        }
    }
}

#[test]
fn whatever_fails_at_any_step_leaves_whole_files() {
    for kind in [ErrorKind::PermissionDenied, ErrorKind::StorageFull, ErrorKind::ReadOnlyFilesystem] {
        for act in Act::ALL {
            for steps in 1.. {
                let original = Some("# rules\n");
                let scene = act.scene(original);
                let failing = Process::new(&scene.living, steps, Fault::Once(kind));
                let done = act.run(&scene, &failing);
                let told = format!("{act:?}, {kind:?} at step {steps}: {done:?}");
                whole(&scene, act, original, &told);
                if let Err(trouble) = done {
                    let text = trouble.to_string();
                    assert!(!text.ends_with('.') && text.contains(": "), "{told}");
                }
                // It is still there and does not hold its lock: another one gets it at once.
                next(&scene, act, original, &told, act.outlived_by(&failing));
                if !failing.reached() {
                    break;
                }
            }
        }
    }
}

#[test]
fn on_a_full_disk_nothing_is_written_and_all_is_said() {
    for act in [Act::ApplySource, Act::StripSource, Act::ApplySession] {
        for steps in 1.. {
            let original = Some("# rules\n");
            let scene = act.scene(original);
            let before = (scene.source(), scene.session_file());
            let failing = Process::new(&scene.living, steps, Fault::From(ErrorKind::StorageFull));
            match act.run(&scene, &failing) {
                Ok(()) => break,
                Err(trouble) => {
                    assert!(
                        trouble.to_string().ends_with("the disk is full"),
                        "{act:?}, step {steps}: {trouble}"
                    );
                    assert_eq!((scene.source(), scene.session_file()), before);
                }
            }
            next(&scene, act, original, &format!("{act:?}, full at step {steps}"), act.outlived_by(&failing));
        }
    }
}

#[test]
fn what_somebody_writes_at_any_step_is_never_written_over() {
    // As an editor that renames a new file over the old one, and as one that writes into it.
    let ways: [fn(&Path, &str); 2] = [
        |path, text| {
            let beside = path.with_extension("theirs");
            fs::write(&beside, text).expect("written");
            fs::rename(&beside, path).expect("renamed");
        },
        |path, text| fs::write(path, text).expect("written"),
    ];
    for act in [Act::ApplySource, Act::StripSource] {
        for way in ways {
            for steps in 1.. {
                let scene = act.scene(Some("# rules\n"));
                let path = scene.site.source.clone();
                let theirs: Arc<dyn Fn() + Send + Sync> = Arc::new(move || way(&path, "# theirs\n"));
                let acting = theirs.clone();
                let world = Process::new(&scene.living, steps, Fault::Meanwhile(Box::new(move || acting())));
                let done = act.run(&scene, &world);
                let told = format!("{act:?}, somebody writes at step {steps}");
                assert_eq!(done, Ok(()), "{told}");
                let text = scene.source().expect("it is there");
                if !world.reached() {
                    break;
                }
                // Theirs came after ours was done and is all that is left, or ours was done to theirs.
                let with = format!("# theirs\n\n\n{}\n", block());
                let want = if act == Act::ApplySource { &*with } else { "# theirs\n" };
                assert!(text == want || text == "# theirs\n", "{told}: {text:?}");
                assert_eq!(scene.files(), ["AGENTS.md"], "{told}");
            }
        }
    }
}

#[test]
fn what_somebody_writes_into_a_new_file_stays() {
    for steps in 1.. {
        let scene = Scene::new(None);
        let path = scene.site.source.clone();
        let theirs = move || fs::write(&path, "# theirs\n").expect("written");
        let world = Process::new(&scene.living, steps, Fault::Meanwhile(Box::new(theirs)));
        Act::ApplySource.run(&scene, &world).expect("applied");
        if !world.reached() {
            break;
        }
        let text = scene.source().expect("it is there");
        assert!(text.starts_with("# theirs\n"), "step {steps}: {text:?}");
    }
}

#[test]
fn a_clock_that_jumps_changes_nothing() {
    for jump in [-86_400, 86_400, 40_000_000_000] {
        for act in Act::ALL {
            let scene = act.scene(Some("# rules\n"));
            let world = Process::jumping(&scene.living, jump);
            assert_eq!(act.run(&scene, &world), Ok(()), "{act:?}, {jump} s");
            let [_, behind] = act.states(Some("# rules\n"));
            assert_eq!((scene.source(), scene.session_file()), behind);
            assert!(world.slept() < AT_ONCE);
        }
    }
}

#[test]
fn a_file_of_another_kind_is_left_alone() {
    let scene = Scene::new(None);
    let told = |scene: &Scene, act: Act| act.run(scene, &Machine).expect_err("left alone").to_string();
    fs::create_dir(&scene.site.source).expect("made");
    assert!(told(&scene, Act::ApplySource).ends_with("AGENTS.md: it is a folder"));
    fs::remove_dir(&scene.site.source).expect("removed");
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let other = scene.site.source.with_extension("other");
        for (from, to) in [(&scene.site.source, &other), (&other, &scene.site.source)] {
            symlink(to, from).expect("a link");
        }
        assert!(told(&scene, Act::ApplySource).ends_with("links lead in a circle"));
        assert!(told(&scene, Act::StripSource).ends_with("links lead in a circle"));
        fs::remove_file(&other).expect("removed");
        assert!(told(&scene, Act::ApplySource).ends_with("it is a link that leads nowhere"));
        fs::remove_file(&scene.site.source).expect("removed");
        fs::write(&other, "# rules\n").expect("written");
        fs::hard_link(&other, &scene.site.source).expect("a second name");
        assert!(told(&scene, Act::ApplySource).contains("it has 2 names"));
        fs::remove_file(&other).expect("removed");
        fs::set_permissions(&scene.site.source, fs::Permissions::from_mode(0o444)).expect("protected");
        assert!(told(&scene, Act::ApplySource).ends_with("it is write-protected"));
        assert_eq!(scene.source().as_deref(), Some("# rules\n"));
    }
    assert_eq!(scene.files(), ["AGENTS.md"]);
}

#[cfg(unix)]
#[test]
fn mode_link_and_target_are_kept() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let scene = Scene::new(None);
    let real = scene.site.workspace.join("real.md");
    fs::write(&real, "# rules\n").expect("written");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o604)).expect("a mode");
    let owner = fs::metadata(&real).expect("there").uid();
    symlink("real.md", &scene.site.source).expect("a link");
    for act in [Act::ApplySource, Act::StripSource] {
        act.run(&scene, &Machine).expect("done");
        let about = fs::metadata(&real).expect("there");
        assert_eq!((about.mode() & 0o777, about.uid()), (0o604, owner));
        assert!(scene.site.source.is_symlink());
    }
    assert_eq!(fs::read_to_string(&real).expect("there"), "# rules\n");
    // What a link leads to is emptied, not removed: the link would lead nowhere.
    fs::write(&real, format!("{}\n", block())).expect("written");
    Act::StripSource.run(&scene, &Machine).expect("done");
    assert_eq!(fs::read_to_string(&real).expect("it stays"), "");
}

#[test]
fn what_is_as_it_should_be_is_not_touched() {
    let scene = Scene::new(Some("# rules\n"));
    let strip = scene.overlay(&Machine).strip_source().expect("nothing to do");
    assert_eq!((strip.word(), scene.files()), ("unchanged", vec!["AGENTS.md".to_owned()]));
    assert!(!scene.site.lock.parent().expect("a folder").exists(), "nor is a lock taken");
    Act::ApplySource.run(&scene, &Machine).expect("applied");
    let before = fs::metadata(&scene.site.source).expect("there").modified().expect("a time");
    let again = scene.overlay(&Machine).apply_source(&block()).expect("applied");
    assert_eq!(
        (again.word(), fs::metadata(&scene.site.source).expect("there").modified().expect("a time")),
        ("unchanged", before)
    );
    let none = Scene::new(None);
    assert_eq!(none.overlay(&Machine).strip_source().expect("nothing").word(), "unchanged");
    assert_eq!(none.files(), Vec::<String>::new());
}

#[test]
fn a_dry_run_says_what_would_be_and_does_nothing() {
    let scene = Scene::new(Some("# rules\n"));
    let dry = Overlay { dry: true, ..scene.overlay(&Machine) };
    assert_eq!(dry.apply_source(&block()).expect("said").word(), "written");
    assert_eq!(
        dry.apply(&scene.record(&Machine, Target::Session), &texts()).expect("said").0.word(),
        "created"
    );
    assert_eq!((scene.source().as_deref(), scene.files()), (Some("# rules\n"), vec!["AGENTS.md".to_owned()]));
}

#[test]
fn a_block_of_nothing_is_none() {
    let scene = Scene::new(Some("# rules\n"));
    Act::ApplySource.run(&scene, &Machine).expect("applied");
    assert_eq!(scene.overlay(&Machine).apply_source("").expect("taken out").word(), "written");
    assert_eq!(scene.source().as_deref(), Some("# rules\n"));
}

#[test]
fn a_live_session_is_its_owners_and_a_stale_one_is_resumed_or_cleaned() {
    let scene = Scene::new(Some("# rules\n"));
    let [first, second] = [(); 2].map(|()| Process::new(&scene.living, 0, Fault::None));
    Act::ApplySession.run(&scene, &first).expect("applied");
    for act in [Act::ApplySession, Act::EndSession] {
        let told = act.run(&scene, &second).expect_err("not its own").to_string();
        assert!(
            told.starts_with("the session s1 belongs to process ") && told.ends_with(", which is alive"),
            "{told}"
        );
    }
    assert_eq!(scene.overlay(&second).clean(NOW).expect("nothing to clean"), []);
    assert!(scene.session_file().is_some());
    // Its owner dies: it stays until somebody says so.
    first.end();
    let life = |world: &dyn World| scene.overlay(world).status(None).sessions[0].life.clone();
    assert_eq!(life(&second), Life::Stale);
    Act::ApplySource.run(&scene, &second).expect("another overlay cleans up nothing");
    assert_eq!(life(&second), Life::Stale);
    Act::ApplySession.run(&scene, &second).expect("resumed");
    let status = scene.overlay(&second).status(None);
    assert_eq!((life(&second), status.sessions[0].resumed), (Life::Live, 1));
    second.end();
    let third = Process::new(&scene.living, 0, Fault::None);
    let cleaned = scene.overlay(&third).clean(NOW).expect("cleaned");
    assert_eq!(cleaned.len(), 1, "{cleaned:?}");
    assert_eq!((scene.session_file(), life(&third)), (None, Life::Archived));
    assert!(scene.source().expect("there").starts_with("# rules\n"), "the source is not touched");
    // It ends only once, and can be taken up again.
    assert_eq!(scene.overlay(&third).end("s1", Some(&third.me()), NOW).expect("done").word(), "unchanged");
    Act::ApplySession.run(&scene, &third).expect("taken up again");
    assert_eq!(life(&third), Life::Live);
}

#[test]
fn a_session_that_moves_takes_its_overlay_with_it() {
    let scene = Scene::new(Some("# rules\n"));
    let overlay = scene.overlay(&Machine);
    let apply = |target| overlay.apply(&scene.record(&Machine, target), &texts()).expect("applied");
    apply(Target::Session);
    apply(Target::Source);
    assert_eq!((scene.session_file(), scene.source()), (None, Some(format!("# rules\n\n\n{}\n", block()))));
    apply(Target::Session);
    assert_eq!((scene.session_file(), scene.source().as_deref()), (Some(texts().file), Some("# rules\n")));
}

#[test]
fn what_somebody_wrote_into_a_sessions_file_stays() {
    let scene = Scene::new(Some("# rules\n"));
    let path = scene.site.sessions.as_ref().expect("there are").file("s1");
    Act::ApplySession.run(&scene, &Machine).expect("applied");
    fs::write(&path, format!("# edited\n\n\n{START}\nold\n{END}\n")).expect("written");
    let overlay = scene.overlay(&Machine);
    assert_eq!(overlay.status(None).sessions[0].own, Some(false));
    let (change, _) = overlay.apply(&scene.record(&Machine, Target::Session), &texts()).expect("applied");
    assert_eq!(scene.session_file(), Some(format!("# edited\n\n\n{}\n", block())));
    assert_eq!(change.notes, ["somebody else has written it: only its block was replaced"]);
    let change = overlay.end("s1", Some(&Machine.me()), NOW).expect("ended");
    assert_eq!((scene.session_file().as_deref(), change.notes.len()), (Some("# edited\n"), 1));
}

#[test]
fn sessions_of_others_are_left_alone() {
    let scene = Scene::new(Some("# rules\n"));
    let sessions = scene.site.sessions.clone().expect("there are");
    // Another program's; one of another worktree; and one whose record nobody can read.
    for id in ["other", "far", "broken", "empty"] {
        fs::create_dir_all(sessions.folder.join(id)).expect("made");
    }
    fs::write(sessions.file("other"), "# theirs\n").expect("written");
    let far = Record {
        id: "far".into(),
        workspace: "/elsewhere".into(),
        ..scene.record(&Machine, Target::Session)
    };
    fs::write(sessions.record("far"), serde_json::to_string(&far).expect("JSON")).expect("written");
    fs::write(sessions.file("far"), "# far\n").expect("written");
    fs::write(sessions.record("broken"), "{}").expect("written");
    let overlay = scene.overlay(&Machine);
    let lives: Vec<(String, &str)> = overlay
        .status(None)
        .sessions
        .iter()
        .map(|session| (session.id.clone(), session.life.word()))
        .collect();
    let want = [("broken", "unreadable"), ("far", "of another folder"), ("other", "not ours")];
    assert_eq!(lives, want.map(|(id, word)| (id.to_owned(), word)));
    assert_eq!(overlay.clean(NOW).expect("nothing to clean"), []);
    let told = overlay.end("far", Some(&Machine.me()), NOW).expect_err("not ours").to_string();
    assert_eq!(told, "the session far is one of /elsewhere");
    for id in ["other", "far"] {
        assert!(sessions.file(id).exists(), "{id}");
    }
}

#[test]
fn who_does_not_say_when_it_started_is_stale_where_that_is_known() {
    let scene = Scene::new(None);
    let mut record = scene.record(&Machine, Target::Session);
    assert_eq!(record.life(&Machine, &scene.site.workspace), Life::Live);
    record.owner.start = None;
    let want = if super::owner::KNOWS_START { Life::Stale } else { Life::Live };
    assert_eq!(record.life(&Machine, &scene.site.workspace), want);
    record.owner = super::owner::Owner { pid: i32::MAX as u32, ..record.owner };
    assert_eq!(record.life(&Machine, &scene.site.workspace), Life::Stale);
}

#[test]
fn many_at_once_leave_one_block() {
    let scene = Scene::new(Some("# rules\n"));
    std::thread::scope(|scope| {
        for number in 0..4 {
            let scene = &scene;
            scope.spawn(move || {
                for round in 0..10 {
                    let world = Process::new(&scene.living, 0, Fault::None);
                    // Nobody sleeps here for real, so that patience is counted in looks.
                    let overlay = Overlay { patience: Duration::from_secs(3_600), ..scene.overlay(&world) };
                    let done = match (number + round) % 3 {
                        0 => overlay.strip_source(),
                        _ => overlay.apply_source(&format!("{START}\n{number} {round}\n{END}")),
                    };
                    done.expect("in its turn");
                    world.end();
                }
            });
        }
    });
    let text = scene.source().expect("there");
    assert!(text.starts_with("# rules\n") && text.matches(START).count() <= 1, "{text}");
    Act::StripSource.run(&scene, &Machine).expect("stripped");
    assert_eq!((scene.source().as_deref(), scene.files()), (Some("# rules\n"), vec!["AGENTS.md".to_owned()]));
}
