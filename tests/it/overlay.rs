//! A block of a bench follows its sources while it runs: what is edited outside is in the next request before it is sent,
//! with what the block then has room for; and the file of the session is what the shown call was sent.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use plywood::app::blocks::{BlockView, SectionState};
use plywood::app::effect::EngineRequest;
use plywood::app::engine::{Disk, Engine, Options};
use plywood::core::wire::{CallNo, Zone};
use plywood::io::bench_file::Machine;
use plywood::io::load::fixed_clock;
use plywood::io::watch::{Mode, Notice, Watcher};
use plywood::io::{models, samples};

const FILE: &str = ".omx/state/sessions/omx-1717567890-abc123/AGENTS.md";
/// How long a hint may take before the test counts as failed.
const PATIENCE: Duration = Duration::from_secs(30);

fn machine() -> Machine {
    Machine { clock: fixed_clock("2026-03-07T08:00:00Z"), home: None }
}

/// The sample in an engine, and its workspace.
struct Bench {
    engine: Engine,
    workspace: PathBuf,
    _keep: Option<samples::ScratchCopy>,
}

impl Bench {
    /// In its scratch copy, as `plywood omx` opens it.
    fn scratch(options: Options) -> Bench {
        let disk = Disk::sample(samples::find("omx").expect("a sample"), "", &machine()).expect("a copy");
        Bench::open(disk, options, None)
    }

    /// As somebody's own folder.
    fn real() -> Bench {
        let copy = samples::find("omx").expect("a sample").scratch_copy().expect("a copy");
        let disk = Disk::open(copy.path(), &machine()).expect("a bench");
        Bench::open(disk, Options::default(), Some(copy))
    }

    fn open(disk: Disk, options: Options, keep: Option<samples::ScratchCopy>) -> Bench {
        let workspace = disk.folder().join("project");
        let engine = Engine::open(Box::new(disk), Arc::new(models::embedded()), options).expect("an engine");
        Bench { engine, workspace, _keep: keep }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.workspace.join(path)
    }

    /// Writes a file outside of the program, and has it look.
    fn put(&mut self, path: &str, text: &str) {
        let at = self.path(path);
        fs::create_dir_all(at.parent().expect("below the workspace")).expect("made");
        fs::write(at, text).expect("written");
        assert!(self.engine.look(), "{path} is looked at");
    }

    fn git(&self, args: &[&str]) {
        git(&self.workspace, args);
    }

    /// What the waiting request's system prompt says.
    fn prompt(&self) -> String {
        let session = self.engine.session();
        let request = session.request(session.next_call()).expect("a request waits");
        request.zone(Zone::System)[0].text.text().to_string()
    }

    /// The file of the session on disk; none where there is none.
    fn file(&self) -> Option<String> {
        fs::read_to_string(self.path(FILE)).ok()
    }

    fn overlay(&mut self) -> BlockView {
        let snapshot = self.engine.snapshot();
        snapshot.blocks.iter().find(|block| &*block.place == "overlay").expect("the block").clone()
    }
}

