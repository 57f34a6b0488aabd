//! The loader on real files.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::core::fact::FileText;

fn loader(folder: &Path) -> Loader {
    let roots = Roots {
        bench: BenchRoot::Folder(folder.to_owned()),
        workspace: folder.to_owned(),
        home: Some(folder.join("home")),
    };
    Loader::new(roots, fixed_clock("2026-04-01T09:00:00+08:00[Asia/Shanghai]"))
}

fn write(folder: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(path, content).expect("a file");
}

fn workspace(path: &str) -> FilePath {
    FilePath::new(Base::Workspace, path)
}

fn text(found: Found) -> FileText {
    match found {
        Found::Value(Value::File(file)) => (*file).clone(),
        other => panic!("no file: {other:?}"),
    }
}

fn failed(found: Found) -> String {
    match found {
        Found::Failed(reason) => reason.to_string(),
        other => panic!("not failed: {other:?}"),
    }
}

fn list(found: Found) -> Vec<String> {
    match found {
        Found::Value(Value::List(items)) => items.iter().map(ToString::to_string).collect(),
        other => panic!("no list: {other:?}"),
    }
}

#[test]
fn files_come_with_size_and_notes() {
    let folder = TempDir::new().expect("a folder");
    write(folder.path(), "AGENTS.md", b"\xEF\xBB\xBF# \xE4\xBD\xA0\r\n");
    write(folder.path(), "home/.agent/AGENTS.md", "mine");
    write(folder.path(), "empty.md", "");
    let mut loader = loader(folder.path());
    let file = text(loader.load(&FactKey::File(workspace("AGENTS.md"))));
    assert_eq!((&*file.text, file.bytes, &*file.notes[0]), ("# 你\r\n", 10, "BOM removed"));
    assert_eq!(
        &*text(loader.load(&FactKey::File(FilePath::new(Base::Home, ".agent/AGENTS.md")))).text,
        "mine"
    );
    assert_eq!(text(loader.load(&FactKey::File(workspace("empty.md")))).bytes, 0);
    assert_eq!(loader.load(&FactKey::File(workspace("nothing.md"))), Found::Absent);
    assert_eq!(loader.load(&FactKey::File(workspace("AGENTS.md/below"))), Found::Absent);
    assert_eq!(loader.load(&FactKey::named("cwd")), Found::Absent);
}

#[test]
fn what_cannot_be_read_fails_with_a_reason_and_never_blocks() {
    let folder = TempDir::new().expect("a folder");
    fs::create_dir(folder.path().join("folder")).expect("a folder");
    let mut loader = loader(folder.path());
    assert_eq!(failed(loader.load(&FactKey::File(workspace("folder")))), "it is a folder");
    assert_eq!(failed(loader.load(&FactKey::File(workspace("../x")))), "the path leads out of its folder");
    assert_eq!(
        failed(loader.load(&FactKey::File(workspace("/etc/passwd")))),
        "the path leads out of its folder"
    );
    assert_eq!(failed(loader.load(&FactKey::Glob(workspace("../*")))), "the path leads out of its folder");
    let long = "x".repeat(300);
    assert_eq!(failed(loader.load(&FactKey::File(workspace(&long)))), "its name is too long");
}

#[cfg(unix)]
#[test]
fn pipes_devices_sockets_and_circles_fail() {
    use std::os::unix::fs::symlink;
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let made = std::process::Command::new("mkfifo").arg(path("pipe")).status();
    assert!(made.is_ok_and(|status| status.success()));
    symlink("/dev/zero", path("zero")).expect("a link");
    symlink("b", path("a")).expect("a link");
    symlink("a", path("b")).expect("a link");
    symlink("nowhere", path("dangling")).expect("a link");
    let _socket = std::os::unix::net::UnixListener::bind(path("socket")).expect("a socket");
    let mut loader = loader(folder.path());
    let mut reason = |name: &str| failed(loader.load(&FactKey::File(workspace(name))));
    assert_eq!(reason("pipe"), "it is a pipe");
    assert_eq!(reason("zero"), "it is a device");
    assert_eq!(reason("socket"), "it is a socket");
    assert_eq!(reason("a"), "its links lead in a circle");
    assert_eq!(loader.load(&FactKey::File(workspace("dangling"))), Found::Absent);
}

