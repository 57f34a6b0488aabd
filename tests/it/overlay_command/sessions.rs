//! Sessions: of dead processes, of other files.

use super::*;

#[test]
fn sessions_of_dead_processes_stay_until_they_are_cleaned() {
    let project = Project::new();
    let mut agent = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().expect("a process");
    let pid = agent.id().to_string();
    assert_eq!(project.run("apply", &["--session", "s-1", "--owner", &pid]).status, 0);
    let file = ".omx/state/sessions/s-1/AGENTS.md";
    // It lives: it is its own, and nobody cleans it up.
    let ran = project.run("strip", &["--session", "s-1"]);
    assert_eq!(ran.status, 2);
    let says = format!("error: the session s-1 belongs to process {pid}, which is alive\n");
    assert!(ran.stderr.starts_with(&says), "{}", ran.stderr);
    assert_eq!(project.run("clean", &[]).stdout, "nothing to clean\n");
    agent.kill().and_then(|()| agent.wait()).expect("it ends");
    assert_eq!(project.run("status", &[]).status, 1);
    // Another session begins beside it, and cleans up nothing.
    assert_eq!(project.run("apply", &["--session", "s-2"]).status, 0);
    assert!(project.text(file).is_some());
    let dry = project.run("clean", &["--dry-run"]);
    assert_eq!(
        dry.stdout,
        format!("would remove the session file {file}  (session s-1 of process {pid}, which is dead)\n")
    );
    assert!(project.text(file).is_some());
    let ran = project.run("clean", &[]);
    let said = format!("removed the session file {file}  (session s-1 of process {pid}, which is dead)\n");
    assert_eq!(ran.stdout, said);
    assert_eq!((project.text(file), project.run("status", &[]).status), (None, 0));
    assert!(project.text(".omx/state/sessions/s-2/AGENTS.md").is_some());
}

