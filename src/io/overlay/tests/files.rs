//! Files of every kind, and what is kept of them.

use super::acts::Act;
use super::*;

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

/// Attributes that a test can give a file: one of the user's, and a list of access rights as `setfacl -m u:1234:r` makes
/// it (version 2, then tag, rights and id of each entry).
#[cfg(target_os = "linux")]
fn attributes() -> [(&'static str, Vec<u8>); 2] {
    let entries: [(u16, u16, u32); 5] =
        [(1, 6, u32::MAX), (2, 4, 1234), (4, 4, u32::MAX), (0x10, 4, u32::MAX), (0x20, 0, u32::MAX)];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, id) in entries {
        list.extend([tag.to_le_bytes(), rights.to_le_bytes()].concat());
        list.extend(id.to_le_bytes());
    }
    [("user.plywood", b"a value".to_vec()), ("system.posix_acl_access", list)]
}

#[cfg(target_os = "linux")]
#[test]
fn attributes_and_lists_of_access_rights_are_kept() {
    use rustix::fs::{XattrFlags, getxattr, listxattr, removexattr, setxattr};
    use std::os::unix::fs::MetadataExt;
    let scene = Scene::new(Some("# rules\n"));
    let path = &scene.site.source;
    let names = || {
        let mut room = [0; 4096];
        let len = listxattr(path, &mut room[..]).expect("listed");
        let mut names: Vec<String> =
            String::from_utf8_lossy(&room[..len]).split_terminator('\0').map(str::to_owned).collect();
        names.retain(|name| !name.starts_with("security."));
        names.sort();
        names
    };
    for (name, value) in attributes() {
        if let Err(error) = setxattr(path, name, &value, XattrFlags::empty()) {
            eprintln!("skipped: the file system of {} takes no `{name}`: {error}", path.display());
            return;
        }
    }
    let mode = fs::metadata(path).expect("there").mode();
    for act in [Act::ApplySource, Act::StripSource] {
        act.run(&scene, &Machine).expect("done");
        assert_eq!(names(), ["system.posix_acl_access", "user.plywood"]);
        for (name, value) in attributes() {
            let mut room = [0; 4096];
            let len = getxattr(path, name, &mut room[..]).expect("it is kept");
            assert_eq!(room[..len], value, "{name}");
        }
        assert_eq!(fs::metadata(path).expect("there").mode(), mode);
    }
    // Rights that a folder gives every new file are not given to one that does not have them.
    for (name, _) in attributes() {
        removexattr(path, name).expect("removed");
    }
    let (_, list) = attributes().into_iter().nth(1).expect("two");
    setxattr(&scene.site.workspace, "system.posix_acl_default", &list, XattrFlags::empty())
        .expect("a default");
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o640)).expect("a mode");
    Act::ApplySource.run(&scene, &Machine).expect("done");
    assert_eq!((names(), fs::metadata(path).expect("there").mode() & 0o777), (Vec::new(), 0o640));
    assert_eq!(scene.files(), ["AGENTS.md"]);
}

#[test]
fn a_file_whose_attributes_cannot_be_kept_is_left_alone() {
    for steps in 1.. {
        let scene = Scene::new(Some("# rules\n"));
        let world = Process::new(&scene.living, steps, Fault::Once(std::io::ErrorKind::PermissionDenied));
        let done = Act::ApplySource.run(&scene, &world).map_err(|trouble| trouble.to_string());
        if done.as_ref().is_err_and(|told| told.contains("its attributes cannot be kept: permission denied"))
        {
            assert_eq!(
                (scene.source().as_deref(), scene.files()),
                (Some("# rules\n"), vec!["AGENTS.md".to_owned()])
            );
            return;
        }
        assert!(world.reached(), "attributes are kept at some step");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(200))]
    #[test]
    fn what_is_put_into_a_real_file_comes_out_byte_for_byte(
        bytes in proptest::collection::vec(
            proptest::prop_oneof![
                4 => proptest::collection::vec(proptest::prelude::any::<u8>(), 0..6),
                2 => proptest::strategy::Just(b"\r\n".to_vec()),
                2 => proptest::strategy::Just(b"\n".to_vec()),
                1 => proptest::strategy::Just(b"\xEF\xBB\xBF".to_vec()),
                1 => proptest::strategy::Just(format!("say {START} here").into_bytes()),
                1 => proptest::strategy::Just(format!("\n```\n{START}\n{END}\n```\n").into_bytes()),
            ],
            0..12,
        )
    ) {
        let scene = Scene::new(None);
        let process = Process::new(&scene.living, 0, Fault::None);
        let bytes = bytes.concat();
        fs::write(&scene.site.source, &bytes).expect("written");
        match Act::ApplySource.run(&scene, &process) {
            Ok(()) => {
                let once = fs::read(&scene.site.source).expect("there");
                proptest::prop_assert!(once.starts_with(&bytes) && once.len() > bytes.len());
                Act::ApplySource.run(&scene, &process).expect("again");
                proptest::prop_assert_eq!(fs::read(&scene.site.source).expect("there"), once);
                Act::StripSource.run(&scene, &process).expect("taken out");
            }
            // A marker that came to stand alone.
            Err(trouble) => proptest::prop_assert!(matches!(trouble, Trouble::Markers(..)), "{}", trouble),
        }
        proptest::prop_assert_eq!(fs::read(&scene.site.source).expect("there"), bytes);
    }
}