#[cfg(unix)]
#[test]
fn permission_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().expect("a folder");
    write(folder.path(), "secret.md", "x");
    let secret = folder.path().join("secret.md");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).expect("permissions");
    let expected = match fs::read(&secret) {
        // The superuser may read everything.
        Ok(_) => Found::Value(Value::File(Arc::new(file::text(&workspace("secret.md"), b"x", 1, MAX_BYTES)))),
        Err(_) => Found::Failed("permission denied".into()),
    };
    assert_eq!(loader(folder.path()).load(&FactKey::File(workspace("secret.md"))), expected);
    assert_eq!(file::reason(&std::io::ErrorKind::PermissionDenied.into()), "permission denied");
}

#[test]
fn huge_files_are_cut_and_say_so() {
    let folder = TempDir::new().expect("a folder");
    write(folder.path(), "huge.md", "你好\n".repeat(MAX_BYTES / 7 + 1000));
    write(folder.path(), "huge.json", format!("[{}1]", "1,".repeat(MAX_BYTES / 2)));
    let mut loader = loader(folder.path());
    let file = text(loader.load(&FactKey::File(workspace("huge.md"))));
    assert!(file.text.len() <= MAX_BYTES && file.text.len() > MAX_BYTES - 4);
    assert!(file.bytes > MAX_BYTES as u64);
    assert_eq!(&*file.notes[0], "cut at 4 MiB");
    assert_eq!(failed(loader.load(&FactKey::Data(workspace("huge.json")))), "it is larger than 4 MiB");
}

#[test]
fn globs_skip_what_tools_make_and_sort_by_bytes() {
    let folder = TempDir::new().expect("a folder");
    for path in [
        "cards/b.md",
        "cards/a.md",
        "cards/B.md",
        "cards/deep/c.md",
        "cards/note.txt",
        "x/target/d.md",
        "x/node_modules/e.md",
        ".git/f.md",
        "target/g.md",
        "中/文.md",
    ] {
        write(folder.path(), path, "x");
    }
    fs::create_dir(folder.path().join("cards/folder.md")).expect("a folder");
    let mut loader = loader(folder.path());
    let mut of = |pattern: &str| list(loader.load(&FactKey::Glob(workspace(pattern))));
    assert_eq!(of("cards/*.md"), ["cards/B.md", "cards/a.md", "cards/b.md"]);
    assert_eq!(of("**/*.md"), ["cards/B.md", "cards/a.md", "cards/b.md", "cards/deep/c.md", "中/文.md"]);
    assert_eq!(of("{cards,中}/*.md"), ["cards/B.md", "cards/a.md", "cards/b.md", "中/文.md"]);
    assert_eq!(of("target/*.md"), ["target/g.md"]);
    assert_eq!(of("*/*/c.md"), ["cards/deep/c.md"]);
    assert_eq!(loader.load(&FactKey::Glob(workspace("nothing/*.md"))), Found::Absent);
    assert!(failed(loader.load(&FactKey::Glob(workspace("[")))).starts_with("the pattern cannot be used"));
}

#[cfg(unix)]
#[test]
fn globs_follow_links_but_not_in_circles() {
    use std::os::unix::fs::symlink;
    let folder = TempDir::new().expect("a folder");
    write(folder.path(), "real/a.md", "x");
    symlink("../real", folder.path().join("real/loop")).expect("a link");
    symlink("real", folder.path().join("linked")).expect("a link");
    symlink("real/a.md", folder.path().join("b.md")).expect("a link");
    symlink("nowhere", folder.path().join("c.md")).expect("a link");
    let mut loader = loader(folder.path());
    let found = list(loader.load(&FactKey::Glob(workspace("**/*.md"))));
    assert_eq!(found, ["b.md", "linked/a.md", "real/a.md"]);
}

