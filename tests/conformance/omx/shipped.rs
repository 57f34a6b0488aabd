//! What the program in use writes, on a small bench of its own: cases O1, O2, O24, O26, O29 and O51.

use super::{END, START, Scene, block};

const MODES: &str = "project/.omx/state/sessions/s1/skill-active-state.json";
const RALPH: &str = r#"{ "active_skills": [ { "skill": "ralph", "active": true, "phase": "planning" } ] }"#;

fn gate(scene: &mut Scene) -> Option<String> {
    let block = block(&scene.session());
    let from = block.find("**Ralph Ralplan-First Gate:**")?;
    Some(block[from..].split("\n\n").next().expect("a section").to_owned())
}

#[test]
fn o01_an_empty_project_has_its_session_and_the_compaction_protocol() {
    let block = block(&Scene::shipped().session());
    assert!(block.starts_with(&format!(
        "{START}\n<session_context>\n**Session:** s1 | 2026-03-07T08:00:00.000Z\n\n**Native Subagent Routing:**\n"
    )));
    assert!(block.contains("\n\n**Compaction Protocol:**\n"));
    assert!(block.ends_with(&format!("\n</session_context>\n{END}")));
    for label in ["Codebase Map", "Active Modes", "Priority Notes", "Project Context", "Gate"] {
        assert!(!block.contains(label), "{label}");
    }
}

#[test]
fn o02_without_a_session_it_is_unknown() {
    let mut scene = Scene::shipped();
    assert!(block(&scene.with(&["no_session"])).contains("**Session:** unknown | "));
}

#[test]
fn o24_the_gate_names_what_is_missing() {
    let mut scene = Scene::shipped();
    scene.put(MODES, RALPH);
    let said = gate(&mut scene).expect("a gate");
    assert!(
        said.starts_with("**Ralph Ralplan-First Gate:** BLOCKED\n- Requirement: complete planning artifacts")
    );
    assert!(said.ends_with("\n- Missing: `prd-*.md`, `test-spec-*.md`\n- Path: `.omx/plans/`"), "{said}");
    scene.put("project/.omx/plans/prd-cart.md", "x");
    assert!(gate(&mut scene).expect("a gate").contains("\n- Missing: `test-spec-*.md`\n"));
    scene.remove("project/.omx/plans/prd-cart.md").put("project/.omx/plans/test-spec-cart.md", "x");
    assert!(gate(&mut scene).expect("a gate").contains("\n- Missing: `prd-*.md`\n"));
}

#[test]
fn o26_a_test_spec_of_another_plan_opens_nothing_and_the_right_one_is_named() {
    let mut scene = Scene::shipped();
    scene
        .put(MODES, RALPH)
        .put("project/.omx/plans/prd-cart.md", "x")
        .put("project/.omx/plans/test-spec-login.md", "x");
    let said = gate(&mut scene).expect("a gate");
    assert!(said.contains("BLOCKED") && said.contains("\n- Missing: `test-spec-cart.md`\n"), "{said}");
    assert!(!said.contains("present"), "{said}");
    scene.put("project/.omx/plans/test-spec-cart.md", "x");
    let said = gate(&mut scene).expect("a gate");
    assert!(
        said.contains("UNLOCKED") && said.contains("\n- Planning artifacts present: PRD + test spec\n"),
        "{said}"
    );
    // A newer plan, told by the time in its name, has no spec yet; then one without its time, which is not enough.
    scene.put("project/.omx/plans/prd-20260301T080000Z-cart.md", "x");
    assert!(gate(&mut scene).expect("a gate").contains("- Missing: `test-spec-20260301t080000z-cart.md`"));
    scene.put("project/.omx/plans/test-spec-20260301T080000Z-cart.md", "x");
    assert!(gate(&mut scene).expect("a gate").contains("UNLOCKED"));
}

#[test]
fn o29_without_ralph_there_is_no_gate() {
    let mut scene = Scene::shipped();
    assert_eq!(gate(&mut scene), None);
    // Its own state file alone makes it not active, nor does an entry that is not.
    scene.put("project/.omx/state/sessions/s1/ralph-state.json", r#"{ "active": true }"#);
    assert_eq!(gate(&mut scene), None);
    scene.put(MODES, &RALPH.replace("true", "false"));
    assert_eq!(gate(&mut scene), None);
    scene.put(MODES, RALPH);
    assert!(gate(&mut scene).is_some());
}

#[test]
fn o51_the_map_is_grouped_by_the_parts_of_the_tree() {
    let mut scene = Scene::shipped();
    let files = [
        "src/top.ts",
        "src/a/b/deep.ts",
        "src/cli/index.ts",
        "src/hooks/overlay.ts",
        "src/hooks/session.ts",
        "src/hooks/index.ts",
        "scripts/notify.mjs",
        "bin/omx.js",
        "lib/z.ts",
        "lib/a.tsx",
        "root.js",
        ".github/x.js",
        ".omx/own.js",
        "README.md",
        "src/style.css",
    ];
    for file in files {
        scene.put(&format!("project/{file}"), "x");
    }
    scene.git(&["init", "-q"]).git(&["add", "-f", "."]);
    let block = block(&scene.session());
    let map = block.split("**Codebase Map:**\n").nth(1).and_then(|rest| rest.split("\n\n").next());
    assert_eq!(
        map,
        Some(
            "  src/: top\n  src/a/: deep\n  src/cli/: index\n  src/hooks/: overlay, session\n  scripts/: notify\n  \
             bin/: omx\n  lib/: a, z\n  (root): root\n  .github/: x"
        )
    );
}
