//! How the agent is started with the file that was made for its session: case O65, on a bench of its own, since what a
//! program is started with is not what its model is told.

use plywood::core::fact::Value;
use plywood::core::run::Input;

use crate::scene::{Files, Scene, system};

/// The arguments, one a line: those that were given, and the file, unless it is named already or switched off.
const BENCH: &str = r#"
bench: 1
name: launch
model: openai:gpt-5.4
agent: { session: omx-1717567890-abc123 }
workspace: { path: project, shown_as: /home/app, clock: "2026-03-07T08:00:00Z" }
facts: { args: [], bypass: "", custom: "", scoped: true }
places: { start: { of: system } }
layers:
  - id: start
    in: start
    from:
      text: >-
        {% set path = custom or (workspace ~ "/.omx/state/sessions/" ~ session ~ "/AGENTS.md" if scoped else workspace ~ "/AGENTS.md") %}
        {%- set named = args | select("startingwith", "model_instructions_file=") | list + args | select("startingwith", "--config=model_instructions_file=") | list %}
        {%- set all = args if named or bypass == "0" else args + ["-c", 'model_instructions_file="' ~ path | replace("\\", "\\\\") | replace('"', '\\"') ~ '"'] %}
        {{- all | join(" ") }}
runs: { none: [] }
"#;

/// The arguments that the agent is started with.
fn started(facts: &[(&str, Value)]) -> String {
    let mut scene = Scene::of(BENCH, &[], Files::of_sample("omx"));
    scene.take(Input::Set(facts.iter().map(|(name, value)| ((*name).into(), value.clone())).collect()));
    scene.user("go");
    system(&scene.next()).to_owned()
}

fn list(args: &[&str]) -> Value {
    Value::list(args.iter().map(|arg| Value::text(*arg)))
}

const SESSION: &str =
    r#"-c model_instructions_file="/home/app/.omx/state/sessions/omx-1717567890-abc123/AGENTS.md""#;

#[test]
fn o65_the_agent_is_started_with_the_file_of_its_session() {
    assert_eq!(started(&[("args", list(&["--full-auto"]))]), format!("--full-auto {SESSION}"));
    // Not where it is named already, in whichever way.
    for given in [
        &["-c", r#"model_instructions_file="/x.md""#][..],
        &["--config", r#"model_instructions_file="/x.md""#],
        &[r#"--config=model_instructions_file="/x.md""#],
    ] {
        assert_eq!(started(&[("args", list(given))]), given.join(" "));
    }
    // Other settings are none of it.
    let other = started(&[("args", list(&["-c", "model=\"o3\""]))]);
    assert_eq!(other, format!("-c model=\"o3\" {SESSION}"));
    // Switched off, another path, and the project's own file without one for the session.
    assert_eq!(started(&[("args", list(&["x"])), ("bypass", Value::text("0"))]), "x");
    let custom = started(&[("custom", Value::text(r#"C:\rules "a".md"#))]);
    assert_eq!(custom, r#"-c model_instructions_file="C:\\rules \"a\".md""#);
    let plain = started(&[("scoped", Value::Bool(false))]);
    assert_eq!(plain, r#"-c model_instructions_file="/home/app/AGENTS.md""#);
}
