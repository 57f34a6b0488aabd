//! A prompt builder of eight layers: cases N1 to N5, N7 to N21, N23, N25 and N28, on the Chinese sample, and that the
//! English one is built alike.
//!
//! | case | why it is not here |
//! |---|---|
//! | N6, N22, N24, N26, N27 | the numbers have gaps |

use std::sync::Arc;

use plywood::core::fact::Value;
use plywood::core::run::Input;
use plywood::core::source::Piece;
use plywood::core::wire::{BlockKind, Request};
use plywood::io::server::{self, Preview, Refusal};

use crate::scene::{Files, Scene, bench, everything, system};

const BASE: [&str; 5] = ["bash", "read_file", "write_file", "list_dir", "todo"];

/// What a case sets before the user says something.
struct Case {
    files: Files,
    facts: Vec<(&'static str, Value)>,
    model: Option<&'static str>,
    tools: Option<&'static [&'static str]>,
    said: &'static str,
}

impl Case {
    /// Nothing but the identity: no skills, no memory, no crew.
    fn bare() -> Case {
        Case {
            files: Files::of_sample("netaclaw").without("skills/"),
            facts: vec![("memory", Value::Bool(false))],
            model: None,
            tools: None,
            said: "客户问订单什么时候能到，按我的偏好简洁回复。",
        }
    }

    /// With the sample's skills.
    fn skills(mut self) -> Case {
        self.files = Files::of_sample("netaclaw");
        self
    }

    fn fact(mut self, name: &'static str, value: impl Into<Value>) -> Case {
        self.facts.push((name, value.into()));
        self
    }

    fn memory(self) -> Case {
        self.fact("memory", Value::Bool(true))
    }

    fn master(self) -> Case {
        self.fact("crew", Value::text("master"))
    }

    fn model(mut self, model: &'static str) -> Case {
        self.model = Some(model);
        self
    }

    fn tools(mut self, tools: &'static [&'static str]) -> Case {
        self.tools = Some(tools);
        self
    }

    fn built(self, variants: &[&str]) -> Scene {
        let mut scene = Scene::sample(self.files, variants);
        scene.take(Input::Set(self.facts.into_iter().map(|(name, value)| (name.into(), value)).collect()));
        if let Some(model) = self.model {
            scene.take(Input::Model(model.into()));
        }
        if let Some(tools) = self.tools {
            scene.take(Input::Tools(tools.iter().map(|tool| Arc::from(*tool)).collect()));
        }
        scene.user(self.said);
        scene
    }

    fn build(self) -> Scene {
        self.built(&[])
    }
}

fn tools(request: &Request) -> Vec<String> {
    request
        .blocks
        .iter()
        .filter(|block| block.kind == BlockKind::Tool)
        .map(|block| block.name.to_string())
        .collect()
}

/// The layers of the system prompt: title and text, without what joins them.
fn layers(scene: &Scene) -> Vec<(String, String)> {
    let bench = scene.session.bench();
    let mut layers = Vec::new();
    for state in scene.prepared().layers.iter() {
        let layer = bench.layer(&state.id).expect("a layer");
        if let (Piece::Text { text, .. }, "system") = (&state.state.piece, &*layer.place) {
            layers.push((layer.shown().to_string(), text.text().to_string()));
        }
    }
    layers
}

fn titles(scene: &Scene) -> Vec<String> {
    layers(scene).into_iter().map(|(title, _)| title).collect()
}

fn layer(scene: &Scene, title: &str) -> Option<String> {
    layers(scene).into_iter().find(|(known, _)| known == title).map(|(_, text)| text)
}

/// The guidance for a model.
fn guidance(model: &'static str) -> Option<String> {
    layer(&Case::bare().model(model).build(), "模型特定指导")
}

/// The strategies of these tools.
fn behaviour(names: &'static [&'static str]) -> Option<String> {
    layer(&Case::bare().tools(names).build(), "工具行为策略")
}

#[test]
fn n1_no_flag_gives_the_five_base_tools_in_order() {
    assert_eq!(tools(&Case::bare().build().next()), BASE);
}

#[test]
fn n2_memory_brings_its_two_tools() {
    assert_eq!(tools(&Case::bare().memory().build().next())[5..], ["memory_save", "memory_recall"]);
}

