//! `plywood overlay` as a shell sees it: what it prints, what it leaves on disk, and that nothing it does harms a file,
//! also when it is killed in the middle or when several do it at once.

#[cfg(unix)]
mod code_map;
#[cfg(unix)]
mod faults;
#[cfg(unix)]
mod readme;
#[cfg(unix)]
mod sessions;
#[cfg(unix)]
mod watching;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cli::{Ran, plywood};

const START: &str = "<!-- OMX:RUNTIME:START -->";
const RULES: &str = "# Rules\n\n- Amounts are whole cents.\n";
/// How long something may take that happens at once.
const PATIENCE: Duration = Duration::from_secs(60);

/// A project of its own.
struct Project(tempfile::TempDir);

impl Project {
    fn new() -> Project {
        let project = Project(tempfile::tempdir().expect("a folder"));
        project.put("AGENTS.md", RULES);
        project
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("below the project")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    fn command(&self, action: &str, args: &[&str]) -> Command {
        let mut command = plywood();
        command.current_dir(self.0.path()).args(["overlay", action, "AGENTS.md"]).args(args);
        command
    }

    fn run(&self, action: &str, args: &[&str]) -> Ran {
        let output = self.command(action, args).output().expect("the program starts");
        Ran {
            status: output.status.code().expect("it ends by itself"),
            stdout: String::from_utf8(output.stdout).expect("data is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("messages are UTF-8"),
        }
    }

    /// Runs it and reads the JSON that it prints.
    fn json(&self, action: &str, args: &[&str]) -> Value {
        let ran = self.run(action, &[args, &["--json"]].concat());
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
    }

    /// Every file, in order.
    fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.0.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("listed") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let path =
                        path.strip_prefix(self.0.path()).expect("below").to_string_lossy().into_owned();
                    found.push(path);
                }
            }
        }
        found.sort();
        found
    }
}

#[test]
fn a_session_has_a_file_of_its_own_and_the_source_is_not_touched() {
    let project = Project::new();
    let args = ["--session", "s-1", "--now", "2026-04-01T09:00:00Z"];
    let file = ".omx/state/sessions/s-1/AGENTS.md";
    let ran = project.run("apply", &args);
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let pid = std::process::id();
    assert!(lines[0].starts_with(&format!("created  {file}  (")), "{lines:?}");
    assert_eq!(lines[1], format!("session s-1, of process {pid}, since 2026-04-01T09:00:00Z"));
    assert!(
        lines[2].starts_with("block overlay: ") && lines[2].ends_with(" of 3,500 characters"),
        "{lines:?}"
    );
    let text = project.text(file).expect("it is there");
    assert!(
        text.starts_with(&format!("{RULES}\n{START}\n## Session Metadata\n\nSession ID: s-1\n")),
        "{text}"
    );
    assert!(text.ends_with("\n<!-- OMX:RUNTIME:END -->\n"));
    // Twice is once.
    assert!(project.run("apply", &args).stdout.starts_with(&format!("unchanged  {file}  (")));
    // The rules change, and so does the file.
    assert!(project.run("refresh", &[]).stdout.starts_with("unchanged  "));
    project.put("AGENTS.md", "# Other\n");
    assert!(project.run("refresh", &[]).stdout.starts_with(&format!("written  {file}  (")));
    assert!(project.text(file).is_some_and(|text| text.starts_with("# Other\n\n<!--")));
    let status = project.json("status", &[]);
    assert_eq!(status["schema"], "plywood.overlay/1");
    assert_eq!(
        (&status["sessions"][0]["life"], &status["sessions"][0]["as_written"]),
        (&"live".into(), &true.into())
    );
    assert_eq!(
        (&status["lock"]["state"], &status["lock"]["path"]),
        (&"free".into(), &".omx/locks/overlay".into())
    );
    assert_eq!(
        (&status["round_trip"]["differs_at"], &status["findings"]),
        (&Value::Null, &serde_json::json!([]))
    );
    // It ends: the file goes, its record stays.
    assert!(project.run("strip", &[]).stdout.starts_with(&format!("removed  {file}  (")));
    assert_eq!(project.files(), [".omx/state/sessions/s-1/overlay.json", "AGENTS.md"]);
    let again = project.run("strip", &["--session", "s-1"]);
    assert_eq!((again.status, again.stdout.starts_with("unchanged  ")), (0, true), "{again:?}");
    assert_eq!(project.run("refresh", &[]).status, 1);
    assert_eq!(project.json("status", &[])["sessions"][0]["life"], "archived");
    assert_eq!(project.text("AGENTS.md").as_deref(), Some("# Other\n"));
    // It is taken up again, since when it began.
    let json = project.json("apply", &["--session", "s-1"]);
    assert_eq!(
        (&json["did"], &json["resumed"], &json["began"]),
        (&"created".into(), &1.into(), &"2026-04-01T09:00:00Z".into())
    );
}

