//! What processes do with the overlay, what is there before it and behind it.

use super::*;
use crate::io::overlay::lock::Lock;
use crate::io::overlay::temp;

/// The time that the next run may take for what a dead one left, in milliseconds.
pub(super) const AT_ONCE: usize = 200;

/// Something that a process does with the overlay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Act {
    /// The block, in the source, without a session.
    ApplySource,
    /// The same taken out.
    StripSource,
    /// The line that says that the source was generated.
    Mark,
    /// A session with a file of its own.
    ApplySession,
    /// The same again, with another text, by the next owner of that session.
    Resume,
    /// The same ended by its owner.
    EndSession,
    /// The same ended when its owner is dead; a lock and a half-written file were left, too.
    Clean,
    /// A session with its block in the source.
    ApplyInSource,
    /// That session moved to a file of its own.
    Move,
    /// The same ended by its owner.
    EndInSource,
}

impl Act {
    pub(super) const ALL: [Act; 10] = [
        Act::ApplySource,
        Act::StripSource,
        Act::Mark,
        Act::ApplySession,
        Act::Resume,
        Act::EndSession,
        Act::Clean,
        Act::ApplyInSource,
        Act::Move,
        Act::EndInSource,
    ];

    /// True for what takes nothing out before it puts something in.
    pub(super) fn begins(self) -> bool {
        matches!(self, Act::ApplySource | Act::Mark | Act::ApplySession | Act::Resume | Act::ApplyInSource)
    }

    pub(super) fn run(self, scene: &Scene, world: &dyn World) -> Result<(), Trouble> {
        let overlay = scene.overlay(world);
        let apply = |target, texts: &Texts| overlay.apply(&scene.record(world, target), texts).map(drop);
        match self {
            Act::ApplySource => overlay.apply_source(&block()).map(drop),
            Act::StripSource => overlay.strip_source().map(drop),
            Act::Mark => overlay.mark_source(scene.site.sign.as_ref().expect("there is one")).map(drop),
            Act::ApplySession | Act::Move => apply(Target::Session, &texts()),
            Act::Resume => apply(Target::Session, &other_texts()),
            Act::ApplyInSource => apply(Target::Source, &texts()),
            Act::EndSession | Act::EndInSource => overlay.end("s1", Some(&world.me()), NOW).map(drop),
            Act::Clean => {
                match overlay.clean(NOW)?.into_iter().find_map(|one| Some((one.path, one.trouble?))) {
                    Some((path, why)) => Err(Trouble::File(path, why)),
                    None => Ok(()),
                }
            }
        }
    }

    /// What the source and the session's file hold before it, and what they are to hold behind it.
    pub(super) fn states(self, original: Option<&str>) -> [(Option<String>, Option<String>); 2] {
        let applied = crlf(Some(match original {
            Some(original) => format!("{original}\n\n{}\n", block()),
            None => format!("{}\n", block()),
        }));
        let marked = original.map(|original| match original.split_once('\n') {
            Some((title, rest)) if title.starts_with("# ") => format!("{title}\n{SIGN}\n{rest}"),
            _ => format!("{SIGN}\n{original}"),
        });
        let original = original.map(str::to_owned);
        let file = Some(texts().file);
        match self {
            Act::ApplySource | Act::ApplyInSource => [(original, None), (applied, None)],
            Act::StripSource | Act::EndInSource => [(applied, None), (original, None)],
            Act::Mark => [(original, None), (crlf(marked), None)],
            Act::ApplySession => [(original.clone(), None), (original, file)],
            Act::Resume => [(original.clone(), file), (original, Some(other_texts().file))],
            Act::EndSession | Act::Clean => [(original.clone(), file), (original, None)],
            Act::Move => [(applied, None), (original, file)],
        }
    }

    /// The process that may still live while the next one does the same. A session is its owner's while that lives.
    pub(super) fn outlived_by(self, process: &Process) -> Option<&Process> {
        if !matches!(self, Act::ApplySource | Act::StripSource | Act::Mark) {
            process.end();
        }
        Some(process)
    }