#[test]
fn n3_skills_bring_three_tools() {
    let names = ["read_skill", "read_skill_file", "skill_manage"];
    assert_eq!(tools(&Case::bare().skills().build().next())[5..], names);
}

#[test]
fn n4_a_master_delegates() {
    let names = ["delegate_task", "delegate_parallel", "escalate"];
    assert_eq!(tools(&Case::bare().master().build().next())[5..], names);
}

#[test]
fn n5_a_sub_has_the_base_tools() {
    let sub = Case::bare().fact("crew", Value::text("sub")).build();
    assert_eq!(tools(&sub.next()), BASE);
}

#[test]
fn n7_claude_needs_no_guidance() {
    assert_eq!(guidance("anthropic:claude-sonnet-4-20250514"), None);
}

#[test]
fn n8_minimax_is_told_to_call_one_tool_at_a_time() {
    assert!(guidance("minimax:MiniMax-M2.7-highspeed").expect("a rule").contains("一次只调用一个工具"));
}

#[test]
fn n9_gpt_is_told_to_persist() {
    assert!(guidance("openai:gpt-4o-2024-08-06").expect("a rule").contains("tool_persistence"));
}

#[test]
fn n10_deepseek_is_told_to_call_in_parallel() {
    assert!(guidance("deepseek:deepseek-chat").expect("a rule").contains("并行工具调用"));
}

#[test]
fn n11_an_unknown_model_gets_the_default() {
    for model in
        ["x:some-unknown-model-v1", "x:kimi-k2", "google:gemini-2.5-pro", "x:qwq", "x:o", "x:ERNIE-4.0"]
    {
        assert!(guidance(model).expect("a rule").contains("事实性问题"), "{model}");
    }
}

#[test]
fn n12_doubao_is_told_of_flags() {
    assert!(guidance("volc:doubao-pro-32k").expect("a rule").contains("非交互标志"));
}

#[test]
fn n13_todo_brings_planning() {
    assert!(behaviour(&["bash", "todo"]).expect("a strategy").contains("任务规划策略"));
}

#[test]
fn n14_memory_tools_bring_their_strategy() {
    assert!(behaviour(&["memory_save", "memory_recall"]).expect("a strategy").contains("记忆使用策略"));
}

#[test]
fn n15_tools_without_a_strategy_bring_none() {
    assert_eq!(behaviour(&["bash", "read_file"]), None);
}

#[test]
fn n16_base_tools_on_minimax() {
    let scene = Case::bare().model("minimax:MiniMax-M2.7-highspeed").build();
    let prompt = system(&scene.next()).to_owned();
    for text in
        ["你是电商助手", "工具使用规范", "一次只调用一个工具", "任务规划策略", "模型: MiniMax-M2.7-highspeed"]
    {
        assert!(prompt.contains(text), "{text}");
    }
    assert!(!prompt.contains("记忆系统"));
    assert_eq!(titles(&scene), ["Agent 身份", "工具使用纪律", "模型特定指导", "工具行为策略", "元信息"]);
}

#[test]
fn n17_skills_and_memory_on_gpt() {
    let scene = Case::bare().skills().memory().build();
    let prompt = system(&scene.next()).to_owned();
    for text in [
        "你是电商助手",
        "tool_persistence",
        "available_skills",
        "playwright-cli",
        "记忆系统",
        "<memory-context>",
        "用户偏好：简洁回复",
    ] {
        assert!(prompt.contains(text), "{text}");
    }
    // The index was made once, from the skills and the tools that are there: what needs a tool of a master is left out.
    let record = scene.prepared();
    let index = record.layer("skills").expect("a layer");
    let left_out: Vec<&str> = index.state.choice.left_out.iter().map(|item| &*item.name).collect();
    assert_eq!(left_out, ["team-review"]);
    let master = Case::bare().skills().master().build();
    assert!(layer(&master, "Skill 索引").expect("an index").contains("team-review"));
}

