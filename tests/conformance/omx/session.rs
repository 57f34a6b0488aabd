//! The file that is made for a session: cases O60, O62 and O63, and what a worker of a team is given.
//!
//! | case | why it is not here |
//! |---|---|
//! | O61 | the number is not given to any case |
//! | O64, O66 | they stand with locks and crashes |
//! | O65 | in `launch.rs` |
//! | the helper that marks generated files | in `marked.rs` |

use std::fs;

use plywood::core::fact::{Base, FilePath};
use plywood::core::wire::CallNo;

use super::{END, START, Scene, system};

const USER: &str = "project/AGENTS.md";
const GENERATED: &str = "<!-- omx:generated:agents-md -->";

/// The file as the request that waits has it.
fn file(session: &plywood::core::run::Session) -> (String, String) {
    let files = session.place_files(CallNo(session.next_call().0));
    let [(path, Some(text))] = &*files else { panic!("one file, not {files:?}") };
    assert_eq!(path.base, Base::Workspace);
    (path.path.to_string(), text.to_string())
}

fn order(text: &str, parts: &[&str]) {
    let mut from = 0;
    for part in parts {
        let at = text[from..].find(part);
        from += at.unwrap_or_else(|| panic!("no {part:?} behind byte {from} of {text}")) + part.len();
    }
}

#[test]
fn o60_the_file_is_the_users_rules_the_projects_and_the_overlay() {
    let mut scene = Scene::new();
    // Blocks of an earlier session in both sources are not taken over, and the sources are not touched.
    let stale = format!("\n{START}\nyesterday\n{END}\n");
    let user = format!("\n\n{}{stale}\n", scene.text("home/.codex/AGENTS.md"));
    let project = format!("{}{stale}", scene.text(USER));
    scene.put("home/.codex/AGENTS.md", &user).put(USER, &project);
    let session = scene.session();
    let (path, text) = file(&session);
    assert_eq!(path, ".omx/state/sessions/omx-1717567890-abc123/AGENTS.md");
    assert!(
        text.starts_with("# 我的习惯\n\n- 回答用中文") && text.ends_with(&format!("\n{END}\n")),
        "{text}"
    );
    order(
        &text,
        &[
            "SKILL.md` 的步骤。\n\n# 商店后端\n",
            "要有用例走到。",
            &format!("\n\n{START}\n## Session Metadata"),
        ],
    );
    assert_eq!((text.matches(START).count(), text.matches("yesterday").count()), (1, 0));
    assert_eq!(text, format!("{}\n", system(&session)), "what is written is what is sent");
    assert_eq!((scene.text("home/.codex/AGENTS.md"), scene.text(USER)), (user, project));

    // An agent that finds both rules files itself gets the overlay alone.
    let (_, text) = file(&scene.with(&["overlay_only"]));
    assert!(text.starts_with(&format!("{START}\n")) && text.ends_with(&format!("\n{END}\n")));
}

#[test]
fn o60_one_source_may_be_missing_or_blank() {
    let mut scene = Scene::new();
    scene.put("home/.codex/AGENTS.md", " \n\n").remove(USER);
    assert!(file(&scene.session()).1.starts_with(START));
    scene.put(USER, "rules");
    assert!(file(&scene.session()).1.starts_with(&format!("rules\n\n{START}")));
}

#[test]
fn o62_a_skill_of_both_scopes_is_named_once() {
    let mut scene = Scene::new();
    let (users, projects) = ("~/.codex/skills/review/SKILL.md", "`.codex/skills/review/SKILL.md`");
    // By default the user's counts; in the variant the project's.
    let text = file(&scene.session()).1;
    assert_eq!((text.contains(users), text.contains(projects)), (true, false));
    let text = file(&scene.with(&["project_skills_win"])).1;
    assert_eq!((text.contains(users), text.contains(projects)), (false, true));
    assert!(text.contains("~/.codex/skills/sketch/SKILL.md"), "a skill that only the user has stays");
    // Of a line that names another skill, too, only the reference goes.
    let both = "- 先 `~/.codex/skills/review/SKILL.md` 和 `~/.codex/skills/sketch/SKILL.md`。\n";
    scene.put("home/.codex/AGENTS.md", both);
    let text = file(&scene.with(&["project_skills_win"])).1;
    assert!(text.starts_with("- 先 `~/.codex/skills/sketch/SKILL.md`。\n"), "{text}");
    // A folder without its SKILL.md stands in front of nothing.
    scene.remove("project/.codex/skills/review/SKILL.md");
    assert!(file(&scene.with(&["project_skills_win"])).1.contains(users));
}

