//! The engine on benches on disk: what it publishes after each request and each edit.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use plywood::app::effect::EngineRequest;
use plywood::app::engine::{Disk, Engine, Options};
use plywood::app::snapshot::{CallState, LayerRow, Lost, Now, Pause, Snapshot};
use plywood::core::tokens::Encoding;
use plywood::core::wire::CallNo;
use plywood::io::bench_file::Machine;
use plywood::io::load::fixed_clock;
use plywood::io::{models, samples};
use tempfile::TempDir;

const BENCH: &str = r#"
bench: 1
name: small
agent: { id: main, role: boss, session: s-9 }
model: openai:gpt-5.4
workspace: { path: project, shown_as: /w, clock: "2026-04-01T09:00:00Z" }
tools: [ { names: [Cd, Read, Edit, Shell] } ]
simulate: { Cd: { set: cwd, from: path }, Read: { file: path }, Edit: { write: path } }
read: { rules: { file: AGENTS.md } }
places:
  system: { of: system, join: "\n", wrap: [ "<system>\n", "\n</system>" ] }
  user: { of: current_user }
  end: { of: newest_tool, join: "\n\n", none: wait }
layers:
  - { id: base, in: system, from: { template: base.md } }
  - { id: rules, in: system, when: rules, refresh: call, from: { fact: rules } }
  - { id: said, in: user, from: { said: user } }
  - { id: moved, in: end, from: { text: "<cwd>{{ cwd }}</cwd>" }, refresh: { change: [cwd], since: built } }
  - { id: reminder, in: end, when: call.tools, refresh: call, from: { text: "<r>{{ call.results }} done</r>" } }
variants:
  quiet: { layers.moved.when: "false" }
  claude: { model: anthropic:claude-sonnet-4-6 }
runs:
  two:
    - user: Go to a.
    - call: [ { Cd: { path: a } } ]
    - call: [ { Read: { path: x.txt } } ]
    - call: [ { Edit: { path: x.txt, text: written by the run } } ]
    - say: Done.
    - user: And now?
    - say: Nothing.
  agent:
    - user: Ask somebody.
    - agent: { role: worker, goal: Look at x., run: [ { call: [ { Read: { path: /w/a/x.txt } } ] }, { say: Fine. } ] }
    - say: Asked.
  fails:
    - user: Go.
    - fail: 529 overloaded
    - say: Gone.
"#;

/// Long enough to be cached at all.
fn base() -> String {
    format!("Work in {{{{ cwd }}}}.\n{}", "- A rule that nobody needs, said again and again.\n".repeat(150))
}

fn folder() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let at = |path: &str| folder.path().join(path);
    fs::create_dir_all(at("project/a")).expect("folders");
    fs::create_dir_all(at("project/b")).expect("folders");
    for (path, text) in [
        ("bench.yaml", BENCH),
        ("base.md", &base()),
        ("project/AGENTS.md", "first rules\n"),
        ("project/a/x.txt", "from the disk"),
    ] {
        fs::write(at(path), text).expect("a file");
    }
    folder
}

fn machine() -> Machine {
    Machine { clock: fixed_clock("2026-04-01T09:00:00Z"), home: None }
}

fn open(folder: &Path, options: Options) -> Engine {
    Encoding::O200k.load();
    let disk = Disk::open(folder, &machine()).expect("a bench");
    Engine::open(Box::new(disk), Arc::new(models::embedded()), options).expect("an engine")
}

fn run(name: &str) -> Options {
    Options { run: Some(name.into()), ..Options::default() }
}

fn sends(engine: &mut Engine, count: usize) {
    for _ in 0..count {
        engine.handle(EngineRequest::Send);
    }
}

fn row<'s>(snapshot: &'s Snapshot, id: &str) -> &'s LayerRow {
    snapshot.layers.rows.iter().find(|row| &*row.id == id).expect("a row of the layer")
}

/// Everything that the shown request says.
fn text(snapshot: &Snapshot) -> String {
    snapshot.request.blocks.iter().map(|block| format!("{}\n", block.text.text())).collect()
}

