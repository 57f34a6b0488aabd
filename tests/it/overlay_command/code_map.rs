//! The code map of a large repository.

use super::*;

/// Two hundred thousand files, of which git is asked once; then the map is served as it was kept.
#[test]
fn the_code_map_of_a_large_repository_takes_one_call_of_git_and_then_none() {
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    let path = std::env::var("PATH").expect("a path");
    let real = std::env::split_paths(&path).map(|folder| folder.join("git")).find(|git| git.is_file());
    let real = real.expect("git is installed");
    let git = |args: &[&str]| {
        let mut git = Command::new(&real);
        git.arg("-C").arg(project.0.path()).args(args).env("GIT_CONFIG_GLOBAL", "/dev/null");
        git
    };
    assert!(git(&["init", "-q"]).status().expect("it starts").success());
    // The index alone: the files need not be there.
    let lines: String = (0..200_000)
        .map(|n| {
            format!(
                "100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\tdir{:02}/sub{}/file{n}.rs\n",
                n % 40,
                n % 997
            )
        })
        .collect();
    let mut index = git(&["update-index", "--index-info"]).stdin(Stdio::piped()).spawn().expect("it starts");
    index.stdin.take().expect("a pipe").write_all(lines.as_bytes()).expect("written");
    assert!(index.wait().expect("it ends").success());
    // A git in front of it that notes each call.
    let tools = tempfile::tempdir().expect("a folder");
    let (wrapper, log) = (tools.path().join("git"), tools.path().join("log"));
    let script = format!("#!/bin/sh\necho \"$@\" >> '{}'\nexec '{}' \"$@\"\n", log.display(), real.display());
    fs::write(&wrapper, script).expect("written");
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).expect("it can run");
    let run = |action: &str| {
        let mut command = project.command(action, &["--session", "s-1"]);
        command.env("PATH", format!("{}:{path}", tools.path().display()));
        let output = command.output().expect("it starts");
        assert!(output.status.success(), "{output:?}");
        let map = project.text(".omx/state/sessions/s-1/AGENTS.md").expect("it is there");
        let map = map.split("## Codebase Map\n\n").nth(1).expect("a map").lines().next().map(str::to_owned);
        let calls = fs::read_to_string(&log).unwrap_or_default();
        (map.expect("a line"), calls.lines().map(str::to_owned).collect::<Vec<_>>())
    };
    let (map, calls) = run("apply");
    assert!(map.starts_with("  dir00/: sub") && map.ends_with(" files"), "{map}");
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert!(calls[0].ends_with("ls-files --cached -z"), "{calls:?}");
    assert!(project.text(".omx/cache/codebase-map.json").is_some_and(|kept| kept.contains("\"version\": 1")));
    for action in ["refresh", "apply"] {
        assert_eq!(run(action), (map.clone(), calls.clone()));
    }
    // Another index, another map.
    project.put("a/first.rs", "");
    assert!(git(&["add", "a/first.rs"]).status().expect("it starts").success());
    let (map, calls) = run("refresh");
    assert_eq!((&*map, calls.len()), ("  a/: first.rs", 2));
}
