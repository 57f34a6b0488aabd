//! The sections of the overlay: cases O4 to O7, O17 to O22, O25, O26, O28 and O30.
//!
//! | case | how it is tested |
//! |---|---|
//! | O3, O8, O23, O27 | the numbers are not given to any case |
//! | O22 | the folder of the state is a fact of the bench; which environment variable moves it is the launcher's business |
//! | O26 | in the variant that wants a spec for the newest plan; by default any will do, as in the design |

use super::{Scene, block, evicted};

const SESSION: &str = "project/.omx/state/sessions/omx-1717567890-abc123";

fn modes(scene: &mut Scene) -> Vec<String> {
    section(&block(&scene.session()), "## Active Modes\n\n")
        .map_or(Vec::new(), |section| section.lines().map(str::to_owned).collect())
}

fn section<'b>(block: &'b str, heading: &str) -> Option<&'b str> {
    block.split_once(heading)?.1.split("\n\n").next()
}

fn canonical(scene: &mut Scene, state: &serde_json::Value) {
    scene.put(&format!("{SESSION}/skill-active-state.json"), &state.to_string());
}

fn detail(scene: &mut Scene, mode: &str, state: &str) {
    scene.put(&format!("{SESSION}/{mode}-state.json"), state);
}

fn status(scene: &mut Scene, variants: &[&str]) -> String {
    let block = block(&scene.with(variants));
    section(&block, "## Ralph Planning Gate\n\n").expect("a gate").to_owned()
}

#[test]
fn o04_sections_stand_in_the_order_of_their_priority() {
    let mut scene = Scene::new();
    scene.git(&["init", "-q"]).git(&["add", "AGENTS.md"]);
    let session = scene.with(&["team"]);
    assert_eq!(evicted(&session), []);
    let block = block(&session);
    let headings: Vec<&str> = block.lines().filter(|line| line.starts_with("## ")).collect();
    assert_eq!(
        headings,
        [
            "## Session Metadata",
            "## Native Subagent Routing",
            "## Codebase Map",
            "## Active Modes",
            "## Priority Notes",
            "## Project Context",
            "## Orchestration Mode: team",
            "## Repository Lookup Routing",
            "## Ralph Planning Gate",
            "## Compaction Protocol",
        ]
    );
    assert!(block.contains(
        "## Session Metadata\n\nSession ID: omx-1717567890-abc123\nTimestamp: 2026-03-07T08:00:00.000Z\n\n"
    ));
}

#[test]
fn o05_routing_speaks_of_agent_types_and_of_forks() {
    let block = block(&Scene::new().session());
    let routing = section(&block, "## Native Subagent Routing\n\n").map(|_| {
        let from = block.find("## Native Subagent Routing").expect("it");
        &block[from..block.find("## Active Modes").expect("behind it")]
    });
    let routing = routing.expect("a section");
    assert!(routing.contains("`agent_type`") && routing.contains("分叉时不要再写 `agent_type`"), "{routing}");
}

#[test]
fn o06_the_teams_text_needs_the_mode_and_the_prompt() {
    let mut scene = Scene::new();
    let has = |session: &_| block(session).contains("## Orchestration Mode: team\n\n先把任务拆成");
    assert!(!has(&scene.session()), "no team");
    assert!(has(&scene.with(&["team"])));
    scene.remove("project/prompts/team-orchestrator.md");
    assert!(!has(&scene.with(&["team"])), "no prompt");
}

#[test]
fn o07_the_lookup_section_names_no_command_that_is_gone() {
    let block = block(&Scene::new().session());
    assert!(block.contains("\n\n## Repository Lookup Routing\n\n"));
    assert!(!block.contains("omx explore"));
}