fn git(folder: &Path, args: &[&str]) {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(args);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for (name, value) in [("AUTHOR", "a"), ("COMMITTER", "a")] {
        git.env(format!("GIT_{name}_NAME"), value).env(format!("GIT_{name}_EMAIL"), "a@example.com");
    }
    let output = git.output().expect("git is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn state<'b>(block: &'b BlockView, section: &str) -> &'b SectionState {
    &block.sections.iter().find(|row| &*row.id == section).expect("a section").state
}

#[test]
fn every_source_is_followed_before_the_request_is_sent() {
    let mut bench = Bench::scratch(Options::default());
    let follows = |bench: &Bench, text: &str| {
        assert!(bench.prompt().contains(text), "no {text:?} in {}", bench.prompt());
        assert_eq!(bench.file(), Some(format!("{}\n", bench.prompt())), "the file is what would be sent");
    };
    bench.put("AGENTS.md", "# new rules\n");
    follows(&bench, "\n\n# new rules\n\n<!-- OMX:RUNTIME:START -->");
    bench.put(".omx/notepad.md", "## PRIORITY\n\n- new note\n");
    follows(&bench, "## Priority Notes\n\n- new note\n");
    let ralph = ".omx/state/sessions/omx-1717567890-abc123/ralph-state.json";
    bench.put(ralph, r#"{ "iteration": 7, "max_iterations": 9, "current_phase": "new phase" }"#);
    follows(&bench, "- ralph: iteration 7/9, phase: new phase\n");
    bench.put(".omx/project-memory.json", r#"{ "stack": "new stack" }"#);
    follows(&bench, "- Stack: new stack\n");
    bench.put(".omx/plans/test-spec-checkout.md", "x");
    follows(&bench, "Status: UNLOCKED");
    fs::remove_file(bench.path(".omx/plans/prd-checkout.md")).expect("removed");
    assert!(bench.engine.look());
    follows(&bench, "Status: BLOCKED — No PRD found.");
    bench.put(".omx/plans/prd-other.md", "x");
    follows(&bench, "Status: UNLOCKED");
    // Git: a file counts from the moment it is in the index.
    assert_eq!(*state(&bench.overlay(), "map"), SectionState::Absent("when: map does not hold".into()));
    bench.git(&["init", "-q"]);
    fs::create_dir_all(bench.path("src")).expect("made");
    fs::write(bench.path("src/pay.rs"), "x").expect("written");
    bench.engine.look();
    assert!(!bench.prompt().contains("pay.rs"));
    bench.git(&["add", "src/pay.rs"]);
    bench.git(&["commit", "-q", "-m", "pay"]);
    assert!(bench.engine.look());
    follows(&bench, "## Codebase Map\n\n  src/: pay.rs\n");
    // Their own copies are nobody's edit: looking again finds nothing.
    assert!(!bench.engine.look());
}

#[test]
fn what_there_is_room_for_follows_too() {
    let mut bench = Bench::scratch(Options { variants: vec!["small_budget".into()], ..Options::default() });
    let block = bench.overlay();
    assert_eq!((block.budget, block.absent.clone()), (Some(1_300), None));
    let all: u64 = block.sections.iter().map(|section| section.chars).sum();
    assert_eq!(all + block.own, block.chars);
    assert!(
        block.sections.iter().all(|section| !matches!(section.state, SectionState::Dropped(_))),
        "{block:?}"
    );
    bench.put(".omx/notepad.md", &format!("## PRIORITY\n{}\n", "n".repeat(2_000)));
    let block = bench.overlay();
    assert!(
        matches!(*state(&block, "notes"), SectionState::Cut(1_400..1_405, 0)),
        "{:?}",
        state(&block, "notes")
    );
    let dropped = |section: &str| match state(&block, section) {
        SectionState::Dropped(why) => why.to_string(),
        other => panic!("{section}: {other:?}"),
    };
    assert!(dropped("memory").starts_with("budget 1,300, needs 154, "), "{}", dropped("memory"));
    assert!(dropped("lookup").ends_with(", behind memory"), "{}", dropped("lookup"));
    assert!(block.chars <= 1_300 && bench.prompt().contains("nnn...\n\n"));
    bench.put(".omx/notepad.md", "## PRIORITY\nshort\n");
    for section in ["memory", "lookup"] {
        assert_eq!(*state(&bench.overlay(), section), SectionState::Kept);
    }
    // Where what is required is too much, the block is cut, and the view says of which section.
    let gate = bench.workspace.join("../gate.md");
    fs::write(gate, "门".repeat(3_000)).expect("written");
    bench.engine.look();
    let block = bench.overlay();
    assert_eq!(block.chars, 1_300);
    assert!(matches!(*state(&block, "gate"), SectionState::Cut(0, 1_000..)), "{:?}", state(&block, "gate"));
    assert!(matches!(*state(&block, "compaction"), SectionState::Cut(0, 1..)));
    assert!(block.told.is_some_and(|told| told.starts_with("the required layers of overlay alone make")));
}

#[test]
fn the_file_of_a_session_follows_the_shown_call_and_back() {
    let mut bench = Bench::scratch(Options { run: Some("budget".into()), ..Options::default() });
    let mut files = Vec::new();
    for _ in 0..2 {
        files.push(bench.file().expect("a file"));
        bench.engine.handle(EngineRequest::Send);
    }
    files.push(bench.file().expect("a file"));
    assert!(files[1].contains("优先事项 3：") && !files[0].contains("优先事项 3：") && files[1] != files[2]);
    let changes = bench.engine.session().changes().len();
    for call in [2, 1, 3] {
        bench.engine.handle(EngineRequest::Jump(CallNo(call)));
        assert_eq!(bench.file().as_deref(), Some(&*files[call as usize - 1]), "call {call}");
        bench.engine.look();
        assert_eq!(bench.engine.session().changes().len(), changes, "the program's own files are no edit");
    }
    bench.engine.handle(EngineRequest::Back);
    assert_eq!(bench.file().as_deref(), Some(&*files[1]));
    // Another bench file, another place for it: the old one goes.
    bench.engine.handle(EngineRequest::Variants(vec!["worker".into()]));
    assert_eq!(bench.file(), None);
    assert!(bench.path(".omx/state/team/checkout/worker-agents.md").exists());
}

#[test]
fn a_run_writes_nothing_into_a_folder_of_its_users() {
    let mut bench = Bench::real();
    let before = fs::read_to_string(bench.path(".omx/notepad.md")).expect("a file");
    bench.put("AGENTS.md", "# new rules\n");
    assert!(bench.prompt().contains("# new rules"), "it follows all the same");
    for _ in 0..4 {
        bench.engine.handle(EngineRequest::Send);
    }
    assert_eq!(bench.file(), None);
    assert_eq!(fs::read_to_string(bench.path(".omx/notepad.md")).expect("a file"), before);
    assert!(!bench.path(".omx/plans/test-spec-checkout.md").exists());
}

#[test]
fn in_a_folder_of_its_users_the_overlay_is_written_when_that_is_asked_and_follows() {
    let mut bench = Bench::real();
    let rules = fs::read_to_string(bench.path("AGENTS.md")).expect("a file");
    bench.engine.handle(EngineRequest::Overlay);
    assert_eq!(bench.file(), Some(format!("{}\n", bench.prompt())));
    assert_eq!(
        fs::read_to_string(bench.path("AGENTS.md")).expect("a file"),
        rules,
        "the source is not written"
    );
    bench.put(".omx/notepad.md", "## PRIORITY\n\n- new note\n");
    assert!(bench.file().is_some_and(|file| file.contains("- new note")));
    bench.put("AGENTS.md", "# new rules\n");
    assert_eq!(bench.file(), Some(format!("{}\n", bench.prompt())));
    // Once more takes it out; so does the end of the workbench.
    bench.engine.handle(EngineRequest::Overlay);
    assert_eq!(bench.file(), None);
    bench.put("AGENTS.md", "# other rules\n");
    assert_eq!(bench.file(), None, "it is not followed any more");
    bench.engine.handle(EngineRequest::Overlay);
    assert!(bench.file().is_some_and(|file| file.contains("# other rules")));
    let Bench { engine, workspace, _keep } = bench;
    drop(engine);
    assert!(!workspace.join(FILE).exists());
    // In a scratch copy the run writes its own.
    let mut scratch = Bench::scratch(Options::default());
    let before = scratch.file();
    scratch.engine.handle(EngineRequest::Overlay);
    assert_eq!(
        scratch.engine.snapshot().status.note.to_string(),
        "in a scratch copy the run writes its files itself"
    );
    assert_eq!(scratch.file(), before);
}

#[test]
fn a_variant_that_is_tried_does_not_find_what_the_run_wrote() {
    let mut bench = Bench::scratch(Options::default());
    for _ in 0..3 {
        bench.engine.handle(EngineRequest::Send);
    }
    assert!(bench.path(".omx/plans/test-spec-checkout.md").exists(), "the run wrote it into the copy");
    bench.engine.handle(EngineRequest::Run("drift".into()));
    assert!(!bench.path(".omx/plans/test-spec-checkout.md").exists());
    assert!(bench.prompt().contains("Status: BLOCKED"));
}

/// Waits until a watcher has said that one of these inputs may have changed.
fn wait(notices: &Receiver<Notice>, path: &Path) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match notices.recv_timeout(left) {
            Ok(Notice::Look(look)) if look.paths.contains(path) => return,
            Ok(_) => {}
            Err(_) => panic!("no hint for {}", path.display()),
        }
    }
}

#[test]
fn every_source_is_watched() {
    let mut bench = Bench::scratch(Options::default());
    bench.git(&["init", "-q"]);
    bench.engine.look();
    let (inputs, root) = bench.engine.inputs();
    let (sender, notices) = channel();
    let watcher = Watcher::start(&root, Mode::Auto, move |notice| {
        // The test may be over.
        let _ = sender.send(notice);
    })
    .expect("a watcher");
    watcher.set(inputs);
    let edits = [
        ("AGENTS.md", "# watched\n", "# watched"),
        (".omx/notepad.md", "## PRIORITY\nwatched note\n", "watched note"),
        (
            ".omx/state/sessions/omx-1717567890-abc123/ralph-state.json",
            r#"{ "current_phase": "watched phase" }"#,
            "watched phase",
        ),
    ];
    for (path, text, want) in edits {
        let at = bench.path(path);
        fs::write(&at, text).expect("written");
        wait(&notices, &at.canonicalize().expect("a path"));
        bench.engine.look();
        assert!(bench.prompt().contains(want), "{path}");
    }
    // A new plan is a change of its folder.
    fs::write(bench.path(".omx/plans/test-spec-checkout.md"), "x").expect("written");
    wait(&notices, &bench.path(".omx/plans").canonicalize().expect("a path"));
    bench.engine.look();
    assert!(bench.prompt().contains("Status: UNLOCKED"));
    bench.git(&["add", "AGENTS.md"]);
    wait(&notices, &bench.path(".git/index").canonicalize().expect("a path"));
    bench.engine.look();
    assert!(bench.prompt().contains("(here): AGENTS.md"));
}

#[test]
fn rules_that_the_agent_also_finds_itself_are_told_with_what_they_cost() {
    let twice = |variants: &[&str]| {
        let mut args = vec!["check", "omx"];
        args.extend(variants.iter().flat_map(|variant| ["--variant", variant]));
        let ran = crate::cli::run(&args);
        let told = format!("{}{}", ran.stdout, ran.stderr);
        told.lines().filter(|line| line.contains("duplicate: ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(twice(&[]), Vec::<String>::new());
    let told = twice(&["discovered"]);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told.iter()
            .any(|line| line.contains("(AGENTS.md:") && line.contains(" tokens twice in every request"))
    );
    assert!(told.iter().any(|line| line.contains("(~/.codex/AGENTS.md:")));
    // A file that holds the overlay alone says nothing twice.
    assert_eq!(twice(&["discovered", "overlay_only"]), Vec::<String>::new());
}