#[test]
fn without_a_name_a_process_has_one_session() {
    let project = Project::new();
    let id = project.json("apply", &[])["session"].as_str().expect("an id").to_owned();
    let mut parts = id.split('-');
    assert_eq!(parts.next(), Some("omx"));
    assert!(parts.next().is_some_and(|ms| ms.len() == 13 && ms.bytes().all(|b| b.is_ascii_digit())), "{id}");
    assert!(parts.next().is_some_and(|random| random.len() == 6), "{id}");
    assert_eq!(project.json("apply", &[])["session"], *id);
    project.run("apply", &["--session", "other"]);
    let ran = project.run("strip", &[]);
    assert_eq!(ran.status, 2);
    assert!(
        ran.stderr.contains("this process has several sessions here") && ran.stderr.contains("`other`"),
        "{ran:?}"
    );
}

#[test]
fn the_source_is_written_only_when_that_is_asked() {
    let project = Project::new();
    let dry = project.run("apply", &["--target", "source", "--dry-run"]);
    assert!(
        dry.stdout.starts_with("would be written  AGENTS.md  (")
            && dry.stdout.contains(&format!("\n+ {START}\n")),
        "{dry:?}"
    );
    assert_eq!((project.text("AGENTS.md").as_deref(), project.files().len()), (Some(RULES), 1));
    let json = project.json("apply", &["--target", "source"]);
    assert_eq!((&json["did"], &json["path"]), (&"written".into(), &"AGENTS.md".into()));
    let applied = project.text("AGENTS.md").expect("there");
    assert!(applied.starts_with(&format!("{RULES}\n\n{START}\n")));
    assert_eq!(json["bytes_after"], applied.len());
    assert_eq!(project.json("apply", &["--target", "source"])["did"], "unchanged");
    assert_eq!(project.json("strip", &["--target", "source"])["did"], "written");
    assert_eq!(project.text("AGENTS.md").as_deref(), Some(RULES));
    // A file that was made for the block goes with it.
    fs::remove_file(project.path("AGENTS.md")).expect("removed");
    assert_eq!(project.json("apply", &["--target", "source"])["did"], "created");
    assert_eq!(project.json("strip", &["--target", "source"])["did"], "removed");
    assert_eq!(project.text("AGENTS.md"), None);
    assert_eq!(project.json("strip", &["--target", "source"])["did"], "unchanged");
}

#[test]
fn markers_that_make_no_block_are_told_with_their_place_and_the_file_stays() {
    let project = Project::new();
    let end = START.replace("START", "END");
    for (text, told) in [
        (format!("a\n{START}\nx\n"), "AGENTS.md:2:1"),
        (format!("{end}\n"), "AGENTS.md:1:1"),
        (format!("a\n\n{START}\n{START}\n{end}\n"), "AGENTS.md:3:1"),
        (
            format!("{START}\n<!-- OMX:TEAM:WORKER:START -->\n<!-- OMX:TEAM:WORKER:END -->\n{end}\n"),
            "AGENTS.md:2:1",
        ),
    ] {
        project.put("AGENTS.md", &text);
        for action in ["apply", "strip"] {
            let ran = project.run(action, &["--target", "source"]);
            assert_eq!((ran.status, &*ran.stdout), (1, ""), "{text:?}");
            assert!(ran.stderr.contains(told), "{text:?}: {}", ran.stderr);
            let json = project.json(action, &["--target", "source"]);
            assert_eq!((&json["did"], json["strays"][0]["column"].as_u64()), (&"left alone".into(), Some(1)));
        }
        assert_eq!(project.run("status", &[]).status, 1);
        assert_eq!(project.text("AGENTS.md"), Some(text));
    }
    // In a fence it is text.
    let quoted = format!("```\n{START}\n```\n");
    project.put("AGENTS.md", &quoted);
    assert_eq!(project.run("apply", &["--target", "source"]).status, 0);
    assert_eq!(project.run("strip", &["--target", "source"]).status, 0);
    assert_eq!(project.text("AGENTS.md"), Some(quoted));
}

