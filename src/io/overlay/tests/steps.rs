//! Every step of everything that is done, as the last one of a process that dies, as one that fails, and as the moment at
//! which somebody else writes.

use std::io::ErrorKind;
use std::sync::Arc;

use super::acts::{AT_ONCE, Act, next, next_is, whole};
use super::*;

#[test]
fn whoever_dies_at_any_step_leaves_whole_files_and_nothing_that_stays() {
    for act in Act::ALL {
        for original in act.originals().iter().copied() {
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
    let kinds = [ErrorKind::PermissionDenied, ErrorKind::StorageFull, ErrorKind::ReadOnlyFilesystem];
    for act in Act::ALL {
        for steps in 1.. {
            let original = Some("# rules\n");
            let scene = act.scene(original);
            let kind = kinds[steps % kinds.len()];
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

#[test]
fn on_a_full_disk_nothing_is_written_and_all_is_said() {
    for act in Act::ALL {
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
                    whole(&scene, act, original, &format!("{act:?}, full at step {steps}"));
                    if act.begins() {
                        assert_eq!((scene.source(), scene.session_file()), before);
                    }
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
fn where_the_machine_loses_its_power_nothing_is_in_its_place_that_is_not_on_the_disk() {
    for act in Act::ALL {
        for original in act.originals().iter().copied() {
            for steps in 1.. {
                let scene = act.scene(original);
                let dying = Process::new(&scene.living, steps, Fault::PowerLoss);
                let _ = act.run(&scene, &dying);
                let reached = dying.reached();
                dying.end();
                let told = format!("{act:?} of {original:?}, no power at step {steps}");
                whole(&scene, act, original, &told);
                // Until the machine is up again, a lock that has lost its owner is old.
                let after = Process::new(&scene.living, 0, Fault::None);
                after.off.store(60, std::sync::atomic::Ordering::Relaxed);
                next_is(&scene, act, original, &told, None, &after);
                if !reached {
                    break;
                }
            }
        }
    }
}
