//! Following the sources.

use std::io::{BufRead as _, BufReader};

use super::*;

#[test]
fn watching_follows_the_sources_and_ends_with_the_session() {
    let project = Project::new();
    let mut command = project.command("watch", &["--session", "s-1"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let file = || project.text(".omx/state/sessions/s-1/AGENTS.md");
    until("the overlay is applied", || file().is_some());
    project.put(".omx/notepad.md", "## PRIORITY\n\n- first\n");
    until("a new source is in it", || file().is_some_and(|text| text.contains("- first")));
    // A burst of edits, the last of which counts.
    for number in 0..50 {
        project.put(".omx/notepad.md", &format!("## PRIORITY\n\n- edit {number}\n"));
    }
    until("the last edit is in it", || file().is_some_and(|text| text.contains("- edit 49")));
    project.put("AGENTS.md", "# Other\n");
    until("the rules are in it", || file().is_some_and(|text| text.starts_with("# Other\n")));
    let pid = child.id().to_string();
    Command::new("kill").args(["-TERM", &pid]).status().expect("kill is installed");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let firsts: Vec<&str> =
        said.lines().filter_map(|line| line.split("  ").next()).filter(|word| !word.contains(' ')).collect();
    assert_eq!((firsts.first(), firsts.last()), (Some(&"created"), Some(&"removed")), "{said}");
    // Fifty edits within one quiet period are one.
    assert!(firsts.iter().filter(|word| **word == "written").count() <= 12, "{said}");
    assert_eq!((file(), project.text("AGENTS.md").as_deref()), (None, Some("# Other\n")));
}

#[test]
fn watching_a_source_that_holds_the_block_does_not_follow_itself() {
    let project = Project::new();
    let mut command = project.command("watch", &["--session", "s-1", "--target", "source"]);
    let child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let source = || project.text("AGENTS.md").unwrap_or_default();
    until("the overlay is applied", || source().contains(START));
    project.put("AGENTS.md", "# Other\n");
    until("it is applied again", || source().starts_with("# Other\n\n\n<!--"));
    // What it has written itself is nobody's change: it would be told of a third one by now.
    project.put(".omx/notepad.md", "## PRIORITY\n\n- last\n");
    until("a source is in it", || source().contains("- last"));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is installed");
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(said.lines().filter(|line| line.starts_with("written  ")).count(), 4, "{said}");
    assert_eq!(source(), "# Other\n");
}

/// A watch that is going on, and is ended with what it is about.
struct Watch(std::process::Child);

impl Watch {
    fn start(project: &Project, args: &[&str]) -> Watch {
        Watch(
            project
                .command("watch", args)
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .expect("it starts"),
        )
    }

    fn end(mut self) {
        let status = Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status();
        assert!(status.expect("kill is installed").success());
        assert!(self.0.wait().expect("it ends").success());
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // It has ended already, unless the test failed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_file_that_somebody_removes_comes_back_while_it_is_watched() {
    let project = Project::new();
    let watch = Watch::start(&project, &["--session", "s-1"]);
    let file = ".omx/state/sessions/s-1/AGENTS.md";
    until("the overlay is applied", || project.text(file).is_some());
    let text = project.text(file);
    // As `git clean -fdx` does.
    fs::remove_dir_all(project.path(".omx")).expect("removed");
    until("it is there again", || project.text(file) == text);
    watch.end();
    assert_eq!(project.text(file), None);
}

#[test]
fn what_could_not_be_written_is_tried_again() {
    let project = Project::new();
    let mut watch = Watch::start(&project, &["--session", "s-1", "--wait", "0"]);
    let told = BufReader::new(watch.0.stderr.take().expect("a pipe"));
    let file = ".omx/state/sessions/s-1/AGENTS.md";
    let lock = ".omx/locks/overlay";
    until("the overlay is applied", || project.text(file).is_some() && project.text(lock).is_none());
    // Somebody is at it for longer than is waited for him, and nothing changes behind that.
    let pid = std::process::id();
    project.put(lock, &format!(r#"{{"pid":{pid},"what":"test"}}"#));
    project.put("AGENTS.md", "# Other\n");
    let line = told.lines().next().expect("it says so").expect("a line");
    assert!(line.contains(&format!("process {pid} (test) has it")), "{line}");
    assert!(project.text(file).is_some_and(|text| text.starts_with(RULES)));
    fs::remove_file(project.path(lock)).expect("removed");
    until("it is written", || project.text(file).is_some_and(|text| text.starts_with("# Other\n")));
    watch.end();
}

#[test]
fn two_that_follow_one_source_do_not_put_out_each_others_block() {
    let project = Project::new();
    let source = || project.text("AGENTS.md").unwrap_or_default();
    let first = Watch::start(&project, &["--target", "source", "--session", "s-1"]);
    until("the first is applied", || source().contains("Session ID: s-1\n"));
    let second = Watch::start(&project, &["--target", "source", "--session", "s-2"]);
    until("the second is applied", || source().contains("Session ID: s-2\n"));
    // Both follow this; only the one whose block is there writes it.
    project.put("AGENTS.md", &source().replace("# Rules", "# Other"));
    project.put(".omx/notepad.md", "## PRIORITY\n\n- a note\n");
    until("a source is in it", || source().contains("- a note"));
    assert!(source().contains("Session ID: s-2\n"));
    second.end();
    until("the first one's is there again", || source().contains("Session ID: s-1\n"));
    first.end();
    assert_eq!(source(), RULES.replace("# Rules", "# Other"));
}