/// What has to hold of every snapshot, whatever happened before.
fn adds_up(snapshot: &Snapshot) {
    let Some(total) = &snapshot.layers.total else { return };
    let rows = &snapshot.layers.rows;
    let chars: u64 = rows.iter().map(|row| row.chars).sum();
    assert_eq!(chars + total.joins, total.chars, "characters of {}", total.label);
    let bytes = snapshot.request.bytes;
    let joins: u64 = snapshot
        .request
        .blocks
        .iter()
        .flat_map(|block| block.text.parts())
        .map(|part| (part.body - part.start) as u64)
        .sum();
    assert_eq!(rows.iter().map(|row| row.bytes).sum::<u64>() + joins, bytes, "bytes of {}", total.label);
    let tokens: u64 = rows.iter().filter_map(|row| row.tokens).sum();
    assert_eq!(Some(tokens), total.tokens, "tokens of {}", total.label);
    let shown = snapshot.calls.shown.map(|index| &snapshot.calls.rows[index]);
    if let Some(paid) = shown.and_then(|row| row.paid.as_ref()) {
        assert_eq!(paid.sent, total.tokens, "sent of {}", total.label);
        if let (Some(read), Some(fresh)) = (paid.read, paid.fresh) {
            assert_eq!(Some(read + paid.write.unwrap_or(0) + fresh), paid.sent, "{}", total.label);
        }
    }
}

#[test]
fn every_table_adds_up_in_every_call() {
    let folder = folder();
    for name in ["two", "agent", "fails"] {
        let mut engine = open(folder.path(), run(name));
        for _ in 0..6 {
            adds_up(&engine.snapshot());
            engine.handle(EngineRequest::Send);
        }
    }
    let disk = Disk::sample(&samples::samples()[0], "", &machine()).expect("a sample");
    let mut engine =
        Engine::open(Box::new(disk), Arc::new(models::embedded()), Options::default()).expect("an engine");
    for _ in 0..7 {
        adds_up(&engine.snapshot());
        engine.handle(EngineRequest::Send);
    }
}

#[test]
fn a_layer_told_twice_is_as_long_as_both_and_grew_by_the_second() {
    let folder = folder();
    let mut engine = open(folder.path(), run("two"));
    sends(&mut engine, 1);
    let first = engine.snapshot();
    assert_eq!((row(&first, "reminder").chars, &row(&first, "reminder").now), (13, &Now::New));
    sends(&mut engine, 1);
    let second = engine.snapshot();
    assert_eq!((row(&second, "reminder").chars, &row(&second, "reminder").now), (26, &Now::Changed(13)));
    // What tools returned and what was called grew, too.
    let (before, after) = (row(&first, "conversation"), row(&second, "conversation"));
    assert_eq!(after.now, Now::Changed(after.chars as i64 - before.chars as i64));
    assert!(after.tokens_alone.is_some());
}

#[test]
fn what_was_not_evaluated_is_not_called_fixed() {
    let folder = folder();
    let mut engine = open(folder.path(), run("two"));
    let snapshot = engine.snapshot();
    assert_eq!(&*row(&snapshot, "reminder").change, "call");
    assert_eq!(&*row(&snapshot, "tools").change, "fixed");
}