    /// A project in which it can happen.
    pub(super) fn scene(self, original: Option<&str>) -> Scene {
        let scene = Scene::new(original);
        let first = match self {
            Act::ApplySource | Act::ApplySession | Act::ApplyInSource | Act::Mark => return scene,
            Act::StripSource => Act::ApplySource,
            Act::EndSession | Act::Resume | Act::Clean => Act::ApplySession,
            Act::EndInSource | Act::Move => Act::ApplyInSource,
        };
        let owner = Process::new(&scene.living, 0, Fault::None);
        first.run(&scene, &owner).expect("applied");
        owner.end();
        if self == Act::Clean {
            // Somebody has died while he wrote the source, with the lock in his hand.
            let dying = Process::new(&scene.living, 0, Fault::None);
            let lock = Lock::take(&dying, &scene.site.lock, "apply", Duration::ZERO).expect("free");
            let beside = temp::beside(&dying, &scene.site.source);
            fs::write(beside, "half of ").expect("written");
            dying.end();
            drop(lock);
            assert_eq!(scene.files().len(), 5, "{:?}", scene.files());
        }
        scene
    }
}

/// What the session's file says another time.
fn other_texts() -> Texts {
    let block = block().replace("s1", "s1, later");
    Texts { file: format!("# other rules\n\n{block}\n"), block }
}

pub(super) const ORIGINALS: [Option<&str>; 3] = [None, Some(""), Some("# 规则\r\n\r\n- 一")];

impl Act {
    /// The sources with which it is tried: all of them where nothing but the source matters.
    pub(super) fn originals(self) -> &'static [Option<&'static str>] {
        match self {
            Act::ApplySource | Act::StripSource => &ORIGINALS,
            Act::Mark => &ORIGINALS[1..],
            _ => &ORIGINALS[2..],
        }
    }
}

/// Checks that each of the two files is what it was or what it was to become. Of a session that moves, the overlay may be
/// in neither for a moment, and is never in both.
pub(super) fn whole(scene: &Scene, act: Act, original: Option<&str>, told: &str) {
    let [before, behind] = act.states(original);
    let now = (scene.source(), scene.session_file());
    assert!(now.0 == before.0 || now.0 == behind.0, "{told}: {now:?}");
    assert!(now.1 == before.1 || now.1 == behind.1, "{told}: {now:?}");
    for text in [&now.0, &now.1].into_iter().flatten() {
        assert!(text.matches(START).count() <= 1, "{told}: two blocks");
    }
    if act == Act::Move {
        assert!(now.0 == behind.0 || now.1 == before.1, "{told}: in both: {now:?}");
    }
}

/// The source with the line ends that a block gets in a file of CR LF.
fn crlf(text: Option<String>) -> Option<String> {
    text.map(|text| match text.contains("\r\n") {
        true => text.replace("\r\n", "\n").replace('\n', "\r\n"),
        false => text,
    })
}

/// Checks that the next process does what it is asked to, at once, and that nothing is left that it should not have left.
/// `alive` is a process that still lives meanwhile, and ends before what is left is looked at.
pub(super) fn next(scene: &Scene, act: Act, original: Option<&str>, told: &str, alive: Option<&Process>) {
    let after = Process::new(&scene.living, 0, Fault::None);
    next_is(scene, act, original, told, alive, &after);
}

/// The same with this process.
pub(super) fn next_is(
    scene: &Scene,
    act: Act,
    original: Option<&str>,
    told: &str,
    alive: Option<&Process>,
    after: &Process,
) {
    let done = act.run(scene, after);
    assert_eq!(done, Ok(()), "{told}");
    assert!(after.slept() < AT_ONCE, "{told}: waited {} ms", after.slept());
    let [_, behind] = act.states(original);
    assert_eq!((scene.source(), scene.session_file()), behind, "{told}");
    if let Some(alive) = alive {
        alive.end();
    }
    scene.overlay(after).clean(NOW).expect("cleaned");
    for file in scene.files() {
        let known = ["AGENTS.md", ".agent/sessions/s1/AGENTS.md", ".agent/sessions/s1/overlay.json"];
        assert!(known.contains(&&*file), "{told}: {file} is left");
    }
    after.end();
}