#[test]
fn folders_are_listed_for_completion() {
    let folder = TempDir::new().expect("a folder");
    for path in ["api/deep/x", "web/x", ".git/x", "web/node_modules/x", "x", ".hidden/x"] {
        write(folder.path(), path, "x");
    }
    assert_eq!(loader(folder.path()).folders(), [".hidden", "api", "api/deep", "web"]);
}

#[test]
fn moving_forgets_what_was_read_elsewhere() {
    let folder = TempDir::new().expect("a folder");
    write(folder.path(), "a.md", "bench");
    write(folder.path(), "project/a.md", "project");
    let mut loader = loader(folder.path());
    let bench = FactKey::File(FilePath::new(Base::Bench, "a.md"));
    let file = FactKey::File(workspace("a.md"));
    assert_eq!(&*text(loader.load(&file)).text, "bench");
    loader.load(&bench);
    loader.move_to(Roots { workspace: folder.path().join("project"), ..loader.roots().clone() });
    assert_eq!(loader.known.keys().collect::<Vec<_>>(), [&bench]);
    assert_eq!(&*text(loader.load(&file)).text, "project");
}

#[test]
fn only_other_content_counts_as_a_change() {
    let folder = TempDir::new().expect("a folder");
    write(folder.path(), "a.md", "one");
    write(folder.path(), "cards/a.md", "x");
    let mut loader = loader(folder.path());
    let a = FactKey::File(workspace("a.md"));
    let missing = FactKey::File(workspace("later/b.md"));
    let cards = FactKey::Glob(workspace("cards/*.md"));
    for key in [&a, &missing, &cards, &FactKey::Environment("now".into())] {
        loader.load(key);
    }
    assert_eq!(loader.changed(), []);
    // The same content is no change; other content of the same size, written at once, is.
    write(folder.path(), "a.md", "one");
    assert_eq!(loader.changed(), []);
    write(folder.path(), "a.md", "two");
    let changed = loader.changed();
    assert_eq!(changed.len(), 1);
    assert_eq!((&changed[0].0, &*text(changed[0].1.clone()).text), (&a, "two"));
    assert_eq!(loader.changed(), []);
    // Rename over it, delete, create again.
    write(folder.path(), "new", "six");
    fs::rename(folder.path().join("new"), folder.path().join("a.md")).expect("a rename");
    assert_eq!(loader.changed().len(), 1);
    fs::remove_file(folder.path().join("a.md")).expect("a removal");
    assert_eq!(loader.changed(), [(a.clone(), Found::Absent)]);
    write(folder.path(), "a.md", "six");
    write(folder.path(), "later/b.md", "b");
    write(folder.path(), "cards/b.md", "y");
    let keys: Vec<FactKey> = loader.changed().into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys, [a.clone(), missing, cards]);
    loader.forget(&a);
    write(folder.path(), "a.md", "changed");
    assert_eq!(loader.changed(), []);
}

#[test]
fn a_change_that_somebody_has_loaded_is_still_told() {
    let folder = TempDir::new().expect("a folder");
    write(folder.path(), "a.md", "one");
    let mut loader = loader(folder.path());
    let a = FactKey::File(workspace("a.md"));
    loader.load(&a);
    write(folder.path(), "a.md", "longer");
    // Another session of the same bench, a forecast for example, comes upon it first.
    assert_eq!(&*text(loader.load(&a)).text, "longer");
    let told: Vec<FactKey> = loader.changed().into_iter().map(|(key, _)| key).collect();
    assert_eq!(told, std::slice::from_ref(&a));
    assert_eq!(loader.changed(), []);
    // Back to what was told is no news.
    write(folder.path(), "a.md", "for a moment");
    loader.load(&a);
    write(folder.path(), "a.md", "longer");
    assert_eq!(loader.changed(), []);
}

