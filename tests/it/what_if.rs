//! What a change would do, before it is made: against what it does once it was made.

use serde_json::Value as Json;

use crate::cli::run;

fn tried(args: &[&str]) -> Vec<Json> {
    let ran =
        run(&[&["what-if", "xbot", "--models", "openai:gpt-5.4,anthropic:claude-sonnet-5", "--json"], args]
            .concat());
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let json: Json = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(json["schema"], "plywood.what-if/1");
    json["changes"].as_array().expect("changes").clone()
}

fn gpt<'a>(change: &'a Json, key: &str) -> &'a Json {
    &change["models"]["openai:gpt-5.4"][key]
}

#[test]
fn a_change_of_directory_costs_nothing_now_and_all_of_it_in_the_next_turn() {
    // Call 4 waits; the directory has been told and goes back: turn 2 has nothing to rebuild, so it loses less.
    let [there, back] = &tried(&["--call", "4", "cwd=/home/shop/web", "cwd=/home/shop"])[..] else {
        panic!("two")
    };
    assert_eq!(there["now"], serde_json::json!(["dynamic_context"]));
    assert_eq!((gpt(there, "lost"), gpt(there, "lost_more")), (&0.into(), &0.into()), "{there}");
    assert_eq!(there["later"][0]["layer"], "system_prompt");
    assert!(gpt(back, "lost_more").as_i64().expect("a number") < 0, "{back}");
    // Before the first call it is built into the prompt at once, and nothing breaks.
    let [first] = &tried(&["--call", "1", "cwd=/home/shop/web"])[..] else { panic!("one") };
    assert_eq!(first["now"][0], "system_prompt");
}

#[test]
fn an_edit_breaks_where_it_is_and_waiting_breaks_nothing_but_the_cache() {
    let [edit] = &tried(&["--variant", "no_cwd_in_base", "--call", "5", "edit=prompt.md"])[..] else {
        panic!("one")
    };
    assert_eq!(edit["now"], serde_json::json!(["system_prompt"]));
    // In turn 2 the system prompt is built again.
    assert_eq!((&edit["broken"]["call"], &edit["broken"]["layer"]), (&5.into(), &"system_prompt".into()));
    let [short, long] = &tried(&["--call", "3", "wait=1m", "wait=25h"])[..] else { panic!("two") };
    assert_eq!(gpt(short, "lost"), &0);
    assert_eq!(gpt(long, "verdict"), "expired");
    assert!(gpt(long, "lost").as_u64().expect("a number") > 0);
    assert!(gpt(long, "more").as_f64().expect("a price") > 0.0);
}

#[test]
fn tools_layers_and_models_say_what_they_break() {
    let changes = tried(&[
        "--call",
        "2",
        "tools=-Grep",
        "move=channel:system_prompt",
        "model=anthropic:claude-sonnet-5",
    ]);
    let [tools, moved, model] = &changes[..] else { panic!("three") };
    assert_eq!(tools["broken"]["zone"], "tools");
    assert_eq!(moved["broken"]["zone"], "system");
    assert!(gpt(moved, "lost").as_u64().expect("a number") > 1_000, "{moved}");
    let hits = model["models"].as_object().expect("models");
    assert_eq!(
        hits.keys().collect::<Vec<_>>(),
        ["anthropic:claude-sonnet-5"],
        "only the model that is switched to"
    );
    assert_eq!(hits["anthropic:claude-sonnet-5"]["verdict"], "model_changed");
    // Nobody has to name the model twice.
    let [other] = &tried(&["--call", "2", "model=openai:gpt-4o"])[..] else { panic!("one") };
    assert_eq!(other["models"]["openai:gpt-4o"]["verdict"], "model_changed", "{other}");
}

#[test]
fn what_was_foretold_is_what_happens() {
    // The scripted run changes the directory in call 1: without it, what it would do is what the run shows.
    let [change] = &tried(&["--call", "2", "wait=25h"])[..] else { panic!("one") };
    let told = gpt(change, "lost").as_u64().expect("a number");
    let folder = tempfile::tempdir().expect("a folder");
    for (path, content) in plywood::io::samples::find("xbot").expect("the sample").files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, content).expect("a file");
    }
    let file = folder.path().join("bench.yaml");
    let text = std::fs::read_to_string(&file).expect("the bench");
    let text = text.replacen(
        "    - call: [{ Cd: { path: api } }]\n",
        "    - call: [{ Cd: { path: api } }]\n    - advance: 25h\n",
        1,
    );
    std::fs::write(&file, text).expect("a file");
    let ran = run(&["run", folder.path().to_str().expect("UTF-8"), "--until", "2", "--json"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let second: Json = serde_json::from_str(ran.stdout.lines().nth(1).expect("a call")).expect("JSON");
    assert_eq!(second["cache"]["openai:gpt-5.4"]["lost"].as_u64(), Some(told));
}

#[test]
fn some_of_each_kind_are_tried_by_themselves_and_slips_are_told() {
    let ran = run(&["what-if", "xbot", "--models", "gpt-5.4"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    for id in ["(cwd=", "(edit=", "(tools=-", "(tools=reversed)", "(move=", "(wait=6m)", "(wait=25h)"] {
        assert!(ran.stdout.contains(id), "{id}: {}", ran.stdout);
    }
    for (change, want) in [
        ("color=red", "`color=red` is no change"),
        ("edit=nothing.md", "no text of this call comes from the file `nothing.md`"),
        ("tools=-Bash", "write - and one of Shell"),
        ("move=channel:user_message", "`channel` cannot pass `user_message`"),
        ("move=00_base:channel", "there is no layer `00_base`; the ids are system_prompt,"),
        ("wait=soon", "write a number with a unit"),
        ("wait=99999999h", "write a number with a unit, at most 100 years"),
        ("model=gpt", "write provider:model"),
    ] {
        let ran = run(&["what-if", "xbot", change]);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{change}");
        assert!(ran.stderr.contains(want), "{change}: {}", ran.stderr);
    }
    assert!(run(&["what-if", "xbot", "--call", "99"]).stderr.contains("there is no call 99"));
}