#[test]
fn n18_a_crew_on_claude() {
    let scene = Case::bare().master().model("anthropic:claude-sonnet-4-5").build();
    let text = layer(&scene, "Crew 编排上下文").expect("the crew");
    assert!(text.starts_with(
        "## 你的团队成员\n\n- data (数据员): 核对订单和库存数据，已具备技能: order-check、csv-report\n"
    ));
    assert!(text.contains("\n- writer (文案): 无角色描述，简介: 熟悉平台的商品描述规范\n"), "{text}");
    assert!(text.contains("## 编排工具说明") && !text.contains("## 调度建议"));
    assert_eq!(layer(&scene, "模型特定指导"), None);
    let advised = Case::bare().master().fact("advice", Value::text("先拆分")).build();
    assert!(layer(&advised, "Crew 编排上下文").expect("the crew").contains("\n\n## 调度建议\n\n先拆分\n\n"));
}

#[test]
fn n19_an_empty_system_prompt_is_no_layer() {
    let scene = Case::bare().fact("identity", Value::text("")).build();
    assert_eq!(titles(&scene)[0], "工具使用纪律");
    let blank = Case::bare().fact("identity", Value::text("  ")).build();
    assert_eq!(layers(&blank)[0], ("Agent 身份".to_owned(), "  ".to_owned()));
}

#[test]
fn n20_everything_on_gives_eight_layers_in_order() {
    let all = [
        "Agent 身份",
        "工具使用纪律",
        "模型特定指导",
        "工具行为策略",
        "Skill 索引",
        "记忆系统",
        "Crew 编排上下文",
        "元信息",
    ];
    assert_eq!(titles(&Case::bare().skills().memory().master().build()), all);
}

#[test]
fn n21_the_prompt_is_its_layers_joined() {
    for scene in [
        Case::bare().build(),
        Case::bare().skills().memory().master().build(),
        Case::bare().model("anthropic:claude-sonnet-4-5").fact("identity", Value::text("")).build(),
    ] {
        let texts: Vec<String> = layers(&scene).into_iter().map(|(_, text)| text).collect();
        assert_eq!(system(&scene.next()), texts.join("\n\n"));
    }
    // Three of them begin with line ends of their own.
    let prompt = system(&Case::bare().skills().memory().build().next()).to_owned();
    assert!(prompt.contains("\n\n\n\n## 技能（必须扫描）") && prompt.contains("\n\n\n\n## 记忆系统"));
    assert!(prompt.contains("</memory-context>\n\n\n---\n当前时间: 2026-04-01T01:00:00.000Z\n模型: gpt-4o"));
    let smallest = Case::bare().model("x:claude-x").tools(&[]).fact("identity", Value::text("ID")).build();
    assert_eq!(system(&smallest.next()), "ID\n\n\n---\n当前时间: 2026-04-01T01:00:00.000Z\n模型: claude-x");
}

#[test]
fn n23_memory_without_a_context_and_a_context_without_memory() {
    let nothing = Case { said: "quartz", ..Case::bare().memory() }.build();
    let text = layer(&nothing, "记忆系统").expect("memory is on");
    assert!(text.starts_with("\n\n## 记忆系统") && !text.contains("<memory-context>"));
    let off = Case::bare().build();
    assert!(!everything(&off.next()).contains("用户偏好"));
    assert!(!everything(&off.next()).contains("<memory-context>"));
}

#[test]
fn n25_nothing_at_all_leaves_the_closing_lines() {
    let scene = Case::bare().tools(&[]).model("anthropic:claude-x").fact("identity", Value::text("")).build();
    assert_eq!(titles(&scene), ["元信息"]);
}

#[test]
fn n28_a_preview_has_no_memory_and_may_have_no_model() {
    let scene = Case::bare().model("").build();
    assert!(system(&scene.next()).ends_with("\n模型: unknown"));
    assert!(!titles(&scene).contains(&"记忆系统".to_owned()));
}

/// A preview from a client's fields.
fn preview(sample: &str, body: &str) -> Result<Preview, Refusal> {
    let mut files = Files::of_sample(sample);
    let bench = Arc::new(bench(&files.text("bench.yaml"), &[], &files));
    server::preview(&bench, &mut files, body)
}