#[test]
fn wrong_usage_and_files_of_other_kinds_are_failures() {
    let project = Project::new();
    let ran = project.run("apply", &["--session", "../x"]);
    let says =
        "error: --session `../x`: a session is named with letters, digits, `_` and `-`, at most 64 of them\n";
    assert_eq!((ran.status, &*ran.stderr), (2, says));
    assert_eq!(project.run("apply", &["--now", "soon"]).status, 2);
    assert_eq!(project.run("apply", &["--bench", "."]).status, 2);
    assert_eq!(project.run("apply", &["--variant", "none"]).status, 2);
    let told_of = |file: &str, target: &str| {
        let mut command = plywood();
        let args = ["overlay", "apply", file, "--target", target, "--workspace", "."];
        let output = command.current_dir(project.0.path()).args(args).output().expect("it starts");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    fs::create_dir(project.path("folder.md")).expect("made");
    for target in ["session", "source"] {
        let told = |file: &str| told_of(file, target);
        let (status, says) = told("folder.md");
        assert!(status == Some(2) && says.starts_with("error: folder.md: it is a folder\n"), "{says}");
        assert!(says.contains("folder.md/AGENTS.md"), "{says}");
        assert_eq!(told("none/AGENTS.md"), (Some(2), "error: there is no folder `none`\n".into()));
        if cfg!(target_os = "linux") {
            let (status, says) = told("/dev/full");
            let starts = says.starts_with("error: /dev/full: it is no regular file\n");
            assert!(status == Some(2) && starts && says.contains("such as AGENTS.md"), "{says}");
        }
    }
    // A pipe is not waited for, whatever is done with it.
    #[cfg(unix)]
    {
        let pipe = project.path("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("it is installed").success());
        let (status, says) = told_of("pipe", "session");
        assert!(status == Some(2) && says.starts_with("error: pipe: it is no regular file\n"), "{says}");
        fs::remove_file(pipe).expect("removed");
    }
    assert_eq!(project.files(), ["AGENTS.md"]);
}

#[cfg(unix)]
#[test]
fn where_nothing_is_stripped_it_is_said_where_the_overlay_is() {
    let project = Project::new();
    assert_eq!(project.run("strip", &[]).stdout, "nothing done: no session of this process is here\n");
    let mut agent = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().expect("a process");
    let pid = agent.id().to_string();
    project.run("apply", &["--target", "source", "--session", "s1", "--owner", &pid]);
    project.run("apply", &["--session", "s2", "--owner", &pid]);
    let hints = |ran: Ran| ran.stdout.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    let block =
        "hint: AGENTS.md holds a block: `plywood overlay strip AGENTS.md --target source` takes it out";
    let live = format!("hint: the session s2 of process {pid} is here: `--session s2 --owner {pid}` ends it");
    assert_eq!(hints(project.run("strip", &[])), [block, &live]);
    agent.kill().and_then(|()| agent.wait()).expect("it ends");
    let ran = project.run("strip", &[]);
    assert!(ran.stdout.contains("`plywood overlay clean AGENTS.md` ends it"), "{ran:?}");
    assert!(
        project.json("strip", &[])["hints"][0].as_str().is_some_and(|hint| hint.contains("--target source"))
    );
    // What it says helps.
    assert_eq!(project.run("strip", &["--target", "source"]).status, 0);
    assert_eq!(project.text("AGENTS.md").as_deref(), Some(RULES));
}

#[test]
fn a_sample_can_be_named_as_everywhere() {
    let project = Project::new();
    let args = ["--session", "s1", "--now", "2026-04-01T09:00:00Z"];
    let own = project.run("apply", &args);
    assert_eq!((own.status, project.run("apply", &[&args[..], &["--bench", "omx"]].concat()).status), (0, 0));
    // It is the profile that is used anyway.
    assert!(
        project.run("apply", &[&args[..], &["--bench", "omx"]].concat()).stdout.starts_with("unchanged  ")
    );
    // Another one has no block, which is said of it.
    let ran = project.run("apply", &["--bench", "xbot"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.starts_with("error: the bench xbot has no place with `of: block`"), "{ran:?}");
    let ran = project.run("apply", &["--bench", "xbott"]);
    assert_eq!(ran.status, 2);
    assert!(
        ran.stderr.contains("there is no file or folder `xbott`") && ran.stderr.contains("`xbot`"),
        "{ran:?}"
    );
}

#[test]
fn a_generated_file_is_marked_once_and_is_otherwise_the_same() {
    let project = Project::new();
    let top = "<!-- AUTONOMY DIRECTIVE — DO NOT REMOVE -->\r\ngo on\r\n<!-- END AUTONOMY DIRECTIVE -->\r\n";
    let before = format!("{top}\r\n# Rules\r\n\r\nno last line end");
    let after = format!("{top}<!-- omx:generated:agents-md -->\r\n\r\n# Rules\r\n\r\nno last line end");
    project.put("AGENTS.md", &before);
    let ran = project.run("mark", &["--dry-run"]);
    let sizes = format!("({} bytes before, {} now)", before.len(), after.len());
    let told = format!("would be written  AGENTS.md  {sizes}\n+ <!-- omx:generated:agents-md -->\n");
    assert_eq!((ran.status, &*ran.stdout, &*ran.stderr), (0, &*told, ""));
    assert_eq!(project.text("AGENTS.md"), Some(before));
    let ran = project.run("mark", &[]);
    assert_eq!((ran.status, ran.stdout), (0, format!("written  AGENTS.md  {sizes}\n")));
    assert_eq!(project.text("AGENTS.md").as_ref(), Some(&after));
    let json = project.json("mark", &[]);
    assert_eq!(
        (&json["schema"], &json["action"], &json["did"], &json["bytes_after"]),
        (&"plywood.overlay/1".into(), &"mark".into(), &"unchanged".into(), &after.len().into())
    );
    assert_eq!(project.text("AGENTS.md"), Some(after));
    assert_eq!(project.files(), ["AGENTS.md"]);

    // A title alone says nothing of who wrote it; the line goes behind it.
    project.put("AGENTS.md", RULES);
    project.run("mark", &[]);
    let marked = "# Rules\n<!-- omx:generated:agents-md -->\n\n- Amounts are whole cents.\n";
    assert_eq!(project.text("AGENTS.md").as_deref(), Some(marked));

    // Half a block: told with its line, and left alone.
    let half = format!("# Rules\n{START}\n");
    project.put("AGENTS.md", &half);
    let ran = project.run("mark", &[]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("AGENTS.md:2:1"), "{ran:?}");
    assert_eq!(project.text("AGENTS.md"), Some(half));
    // Nothing is made where nothing is.
    fs::remove_file(project.path("AGENTS.md")).expect("removed");
    let ran = project.run("mark", &[]);
    assert_eq!((ran.status, &*ran.stderr), (2, "error: AGENTS.md: there is no such file\n"));
    assert_eq!(project.files(), [""; 0]);
}

/// A bench of the user's own, with other markers, another lock, and files that have other names.
#[test]
fn a_bench_says_what_the_overlay_is_made_of_and_where_it_goes() {
    let project = Project::new();
    project.put("RULES.md", "rules\n");
    project.put(
        "my/bench.yaml",
        r#"
bench: 1
name: mine
model: openai:gpt-5.4
workspace: { path: . }
facts: { session: none }
read: { rules: { file: AGENTS.md, markers: live, trim: true }, mood: { file: mood.txt, trim: true } }
places:
  file: { of: system, join: "\n\n", path: "state/{{ session }}/RULES.md", lock: state/lock }
  live: { of: block, markers: { live: ["<live>", "</live>"] }, budget: { chars: 60, over: required_then_listed } }
layers:
  - { id: rules, in: file, when: rules, from: { fact: rules } }
  - { id: live, in: file, from: { place: live } }
  - { id: mood, in: live, required: true, from: { text: "{{ session }} is {{ mood }}" } }
  - { id: long, in: live, from: { text: "this has no room at all in a block of sixty characters" } }
"#,
    );
    project.put("mood.txt", "calm\n");
    let command = |action: &str, args: &[&str]| {
        let mut command = plywood();
        let all = [&["overlay", action, "RULES.md", "--bench", "my", "--json"], args].concat();
        let output = command.current_dir(project.0.path()).args(all).output().expect("it starts");
        serde_json::from_slice::<Value>(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    };
    let json = command("apply", &["--session", "s1"]);
    assert_eq!(
        (&json["path"], &json["block"]["evicted"][0]["layer"]),
        (&"state/s1/RULES.md".into(), &"long".into())
    );
    // Nobody reads AGENTS.md here: FILE is the source.
    assert_eq!(project.text("state/s1/RULES.md").as_deref(), Some("rules\n\n<live>\ns1 is calm\n</live>\n"));
    command("apply", &["--session", "s1", "--target", "source"]);
    assert_eq!(project.text("RULES.md").as_deref(), Some("rules\n\n\n<live>\ns1 is calm\n</live>\n"));
    command("strip", &["--session", "s1", "--target", "source"]);
    assert_eq!(project.text("RULES.md").as_deref(), Some("rules\n"));
    assert_eq!(command("status", &[])["lock"]["path"], "state/lock");
    // How a generated file is marked is data, too.
    let mut mark = plywood();
    mark.current_dir(project.0.path()).args(["overlay", "mark", "RULES.md", "--bench", "my"]);
    let output = mark.output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("the bench mine does not say how a generated file is marked"), "{told}");
    let bench = project.text("my/bench.yaml").expect("a bench");
    let keys = "markers: live, not_if: made by a program, not_if_behind: [<top>, </top>], trim: true }, mood";
    project.put("my/bench.yaml", &bench.replace("markers: live, trim: true }, mood", keys));
    project.put("RULES.md", "<top>\n</top>\nrules\n");
    assert_eq!(command("mark", &[])["did"], "written");
    assert_eq!(project.text("RULES.md").as_deref(), Some("<top>\n</top>\nmade by a program\nrules\n"));
    assert_eq!(project.text("AGENTS.md").as_deref(), Some(RULES));
}

/// Waits until something holds.
fn until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