/// Two files of one folder share its sessions, but not each other's.
#[test]
fn a_session_belongs_to_the_file_that_it_was_made_for() {
    let project = Project::new();
    project.put("OTHER.md", "# Other\n");
    let other = |action: &str, args: &[&str]| {
        let mut command = plywood();
        command.current_dir(project.0.path()).args(["overlay", action, "OTHER.md"]).args(args);
        let output = command.output().expect("the program starts");
        Ran {
            status: output.status.code().expect("it ends by itself"),
            stdout: String::from_utf8(output.stdout).expect("data is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("messages are UTF-8"),
        }
    };
    let file = ".omx/state/sessions/s1/AGENTS.md";
    assert_eq!(project.run("apply", &["--session", "s1"]).status, 0);
    let (written, record) = (project.text(file), project.text(".omx/state/sessions/s1/overlay.json"));
    for action in ["apply", "strip", "status", "refresh", "watch"] {
        for target in ["session", "source"] {
            let ran = other(action, &["--session", "s1", "--target", target]);
            assert_eq!((ran.status, &*ran.stdout), (2, ""), "{action}: {ran:?}");
            let says = "error: the session s1 belongs to another file: AGENTS.md\n";
            assert!(ran.stderr.starts_with(says) && ran.stderr.contains("OTHER.md"), "{action}: {ran:?}");
        }
    }
    assert!(written.is_some());
    assert_eq!((project.text(file), project.text(".omx/state/sessions/s1/overlay.json")), (written, record));
    assert_eq!(project.text("OTHER.md").as_deref(), Some("# Other\n"));
    // Nor is it the session that is meant where none is named.
    assert!(other("strip", &[]).stdout.starts_with("nothing done: "));
    assert!(other("status", &[]).stdout.contains("\nsession  s1: of another file, AGENTS.md\n"));
    // Under another name it is the same file.
    std::os::unix::fs::symlink("AGENTS.md", project.path("LINK.md")).expect("a link");
    let output = plywood()
        .current_dir(project.0.path())
        .args(["overlay", "strip", "LINK.md", "--session", "s1"])
        .output()
        .expect("it starts");
    assert_eq!((output.status.code(), project.text(file)), (Some(0), None), "{output:?}");
}

#[test]
fn cleaning_one_file_leaves_the_sessions_of_another_as_they_are() {
    let project = Project::new();
    project.put("NOTES.md", "# Notes\n");
    let mut agent = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().expect("a process");
    let pid = agent.id().to_string();
    let args = ["--target", "source", "--session", "s1", "--owner", &pid];
    assert_eq!(project.run("apply", &args).status, 0);
    agent.kill().and_then(|()| agent.wait()).expect("it ends");
    let applied = project.text("AGENTS.md").expect("there");
    assert!(applied.contains(START));
    let notes = |args: &[&str]| {
        let mut command = plywood();
        command.current_dir(project.0.path()).args(["overlay", "clean", "NOTES.md"]).args(args);
        let output = command.output().expect("it starts");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let note = "note: the session s1 of AGENTS.md is stale, too: `plywood overlay clean AGENTS.md`\n";
    assert_eq!(notes(&[]), (Some(0), format!("nothing to clean\n{note}")));
    let json: Value = serde_json::from_str(&notes(&["--json"]).1).expect("JSON");
    assert_eq!(
        (&json["cleaned"], &json["of_other_files"][0]["source"]),
        (&serde_json::json!([]), &"AGENTS.md".into())
    );
    assert_eq!(project.text("AGENTS.md").as_deref(), Some(&*applied));
    assert_eq!(project.text("NOTES.md").as_deref(), Some("# Notes\n"));
    let of = format!("(session s1 of process {pid}, which is dead)\n");
    let dry = project.run("clean", &["--dry-run"]);
    assert_eq!(dry.stdout, format!("would take the block out of AGENTS.md  {of}"));
    let ran = project.run("clean", &[]);
    assert_eq!((ran.status, ran.stdout), (0, format!("took the block out of AGENTS.md  {of}")));
    assert_eq!(project.text("AGENTS.md").as_deref(), Some(RULES));
    assert_eq!(notes(&[]).1, "nothing to clean\n");
}

#[test]
fn cleaning_up_after_a_dead_session_leaves_the_block_of_one_that_lives() {
    let project = Project::new();
    let sleeper = || Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().expect("a process");
    let (mut first, mut second) = (sleeper(), sleeper());
    let apply = |session: &str, pid: u32| {
        project.run("apply", &["--target", "source", "--session", session, "--owner", &pid.to_string()])
    };
    assert_eq!(apply("s1", first.id()).status, 0);
    let ran = apply("s2", second.id());
    let pid = first.id();
    let note =
        format!("note: it stands in place of that of the session s1 of process {pid}, which is alive\n");
    assert!(ran.stdout.ends_with(&note), "{ran:?}");
    let applied = project.text("AGENTS.md").expect("there");
    first.kill().and_then(|()| first.wait()).expect("it ends");
    let said = format!(
        "ended, there was nothing of it in AGENTS.md  (session s1 of process {pid}, which is dead)\n"
    );
    assert_eq!(project.run("clean", &[]).stdout, said);
    assert_eq!(project.text("AGENTS.md"), Some(applied));
    assert_eq!(project.run("status", &[]).status, 0);
    second.kill().and_then(|()| second.wait()).expect("it ends");
    assert!(project.run("clean", &[]).stdout.starts_with("took the block out of AGENTS.md  "));
    assert_eq!(project.text("AGENTS.md").as_deref(), Some(RULES));
}

#[test]
fn the_name_of_a_session_that_ended_can_be_used_for_another_file() {
    let project = Project::new();
    project.put("OTHER.md", "# Other\n");
    let file = ".omx/state/sessions/s1/AGENTS.md";
    let then = ["--session", "s1", "--now", "2026-04-01T09:00:00Z"];
    assert_eq!(project.run("apply", &then).status, 0);
    assert_eq!(project.run("strip", &["--session", "s1"]).status, 0);
    let mut command = plywood();
    command.current_dir(project.0.path()).args(["overlay", "apply", "OTHER.md", "--session", "s1", "--json"]);
    let output = command.output().expect("it starts");
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&json["did"], &json["resumed"]), (&"created".into(), &0.into()), "{json}");
    assert_ne!(json["began"], "2026-04-01T09:00:00Z");
    assert!(project.text(file).is_some_and(|text| text.starts_with("# Other\n")));
    let ran = project.run("apply", &["--session", "s1"]);
    assert!(ran.stderr.starts_with("error: the session s1 belongs to another file: OTHER.md\n"), "{ran:?}");
}