#[test]
fn n28_a_preview_takes_identity_skills_and_model_from_its_body() {
    let of = |body: &str| preview("netaclaw", body).expect("a preview");
    let names =
        |preview: &Preview| preview.layers.iter().map(|layer| layer.name.to_string()).collect::<Vec<_>>();
    let bare = of("{}");
    assert!(bare.prompt.ends_with("\n模型: unknown"), "{}", bare.prompt);
    assert_eq!(names(&bare), ["工具使用纪律", "模型特定指导", "工具行为策略", "Skill 索引", "元信息"]);
    assert!(bare.prompt.contains("事实性问题") && !bare.prompt.contains("记忆系统"));
    assert_eq!(of(r#"{"modelConfig":{}}"#), bare);
    let whole = of(r#"{"systemPrompt":" 你好\n","skills":["order-check"],"modelConfig":{"channelId":2}}"#);
    assert_eq!((&*whole.layers[0].name, &*whole.layers[0].content), ("Agent 身份", " 你好\n"));
    assert!(whole.prompt.ends_with("\n模型: deepseek-chat") && whole.prompt.contains("并行工具调用"));
    assert!(whole.prompt.contains("order-check") && !whole.prompt.contains("csv-report"));
    let texts: Vec<&str> = whole.layers.iter().map(|layer| &*layer.content).collect();
    assert_eq!(whole.prompt, texts.join("\n\n"));
    // A model by name wins over its channel, and is a bare name.
    let named = of(r#"{"modelConfig":{"channelId":2,"modelId":"gpt-4o"},"skills":[]}"#);
    assert!(named.prompt.ends_with("\n模型: gpt-4o") && !named.prompt.contains("available_skills"));
    assert!(!named.prompt.contains("技能管理策略"), "no skills, no tools for them");
    for (body, code) in [
        ("", "malformed"),
        ("[1]", "malformed"),
        (r#"{"systemPrompt":7}"#, "wrong_type"),
        (r#"{"systemPrompt":null}"#, "wrong_type"),
        (r#"{"modelConfig":{"modelId":7}}"#, "wrong_type"),
        (r#"{"modelConfig":{"channelId":9}}"#, "no_value"),
    ] {
        assert_eq!(preview("netaclaw", body).expect_err(body).code, code, "{body}");
    }
    // Whoever sends a body knows its fields, and nothing of the bench.
    for (body, message) in [
        ("{", "the body is not JSON: EOF while parsing an object (line 1, column 1)"),
        (r#"{"systemPrompt":7}"#, "`systemPrompt` (7) must be a text, but is a number"),
        (
            r#"{"modelConfig":{"modelId":7}}"#,
            "the model that `modelConfig.modelId` (7) gives must be a text, but is a number",
        ),
        (r#"{"modelConfig":{"channelId":9}}"#, "nothing comes of `modelConfig.channelId` (9)"),
        (r#"{"modelConfig":[]}"#, "nothing comes of `modelConfig` (a list)"),
    ] {
        assert_eq!(preview("netaclaw", body).expect_err(body).message, message);
    }
    assert_eq!(preview("mao", "{}").expect_err("no preview").code, "no_preview");
    let english = preview("netaclaw-en", r#"{"modelConfig":{"channelId":3}}"#).expect("a preview");
    assert!(english.prompt.ends_with("\nModel: MiniMax-M2.7-highspeed"), "{}", english.prompt);
}

/// What a name only contains is not what it is; the plain substring of the shipped code stays a variant.
#[test]
fn names_that_contain_a_key_are_not_of_its_family() {
    for model in ["x:hunyuan-turbo3", "x:qwen-turbo1", "x:llama-3-pro4", "x:solo1"] {
        assert!(!guidance(model).expect("a rule").contains("tool_persistence"), "{model}");
        let peer = Case::bare().model(model).built(&["peer_match"]);
        assert!(layer(&peer, "模型特定指导").expect("a rule").contains("tool_persistence"), "{model}");
    }
    for model in ["x:chatgpt-4o-latest", "x:o1-mini", "x:openai/o3", "x:gpt-4o"] {
        assert!(guidance(model).expect("a rule").contains("tool_persistence"), "{model}");
    }
    assert!(guidance("x:abab6.5s").expect("a rule").contains("不要自己添加"));
    assert!(guidance("x:qwen2.5").expect("a rule").contains("先读后改"));
    assert!(guidance("x:chatglm3-6b").expect("a rule").contains("绝对路径"));
    assert!(guidance("x:deepseek-r1-distill-qwen-32b").expect("a rule").contains("并行工具调用"));
    assert_eq!(guidance("x:gpt-claude"), None);
    assert_eq!(guidance("x:anthropic/claude-3"), None);
}

/// The winner, what it matched and who came too late are told.
#[test]
fn the_rule_that_was_taken_is_told_with_its_reason() {
    let scene = Case::bare().model("x:deepseek-r1-distill-qwen-32b").build();
    let words = scene.prepared().layer("guidance").and_then(|layer| layer.state.choice.rows_in_words());
    let words = words.expect("a rule was taken");
    assert_eq!(words, "deepseek matched \"deepseek\" in deepseek-r1-distill-qwen-32b; behind it: qwen");
    let scene = Case::bare().model("x:kimi-k2").build();
    let words = scene.prepared().layer("guidance").and_then(|layer| layer.state.choice.rows_in_words());
    assert_eq!(words.expect("the default was taken"), "otherwise: no rule matches kimi-k2");
}

/// `provider:model:variant` is split once.
#[test]
fn a_third_part_of_a_models_name_stays() {
    let scene = Case::bare().model("openai:gpt-4o:free").build();
    assert!(system(&scene.next()).ends_with("\n模型: gpt-4o:free"));
}

/// The first skill that does not fit ends the index, and every one that is left out is listed with its reason.
#[test]
fn the_index_ends_at_the_first_skill_that_does_not_fit() {
    let files = Files::of_sample("netaclaw").with(
        "skills/a-long-one/SKILL.md",
        &format!("---\nname: a-long-one\ndescription: {}\n---\n", "长".repeat(300)),
    );
    let mut scene = Scene::sample(files, &["small_index"]);
    scene.user("你好");
    let index = scene.prepared().layer("skills").expect("a layer").state.choice.clone();
    let reasons: Vec<(&str, &str)> = index.left_out.iter().map(|item| (&*item.name, &*item.reason)).collect();
    assert_eq!(
        reasons,
        [
            ("a-long-one", "over the cap"),
            ("csv-report", "behind one that did not fit"),
            ("order-check", "behind one that did not fit"),
            ("playwright-cli", "behind one that did not fit"),
            ("refund-reply", "behind one that did not fit"),
            ("team-review", "its condition does not hold"),
        ]
    );
    assert_eq!(layer(&scene, "Skill 索引"), None);
}

/// Names, tags and descriptions cannot leave their attribute.
#[test]
fn a_skills_attributes_are_escaped() {
    let files = Files::of_sample("netaclaw").with(
        "skills/evil/SKILL.md",
        "---\nname: '\"><b>'\ndescription: a < b & c\nmetadata: { tags: ['x\"y', z] }\n---\n",
    );
    let mut scene = Scene::sample(files, &[]);
    scene.user("你好");
    let index = layer(&scene, "Skill 索引").expect("an index");
    assert!(index.contains(
        "  <skill name=\"&quot;&gt;&lt;b&gt;\" category=\"通用\" tags=\"x&quot;y,z\">\n    a &lt; b &amp; c\n  </skill>"
    ));
}

/// The English bench differs in its texts only.
#[test]
fn the_english_bench_is_built_alike() {
    let mut chinese = Scene::sample(Files::of_sample("netaclaw"), &[]);
    let mut english = Scene::sample(Files::of_sample("netaclaw-en"), &[]);
    for scene in [&mut chinese, &mut english] {
        scene.take(Input::Set([("crew".into(), Value::text("master"))].into_iter().collect()));
        scene.user("hello");
    }
    let ids = |scene: &Scene| -> Vec<(String, bool)> {
        let layers = scene.prepared().layers.iter();
        layers.map(|layer| (layer.id.to_string(), layer.state.piece.text().is_some())).collect()
    };
    assert_eq!(ids(&chinese), ids(&english));
    assert_eq!(tools(&chinese.next()), tools(&english.next()));
    let prompt = system(&english.next()).to_owned();
    let foreign: String = prompt.chars().filter(|c| ('\u{4e00}'..='\u{9fff}').contains(c)).collect();
    assert_eq!(foreign, "", "English throughout");
    let runs = |scene: &Scene| scene.session.bench().runs.keys().cloned().collect::<Vec<_>>();
    assert_eq!(runs(&chinese), runs(&english));
}