#[test]
fn o63_a_generated_project_file_is_left_out_and_a_managed_block_of_it() {
    let mut scene = Scene::new();
    let managed = "<!-- OMX:AGENTS:START -->\nmade\n<!-- OMX:AGENTS:END -->";
    scene.put(USER, &format!("# head\n\n{managed}\n\nfoot\n"));
    let text = file(&scene.session()).1;
    order(&text, &["\n\n# head\n", "foot\n\n", START]);
    assert!(!text.contains("made"));
    // The sign of a generated file inside of the managed block says nothing of the rest.
    scene.put(USER, &format!("# head\n\n{}\n", managed.replace("made", GENERATED)));
    assert!(file(&scene.session()).1.contains("\n\n# head\n\n"));
    scene.put(USER, &format!("{GENERATED}\n# head\n"));
    assert!(!file(&scene.session()).1.contains("# head"));
    // In a sentence it is no sign.
    scene.put(USER, &format!("Do not write `{GENERATED}` yourself.\n"));
    assert!(file(&scene.session()).1.contains("Do not write"));
    // The user's own file is kept, whoever wrote it; and a managed block without its end is left alone.
    scene.put("home/.codex/AGENTS.md", &format!("{GENERATED}\n# mine\n"));
    scene.put(USER, "# head\n<!-- OMX:AGENTS:START -->\nfoot\n");
    let text = file(&scene.session()).1;
    order(&text, &[GENERATED, "# mine", "# head\n<!-- OMX:AGENTS:START -->\nfoot"]);
}

#[test]
fn what_is_found_twice_stands_twice() {
    let mut scene = Scene::new();
    let twice = |session: &plywood::core::run::Session| {
        let request = session.request(CallNo(1)).expect("a request");
        let all: String = request.blocks.iter().map(|block| block.text.text().to_string()).collect();
        all.matches("金额以分为单位").count()
    };
    assert_eq!(twice(&scene.session()), 1);
    assert_eq!(twice(&scene.with(&["discovered"])), 2);
    assert_eq!(twice(&scene.with(&["discovered", "overlay_only"])), 1);
}

/// An agent whose home was moved finds the project's rules itself, and the user's nowhere: the file carries them.
#[test]
fn where_the_home_is_another_the_users_rules_are_carried_along() {
    let mut scene = Scene::new();
    let carried = "  carried: { facts.discovered: true, layers.found_user_rules.when: \"false\", layers.project_rules.when: \"false\" }\n  overlay_only:";
    let bench = scene.text("bench.yaml");
    scene.put("bench.yaml", &bench.replace("  overlay_only:", carried));
    assert!(scene.reload());
    let session = scene.with(&["carried"]);
    let text = file(&session).1;
    order(&text, &["# 我的习惯", START]);
    assert!(!text.contains("# 商店后端"));
    let request = session.request(CallNo(1)).expect("a request");
    let all: String = request.blocks.iter().map(|block| block.text.text().to_string()).collect();
    assert_eq!((all.matches("# 我的习惯").count(), all.matches("# 商店后端").count()), (1, 1));
}