/// What a user reads is what to do next, for each state that is not as it should be.
#[test]
fn the_status_names_what_to_do_about_everything_that_it_finds() {
    let project = Project::new();
    let found = || {
        let ran = project.run("status", &[]);
        let lines = ran.stdout.lines().skip_while(|line| !line.starts_with("found")).map(str::to_owned);
        (ran.status, lines.collect::<Vec<_>>())
    };
    let tells = |what: &str, next: &str| {
        let (status, lines) = found();
        assert_eq!(status, 1, "{lines:?}");
        let at = lines.iter().position(|line| line.starts_with(&format!("found    {what}")));
        let at = at.unwrap_or_else(|| panic!("{what}: {lines:?}"));
        assert!(lines[at + 1].starts_with("         ") && lines[at + 1].contains(next), "{what}: {lines:?}");
    };
    assert_eq!(found(), (0, Vec::new()));
    project.put("AGENTS.md", &format!("{START}\n"));
    tells("AGENTS.md:1:1: the marker", "write the other half of the block or take this one out");
    let block = format!("{START}\nx\n{}\n", START.replace("START", "END"));
    project.put("AGENTS.md", &block.repeat(2));
    tells("AGENTS.md: it holds 2 blocks", "`plywood overlay strip AGENTS.md --target source`");
    fs::remove_file(project.path("AGENTS.md"))
        .and_then(|()| fs::create_dir(project.path("AGENTS.md")))
        .expect("made");
    tells("AGENTS.md: it is a folder", "nothing is read from it");
    fs::remove_dir(project.path("AGENTS.md")).expect("removed");
    project.put("AGENTS.md", RULES);

    project.put(".omx/locks/overlay", &format!(r#"{{"pid":{}}}"#, i32::MAX));
    tells("the lock is that of process ", "`plywood overlay clean AGENTS.md`");
    project.put(".omx/locks/overlay", "nobody");
    tells("the lock has no owner", "from 30 s on");
    fs::remove_file(project.path(".omx/locks/overlay")).expect("removed");
    let left = format!(".AGENTS.md.plywood-{}-7-0-0.tmp", i32::MAX);
    project.put(&left, "");
    tells(&format!("{left}: left by a dead process"), "`plywood overlay clean AGENTS.md` removes it");
    fs::remove_file(project.path(&left)).expect("removed");

    let pid = std::process::id().to_string();
    project.run("apply", &["--session", "s1", "--owner", &pid]);
    let file = ".omx/state/sessions/s1/AGENTS.md";
    let text = project.text(file).expect("there");
    project.put(file, &format!("{text}mine\n"));
    tells(&format!("{file}: somebody else has edited it"), "only its block is replaced");
    fs::remove_file(project.path(file)).expect("removed");
    tells(
        "the session s1 has lost its file",
        "`plywood overlay refresh AGENTS.md --session s1` writes it again",
    );
    // What it names helps.
    assert_eq!(project.run("refresh", &["--session", "s1"]).status, 0);
    assert_eq!(found(), (0, Vec::new()));
    project.run("apply", &["--session", "s1", "--owner", &pid, "--target", "source"]);
    project.put("AGENTS.md", RULES);
    tells("the session s1 has lost its block in AGENTS.md", "--session s1 --target source` puts it in again");
    assert_eq!(project.run("refresh", &["--session", "s1", "--target", "source"]).status, 0);
    let edited = project.text("AGENTS.md").expect("there").replace("Session ID", "Session");
    project.put("AGENTS.md", &edited);
    tells(
        "somebody else has edited the block of the session s1",
        "refresh AGENTS.md --session s1 --target source",
    );
    project.put(".omx/state/sessions/broken/overlay.json", "{}");
    tells("the session broken: it is no record", "remove .omx/state/sessions/broken/overlay.json");
    let json = project.json("status", &[]);
    assert!(json["findings"][0]["what"].is_string() && json["findings"][0]["next"].is_string(), "{json}");
}