#[test]
fn o17_a_mode_is_one_line_with_its_iteration_and_phase() {
    let mut scene = Scene::new();
    assert_eq!(modes(&mut scene), ["- ralph: iteration 3/10, phase: planning"]);
    for (state, want) in [
        (r#"{ "iteration": 0, "max_iterations": 0 }"#, "- ralph: iteration 0/?, phase: starting"),
        (
            r#"{ "iteration": 3, "current_phase": "from-detail" }"#,
            "- ralph: iteration 3/?, phase: from-detail",
        ),
        ("not JSON", "- ralph: phase: starting"),
    ] {
        detail(&mut scene, "ralph", state);
        assert_eq!(modes(&mut scene), [want], "{state}");
    }
    canonical(&mut scene, &serde_json::json!({ "active_skills": [ { "skill": "x", "active": true } ] }));
    assert_eq!(modes(&mut scene), ["- x: active"]);
}

#[test]
fn o18_a_mode_that_is_not_active_has_no_line() {
    let mut scene = Scene::new();
    canonical(&mut scene, &serde_json::json!({ "active_skills": [ { "skill": "ralph", "active": false } ] }));
    assert!(!block(&scene.session()).contains("Active Modes"));
    // Nor has one that is over.
    canonical(
        &mut scene,
        &serde_json::json!({ "active_skills": [
        { "skill": "ralph", "active": true }, { "skill": "team", "active": true, "phase": "running" },
    ] }),
    );
    detail(&mut scene, "ralph", r#"{ "current_phase": "complete" }"#);
    assert_eq!(modes(&mut scene), ["- team: phase: running"]);
}

#[test]
fn o19_a_fresh_session_sees_no_mode_of_another() {
    let mut scene = Scene::new();
    for file in ["skill-active-state.json", "ralph-state.json"] {
        scene.remove(&format!("{SESSION}/{file}"));
        scene.put(&format!("project/.omx/state/{file}"), r#"{ "active": true, "skill": "ralph", "active_skills": [ { "skill": "ralph", "active": true } ] }"#);
    }
    assert!(!block(&scene.session()).contains("Active Modes"));
}

#[test]
fn o20_two_modes_are_sorted() {
    let mut scene = Scene::new();
    canonical(
        &mut scene,
        &serde_json::json!({ "active_skills": [
        { "skill": "team", "active": true, "phase": "b" }, { "skill": "ralph", "active": true },
    ] }),
    );
    assert_eq!(modes(&mut scene), ["- ralph: iteration 3/10, phase: planning", "- team: phase: b"]);
}

#[test]
fn o21_the_sessions_own_list_decides() {
    let mut scene = Scene::new();
    canonical(&mut scene, &serde_json::json!({ "active_skills": [ { "skill": "team", "active": true } ] }));
    scene.put("project/.omx/state/ralph-state.json", r#"{ "active": true, "iteration": 1 }"#);
    detail(&mut scene, "autoresearch", r#"{ "active": true, "iteration": 9 }"#);
    assert_eq!(modes(&mut scene), ["- team: active"]);
}

#[test]
fn o22_the_state_is_read_where_its_folder_is() {
    let mut scene = Scene::new();
    let bench = scene.text("bench.yaml");
    scene.put("bench.yaml", &bench.replace("state_root: .omx/state ", "state_root: elsewhere/state "));
    assert!(scene.reload());
    assert_eq!(modes(&mut scene), [""; 0]);
    scene.put(
        "project/elsewhere/state/sessions/omx-1717567890-abc123/skill-active-state.json",
        r#"{ "active_skills": [ { "skill": "moved", "active": true } ] }"#,
    );
    assert_eq!(modes(&mut scene), ["- moved: active"]);
}

#[test]
fn o25_a_plan_with_its_test_spec_opens_the_gate_in_any_spelling() {
    let mut scene = Scene::new();
    scene.put("project/.omx/plans/test-spec-checkout.md", "x");
    for variants in [&[][..], &["gate_by_slug"]] {
        assert_eq!(status(&mut scene, variants), "Status: UNLOCKED — PRD and test-spec artifacts exist.");
    }
    scene.remove("project/.omx/plans/test-spec-checkout.md").remove("project/.omx/plans/prd-checkout.md");
    scene.put("project/.omx/plans/PRD-checkout.md", "x").put("project/.omx/plans/testspec-checkout.md", "x");
    assert!(status(&mut scene, &["gate_by_slug"]).starts_with("Status: UNLOCKED"));
}

#[test]
fn o26_only_the_variant_wants_the_spec_of_the_same_plan() {
    let mut scene = Scene::new();
    scene.put("project/.omx/plans/test-spec-other.md", "x");
    assert!(status(&mut scene, &[]).starts_with("Status: UNLOCKED"));
    assert_eq!(
        status(&mut scene, &["gate_by_slug"]),
        "Status: BLOCKED — No test-spec found. Run $ralplan first.\n- Missing: `test-spec-checkout.md`"
    );
}

#[test]
fn o28_a_file_of_another_kind_is_no_plan() {
    let mut scene = Scene::new();
    scene.remove("project/.omx/plans/prd-checkout.md").put("project/.omx/plans/prd.json", "{}");
    scene.put("project/.omx/plans/test-spec-a.md", "x");
    for variants in [&[][..], &["gate_by_slug"]] {
        assert!(status(&mut scene, variants).starts_with("Status: BLOCKED — No PRD found."));
    }
}

#[test]
fn o29_the_gate_is_always_there_unless_the_variant_wants_ralph() {
    let mut scene = Scene::new();
    canonical(&mut scene, &serde_json::json!({ "active_skills": [] }));
    assert!(status(&mut scene, &[]).starts_with("Status: BLOCKED"));
    assert!(!block(&scene.with(&["gate_while_ralph"])).contains("## Ralph Planning Gate"));
    canonical(&mut scene, &serde_json::json!({ "active_skills": [ { "skill": "ralph", "active": true } ] }));
    assert!(status(&mut scene, &["gate_while_ralph"]).starts_with("Status: BLOCKED"));
}

#[test]
fn o30_who_decides_the_orchestration_mode() {
    let mut scene = Scene::new();
    let bench = scene.text("bench.yaml");
    let root = r#"{ "active": true, "skill": "team", "active_skills": [] }"#;
    scene.put("project/.omx/state/skill-active-state.json", root);
    // The skill that was asked for, the state of the session, and whether the team's text is there.
    let cases = [
        ("team", Some(r#"{ "active": false, "skill": "ralph", "active_skills": [] }"#), true),
        ("review", Some(root), false),
        ("", Some(root), true),
        ("", Some(r#"{ "active": true, "skill": "ralph", "active_skills": [] }"#), false),
        ("", Some(r#"{ "active": false, "skill": "team", "active_skills": [] }"#), false),
        ("", Some(r#"{ "skill": "team", "active_skills": [] }"#), false),
        ("", Some(r#"{ "active": "true", "skill": "team", "active_skills": [] }"#), false),
        ("", Some("not JSON"), false),
        ("", None, false),
    ];
    for (skill, state, want) in cases {
        scene.put("bench.yaml", &bench.replace("skill: \"\"", &format!("skill: \"{skill}\"")));
        scene.reload();
        let path = format!("{SESSION}/skill-active-state.json");
        match state {
            Some(state) => scene.put(&path, state),
            None => scene.remove(&path),
        };
        let block = block(&scene.session());
        assert_eq!(block.contains("## Orchestration Mode: team"), want, "{skill:?} {state:?}");
    }
    // Without a session, the file at the root decides.
    scene.put("bench.yaml", &bench);
    scene.reload();
    assert!(block(&scene.with(&["no_session"])).contains("## Orchestration Mode: team"));
}