#[test]
fn a_hint_reads_again_whatever_the_stamp_says() {
    let folder = TempDir::new().expect("a folder");
    write(folder.path(), "a.md", "one");
    let mut loader = loader(folder.path());
    let key = FactKey::File(workspace("a.md"));
    loader.load(&key);
    write(folder.path(), "a.md", "two");
    // As if the file system's clock had not moved and the file had been read long ago.
    let known = loader.known.get_mut(&key).expect("known");
    known.settled = true;
    known.inputs[0].1 = Stamp::of(&folder.path().join("a.md"));
    assert_eq!(loader.changed(), []);
    assert_eq!(loader.inputs().into_iter().collect::<Vec<_>>(), [folder.path().join("a.md")]);
    assert_eq!(loader.changed_at(&loader.inputs()).len(), 1);
}

#[test]
fn the_environment_is_known_by_name() {
    let folder = TempDir::new().expect("a folder");
    write(folder.path(), ".git/HEAD", "ref: refs/heads/feature/x\n");
    let mut loader = loader(folder.path());
    let mut of = |name: &str| loader.load(&FactKey::Environment(name.into()));
    let text = |text: &str| Found::Value(Value::text(text));
    assert_eq!(of("now"), text("2026-04-01T09:00:00+08:00[Asia/Shanghai]"));
    assert_eq!(of("os"), text(env::consts::OS));
    assert_eq!(of("git_branch"), text("feature/x"));
    assert_eq!(of("workspace"), text(&folder.path().to_string_lossy()));
    assert_eq!(of("home"), text(&folder.path().join("home").to_string_lossy()));
    assert_eq!(of("weather"), Found::Absent);
    write(folder.path(), ".git/HEAD", "0123456789abcdef0123456789abcdef01234567\n");
    assert_eq!(of("git_branch"), text("0123456789ab"));
}

#[test]
fn the_time_is_read_each_time_and_never_a_change() {
    let folder = TempDir::new().expect("a folder");
    let ticks = std::sync::atomic::AtomicU32::new(0);
    let clock: Clock = Arc::new(move || {
        let tick = ticks.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        format!("2026-04-01T09:00:0{tick}Z")
    });
    let mut loader = Loader::new(loader(folder.path()).roots().clone(), clock);
    let key = FactKey::Environment("now".into());
    assert_ne!(loader.load(&key), loader.load(&key));
    assert_eq!(loader.changed(), []);
}

#[test]
fn git_lists_what_it_tracks() {
    let folder = TempDir::new().expect("a folder");
    let mut loader = loader(folder.path());
    let key = FactKey::Git(workspace(""));
    assert_eq!(loader.load(&key), Found::Absent);
    assert_eq!(loader.note(&key).map(|note| &**note), Some("not in a git repository"));
    let git = |args: &[&str]| {
        let status = std::process::Command::new("git").arg("-C").arg(folder.path()).args(args).output();
        assert!(status.is_ok_and(|output| output.status.success()), "git {args:?}");
    };
    git(&["init", "-q"]);
    write(folder.path(), "src/b.rs", "x");
    write(folder.path(), "你好.md", "x");
    write(folder.path(), "untracked", "x");
    git(&["add", "src", "你好.md"]);
    assert_eq!(list(loader.load(&key)), ["src/b.rs", "你好.md"]);
    assert_eq!(list(loader.load(&FactKey::Git(workspace("src")))), ["b.rs"]);
    git(&["rm", "-q", "--cached", "src/b.rs"]);
    assert_eq!(loader.changed().len(), 2);
    assert_eq!(list(loader.load(&key)), ["你好.md"]);
}

#[test]
fn the_programs_own_files_are_read_from_memory() {
    let roots = Roots {
        bench: BenchRoot::Embedded(&[("a.md", b"inside")]),
        workspace: PathBuf::from("/nowhere"),
        home: None,
    };
    let mut loader = Loader::new(roots, machine_clock());
    let bench = |path: &str| FactKey::File(FilePath::new(Base::Bench, path));
    assert_eq!(&*text(loader.load(&bench("a.md"))).text, "inside");
    assert_eq!(loader.load(&bench("b.md")), Found::Absent);
    assert_eq!(loader.load(&FactKey::File(FilePath::new(Base::Home, "x"))), Found::Absent);
    assert!(loader.inputs().is_empty());
}