#[test]
fn a_worker_has_the_rules_and_an_overlay_of_its_own() {
    let mut scene = Scene::new();
    let (path, text) = file(&scene.with(&["worker"]));
    assert_eq!(path, ".omx/state/team/checkout/worker-agents.md");
    order(
        &text,
        &[
            "# 我的习惯",
            "# 商店后端",
            "<!-- OMX:TEAM:WORKER:START -->\n<team_worker_protocol>\n你是团队 checkout 的队员 worker-1",
        ],
    );
    assert!(
        text.ends_with("\n</team_worker_protocol>\n<!-- OMX:TEAM:WORKER:END -->\n") && !text.contains(START)
    );
    let (path, text) = file(&scene.with(&["worker_role"]));
    assert_eq!(path, ".omx/state/team/checkout/workers/worker-1/AGENTS.md");
    assert!(text.ends_with("<!-- OMX:TEAM:ROLE:START -->\n你是实现者：先读相关的测试，再改代码，最后跑一遍你那一份的测试。\n<!-- OMX:TEAM:ROLE:END -->\n"));
    // The project's skills win where that is chosen, and no project file is needed.
    assert!(!file(&scene.with(&["worker", "project_skills_win"])).1.contains("~/.codex/skills/review/"));
    scene.remove(USER);
    order(&file(&scene.with(&["worker"])).1, &["# 我的习惯", "<!-- OMX:TEAM:WORKER:START -->"]);
}

#[test]
fn a_table_of_models_is_a_block_of_its_own() {
    let text = file(&Scene::new().with(&["model_table"])).1;
    assert!(text.ends_with(
        "<!-- OMX:MODELS:START -->\n## Model Capability Table\n\n| 角色 | 模型 |\n|---|---|\n| 规划 | gpt-5.4 |\n\
         | 实现 | gpt-5.4-codex |\n<!-- OMX:MODELS:END -->\n"
    ), "{text}");
}

#[test]
fn what_was_checkpointed_survives_a_compaction_and_what_was_said_is_lost() {
    let mut scene = Scene::new();
    let (bench, _) = scene.file.bench(&[]).expect("a bench");
    let mut session = plywood::core::run::Session::new(bench.clone());
    let mut sent = Vec::new();
    for line in bench.runs["compaction"].iter() {
        if line.input.answers() {
            let request = session.request(CallNo(session.next_call().0)).expect("a request waits");
            let texts = request.blocks.iter().map(|block| block.text.text().to_string());
            sent.push(texts.collect::<Vec<_>>().join("\n"));
        }
        scene.take(&mut session, line.input.clone());
    }
    let last = sent.last().expect("a request");
    order(
        last,
        &[
            "- ralph: iteration 4/10, phase: split into tasks",
            "- 进度：任务 1、2 已拆好",
            "任务已拆分",
            "退款按什么价",
        ],
    );
    assert!(!last.contains("退款按原价") && !last.contains("先定下金额的规则"), "{last}");
    // Within the turn the block stood as it was made.
    assert!(sent[3].contains("- ralph: iteration 3/10") && !sent[3].contains("- ralph: iteration 4/10"));
}

#[test]
fn a_run_reads_the_file_as_it_was_sent_last() {
    let mut scene = Scene::new();
    let mut session = scene.session();
    let first = file(&session).1;
    let path = FilePath::new(Base::Workspace, file(&session).0);
    let written = |session: &plywood::core::run::Session, call: u32| {
        let mut written = session.written(CallNo(call));
        written.find(|(file, _)| **file == path).and_then(|(_, text)| text.cloned())
    };
    assert_eq!(written(&session, 1), None, "nothing was sent yet");
    scene.say(&mut session, "好");
    scene.put("project/.omx/notepad.md", "## PRIORITY\nnew\n");
    scene.ask(&mut session);
    scene.say(&mut session, "好");
    assert_eq!(written(&session, 1).as_deref(), Some(&*first));
    assert!(written(&session, 2).is_some_and(|text| text.contains("## Priority Notes\n\nnew\n")));
    assert!(
        !fs::exists(scene.path(&format!("project/{}", path.path))).expect("a folder"),
        "a run writes no disk"
    );
}