#[test]
fn a_sub_agent_is_shown_as_its_prompts_see_it() {
    let folder = folder();
    let mut engine = open(folder.path(), run("agent"));
    let fields = |snapshot: &Snapshot| {
        let fields = snapshot.agent.fields.iter().map(|(key, value)| format!("{key} {value}"));
        fields.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(fields(&engine.snapshot()), "id main, role boss, session s-9");
    sends(&mut engine, 1);
    let snapshot = engine.snapshot();
    assert_eq!(fields(&snapshot), "id main/worker, role worker, session s-9");
    assert_eq!(snapshot.request.agent.as_deref(), Some("worker"));
    let agents: Vec<Option<&str>> = snapshot.calls.rows.iter().map(|row| row.agent.as_deref()).collect();
    assert_eq!(agents, [None, Some("worker"), Some("worker"), None]);
}

#[test]
fn a_call_that_failed_has_no_numbers_and_is_not_waited_for() {
    let folder = folder();
    let mut engine = open(folder.path(), run("fails"));
    sends(&mut engine, 2);
    let snapshot = engine.snapshot();
    let rows: Vec<(CallState, bool)> =
        snapshot.calls.rows.iter().map(|row| (row.state, row.paid.is_some())).collect();
    assert_eq!(rows, [(CallState::Failed, false), (CallState::Sent, true)]);
}

#[test]
fn each_call_says_for_itself_whether_its_numbers_are_estimates() {
    let folder = folder();
    let model = Some("anthropic:claude-sonnet-4-6".into());
    let mut engine = open(folder.path(), Options { model, ..run("two") });
    sends(&mut engine, 1);
    engine.handle(EngineRequest::Model("openai:gpt-5.4".into()));
    let snapshot = engine.snapshot();
    let estimates: Vec<bool> =
        snapshot.calls.rows.iter().filter_map(|row| Some(row.paid.as_ref()?.estimate)).collect();
    assert_eq!(estimates, [true, false, false, false, false]);
    assert_eq!(snapshot.status.estimates, 1);
    let injected: Vec<bool> =
        snapshot.calls.rows.iter().flat_map(|row| &row.injected).map(|row| row.estimate).collect();
    assert!(injected.iter().all(|estimate| !estimate), "{injected:?}");
}

#[test]
fn of_an_unknown_model_nothing_is_zero() {
    let folder = folder();
    let mut engine = open(folder.path(), Options { model: Some("foo:bar".into()), ..run("two") });
    sends(&mut engine, 1);
    let snapshot = engine.snapshot();
    let paid: Vec<_> = snapshot.calls.rows.iter().filter_map(|row| row.paid.clone()).collect();
    assert!(paid.iter().all(|paid| paid.sent.is_none() && paid.read.is_none() && paid.fresh.is_none()));
    assert_eq!(paid[0].lost, Lost::First);
    let says: Vec<&str> = snapshot.verdict.iter().map(|line| &*line.text).collect();
    assert!(!says.iter().any(|text| text.contains('0')), "{says:?}");
}

#[test]
fn prices_are_those_of_the_day_and_say_so() {
    let folder = folder();
    let model = Some("anthropic:claude-sonnet-5-5".into());
    let of = |now: &str| {
        let options = Options { model: model.clone(), now: Some(now.into()), ..run("two") };
        open(folder.path(), options).snapshot().model.prices.expect("prices")
    };
    let early = of("2026-04-01T09:00:00Z");
    assert_eq!((early.read, &*early.note), (Some(0.20), "in force from 2026-09-28"));
    let late = of("2026-10-07T09:00:00Z");
    assert_eq!((late.read, &*late.note), (Some(0.10), ""));
}

#[test]
fn a_cwd_typed_at_the_end_of_a_run_leaves_its_last_call_on_the_screen() {
    let folder = folder();
    let mut engine = open(folder.path(), run("two"));
    sends(&mut engine, 9);
    let last = text(&engine.snapshot());
    engine.handle(EngineRequest::PreviewCwd("/w/b".into()));
    let typed = engine.snapshot();
    assert_eq!((text(&typed), typed.title.pause), (last.clone(), Pause::End(CallNo(5))));
    engine.handle(EngineRequest::SetCwd("/w/b".into()));
    let entered = engine.snapshot();
    assert_eq!(text(&entered), last);
    assert_eq!(&*entered.status.note, "no call waits: it holds from the next one on");
}

#[test]
fn a_relative_cwd_is_taken_from_that_of_the_shown_call() {
    let folder = folder();
    let mut engine = open(folder.path(), run("two"));
    sends(&mut engine, 2);
    engine.handle(EngineRequest::Jump(CallNo(1)));
    engine.handle(EngineRequest::PreviewCwd("b".into()));
    assert_eq!(engine.snapshot().draft.map(|draft| draft.value.to_string()).as_deref(), Some("/w/b"));
    engine.handle(EngineRequest::SetCwd("b".into()));
    assert_eq!(&*engine.snapshot().agent.cwd, "/w/b");
}

#[test]
fn a_model_chosen_at_the_end_plays_the_run_again() {
    let folder = folder();
    let mut engine = open(folder.path(), run("two"));
    sends(&mut engine, 9);
    engine.handle(EngineRequest::Model("anthropic:claude-sonnet-4-6".into()));
    let snapshot = engine.snapshot();
    assert_eq!(snapshot.title.pause, Pause::End(CallNo(5)));
    assert_eq!(&*snapshot.model.id, "anthropic:claude-sonnet-4-6");
    assert!(snapshot.calls.rows.iter().all(|row| row.paid.as_ref().is_some_and(|paid| paid.estimate)));
    assert_eq!(&*snapshot.status.note, "the run was played again for anthropic:claude-sonnet-4-6");
}

#[test]
fn a_branch_sees_files_as_they_are_now() {
    let folder = folder();
    let mut engine = open(folder.path(), run("two"));
    sends(&mut engine, 1);
    fs::write(folder.path().join("project/AGENTS.md"), "second rules\n").expect("a file");
    engine.look();
    sends(&mut engine, 1);
    assert!(text(&engine.snapshot()).contains("second rules"));
    engine.handle(EngineRequest::Jump(CallNo(1)));
    assert!(text(&engine.snapshot()).contains("first rules"), "what was sent stays what it was");
    engine.handle(EngineRequest::PreviewCwd("/w/b".into()));
    let typed = text(&engine.snapshot());
    engine.handle(EngineRequest::SetCwd("/w/b".into()));
    let branch = engine.snapshot();
    assert!(text(&branch).contains("second rules") && text(&branch).contains("Work in /w/b."));
    assert_eq!(text(&branch), typed, "the preview showed what Enter does");
    assert_eq!(branch.title.branch, Some((2, 2)));
}

#[test]
fn a_scratch_copy_follows_the_shown_step_and_its_own_writes_are_no_edits() {
    Encoding::O200k.load();
    let disk = Disk::sample(&samples::samples()[0], "", &machine()).expect("a sample");
    let folder = disk.folder().to_owned();
    let mut engine =
        Engine::open(Box::new(disk), Arc::new(models::embedded()), Options::default()).expect("an engine");
    let bench = fs::read_to_string(folder.join("bench.yaml")).expect("the bench");
    let runs = "runs:\n  both:\n    - user: Change the price.\n    - call: [{ Read: { path: api/price.rs } }]\n    \
                - call: [{ Edit: { path: api/price.rs, text: new price } }]\n    \
                - call: [{ Edit: { path: api/new.rs, text: new file } }]\n    - say: Done.\n";
    fs::write(folder.join("bench.yaml"), bench.replacen("runs:\n", runs, 1)).expect("the bench");
    engine.look();
    engine.handle(EngineRequest::Run("both".into()));
    let file = folder.join("project/api/price.rs");
    let read = || fs::read_to_string(&file).expect("the file");
    let (first, new) = (read(), folder.join("project/api/new.rs"));
    sends(&mut engine, 1);
    assert_eq!((read().as_str(), new.exists()), (&*first, false));
    sends(&mut engine, 1);
    assert_eq!((read().as_str(), new.exists()), ("new price", false));
    sends(&mut engine, 1);
    assert!(new.exists());
    engine.look();
    let edits: Vec<String> =
        engine.session().changes().iter().map(|changed| changed.key.to_string()).collect();
    assert_eq!(edits, Vec::<String>::new());
    engine.handle(EngineRequest::Back);
    assert!(!new.exists());
    engine.handle(EngineRequest::Jump(CallNo(1)));
    assert_eq!((read(), new.exists()), (first, false));
    engine.handle(EngineRequest::SetCwd("/home/shop/web".into()));
    engine.look();
    let edits: Vec<String> =
        engine.session().changes().iter().map(|changed| changed.key.to_string()).collect();
    assert_eq!(edits, ["cwd"]);
}

#[test]
fn a_variant_may_choose_the_model_unless_the_user_did() {
    let folder = folder();
    let ways = |model: Option<&str>| {
        let mut engine = open(folder.path(), Options { model: model.map(Into::into), ..run("two") });
        engine.snapshot();
        while engine.work() {}
        let ways = engine.snapshot().why.ways;
        let row = ways.rows.into_iter().find(|row| row.variants == ["claude".into()]).expect("a row");
        row.outcome.expect("its outcome").estimate
    };
    assert!(ways(None));
    assert!(!ways(Some("openai:gpt-5.4")));
}

#[test]
fn layers_of_one_priority_stand_as_listed_in_a_message_too() {
    let folder = folder();
    let mut engine = open(folder.path(), run("two"));
    sends(&mut engine, 1);
    let told = text(&engine.snapshot());
    assert!(told.contains("\n\n<cwd>/w/a</cwd>\n\n<r>1 done</r>"), "{told}");
}

/// What another agent costs is no other way of telling the same.
#[test]
fn a_variant_of_another_agent_is_no_way() {
    Encoding::O200k.load();
    let disk = Disk::sample(samples::find("xbot").expect("a sample"), "", &machine()).expect("it opens");
    let mut engine =
        Engine::open(Box::new(disk), Arc::new(models::embedded()), Options::default()).expect("an engine");
    engine.snapshot();
    while engine.work() {}
    let snapshot = engine.snapshot();
    let named = |name: &str| snapshot.why.ways.rows.iter().any(|row| row.variants == [name.into()]);
    assert!(named("never") && !named("cron"));
    assert!(snapshot.choices.variants.iter().any(|variant| &*variant.name == "cron"));
}
