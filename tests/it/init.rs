//! `init`: benches for folders and from recorded requests, which `check` then finds byte-identical.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;

use plywood::core::fact::{FactKey, Found};
use plywood::core::run::{Load, Player};
use plywood::core::wire::{Comparison, Document, Equality, Format, compare};
use plywood::io::bench_file::{BenchFile, Machine};
use plywood::io::init;
use plywood::io::load::{Loader, fixed_clock};

use crate::cli::{Ran, plywood};
use crate::wire::fixtures;

const RULES: &str = "# 商城规则\n\n- 价格一律用「分」。\n- Never log customer data <email>, even in tests.\n";

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

fn run(folder: &Path, args: &[&str]) -> Ran {
    let output = plywood().current_dir(folder).args(args).output().expect("the program starts");
    Ran {
        status: output.status.code().expect("it ends by itself"),
        stdout: String::from_utf8(output.stdout).expect("data is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("messages are UTF-8"),
    }
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/wire").join(name)
}

#[test]
fn a_bench_for_a_folder_is_written_once() {
    let folder = folder(&[
        ("shop/CLAUDE.md", RULES),
        ("shop/skills/a/SKILL.md", "---\nname: review\ndescription: Reviews code.\n---\nDo it.\n"),
    ]);
    let ran = run(folder.path(), &["init", "shop"]);
    assert_eq!(
        (ran.status, ran.stdout.as_str(), ran.stderr.as_str()),
        (0, "wrote shop/bench.yaml\nlayers from CLAUDE.md, skills\n", "")
    );
    let before = fs::read_to_string(folder.path().join("shop/bench.yaml")).expect("it is there");
    let ran = run(folder.path(), &["build", "shop", "--now", "2026-04-01T09:00:00Z"]);
    let shop = folder.path().canonicalize().expect("a path").join("shop");
    assert_eq!(
        ran.stdout,
        format!(
            "=== system (system)\nYou are a coding agent.\n\n{RULES}\n\nSkills:\n- review: Reviews code.\n\n\
             <environment>\nFolder: {}\nDate: 2026-04-01\n</environment>\n=== cache mark, 300 s\n\n\
             === message 2, user\nWhat does this project do?\n",
            shop.display()
        )
    );
    let ran = run(folder.path(), &["init", "shop"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""));
    assert_eq!(
        ran.stderr,
        "error: the file is there already\n --> shop/bench.yaml\n  = hint: nothing is overwritten; take it away, or name \
         another folder\n"
    );
    assert_eq!(fs::read_to_string(folder.path().join("shop/bench.yaml")).expect("it is there"), before);
    let ran = run(folder.path(), &["init", "none"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (2, "error: there is no folder `none`\n"));
}

#[test]
fn an_empty_folder_gets_a_bench_too() {
    let folder = folder(&[]);
    assert_eq!(run(folder.path(), &["init"]).status, 0);
    let ran = run(folder.path(), &["check", "."]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ".: nothing found\n"));
    // Its instructions wait for their file.
    fs::write(folder.path().join("AGENTS.md"), RULES).expect("a file");
    assert!(run(folder.path(), &["build", "."]).stdout.contains(RULES));
}

#[test]
fn a_recording_becomes_a_bench_that_is_what_was_sent() {
    for (name, spelling, _) in fixtures() {
        for rules in [true, false] {
            let files = [("AGENTS.md", RULES), ("docs/other.md", "Nothing of this was sent.")];
            let folder = folder(if rules { &files } else { &files[1..] });
            let from = fixture(&format!("{name}.{spelling}.json"));
            let ran = run(folder.path(), &["init", "--from", &from.to_string_lossy()]);
            let told = format!("{name} as {spelling}: {}{}", ran.stdout, ran.stderr);
            assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{told}");
            assert!(ran.stdout.contains("./bench.yaml: byte-identical (call "), "{told}");
            assert_eq!(ran.stdout.contains("layers from AGENTS.md\n"), rules, "{told}");
            let ran = run(folder.path(), &["check", ".", "--against", &from.to_string_lossy()]);
            assert_eq!(ran.status, 0, "{}", ran.stdout);
            if rules {
                // The file is read, not copied: what it says now is what would be sent now.
                let text = RULES.replace(" even", "  even");
                fs::write(folder.path().join("AGENTS.md"), text).expect("a file");
                let ran = run(folder.path(), &["check", ".", "--against", &from.to_string_lossy()]);
                assert_eq!(ran.status, 1, "{}", ran.stdout);
                let second = ran.stdout.lines().nth(1).expect("a difference");
                assert!(second.contains("AGENTS.md AGENTS.md:4:36: a space is too much"), "{second}");
            }
        }
    }
}

#[test]
fn what_is_written_can_be_read_by_people() {
    let folder = folder(&[("AGENTS.md", RULES)]);
    let from = fixture("responses.pretty.json");
    run(folder.path(), &["init", "--from", &from.to_string_lossy()]);
    let bench = fs::read_to_string(folder.path().join("bench.yaml")).expect("it is there");
    let name = folder.path().file_name().expect("a name").to_string_lossy().into_owned();
    insta::assert_snapshot!(bench.replace(&name, "NAME").replace("\"NAME\"", "NAME"));
}

/// The bench of a recording, opened and compared.
fn compared(recorded: &Document, files: &[(&str, &str)]) -> (String, Comparison) {
    struct Edge<'a>(&'a mut Loader);
    impl Load for Edge<'_> {
        fn load(&mut self, keys: &[FactKey]) -> Vec<(FactKey, Found)> {
            keys.iter().map(|key| (key.clone(), self.0.load(key))).collect()
        }
    }
    let folder = folder(files);
    let machine = Machine { clock: fixed_clock("2026-04-01T09:00:00Z"), home: None };
    let draft = init::from_recording(recorded, "request.json", folder.path(), &machine);
    draft.write(folder.path()).expect("nothing is there");
    let bench = &draft.files[0].1;
    let shown = |problem: &dyn std::fmt::Display| format!("{problem}\n{bench}");
    let mut file = BenchFile::open(folder.path(), &machine).unwrap_or_else(|p| panic!("{}", shown(&p[0])));
    let (opened, _) = file.bench(&[]).unwrap_or_else(|p| panic!("{}", shown(&p[0])));
    let mut player = Player::start(opened, None, &mut Edge(file.loader())).expect("it starts");
    let call = recorded.answers() as u32 + 1;
    while player.session().next_call().0 < call
        && player.beat(&mut Edge(file.loader())).unwrap_or_else(|refused| panic!("{}", shown(&refused)))
    {}
    let request = player.session().request(plywood::core::wire::CallNo(call));
    let request = request.unwrap_or_else(|| panic!("there is no call {call}\n{bench}"));
    (format!("{bench}\n{:?}", draft.notes), compare(&request, recorded))
}

/// A text as it stands in prompts.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z \\n{}%#\"':\\-<>\\u{4e00}\\u{1f642}\\u{200b}\\t\\r]{1,16}",
        2 => Just(format!("<r>\n{RULES}</r>")),
        1 => Just(RULES.trim().to_owned()),
        1 => "[a-z\\n]{1,9}".prop_map(|text| format!("{RULES}{text}")),
        1 => Just("<env>{{ cwd }}</env>".to_owned()),
    ]
}

/// What the user says, and what the model says and calls, with results.
type Beat = (Vec<String>, Option<String>, Vec<(String, String)>);

/// The messages of a conversation as they can really be: answers between texts, results for all calls.
fn conversation() -> impl Strategy<Value = Vec<Beat>> {
    let calls = prop::collection::vec((text(), text()), 0..3);
    prop::collection::vec((prop::collection::vec(text(), 1..4), prop::option::of(text()), calls), 1..4)
}

/// A body in a format, with the last message a user's.
fn body(format: Format, system: &[String], conversation: &[Beat], apart: bool) -> serde_json::Value {
    use serde_json::json;
    let mut messages: Vec<serde_json::Value> = Vec::new();
    let mut id = 0;
    let mut results: Vec<(String, String)> = Vec::new();
    for (index, (texts, said, calls)) in conversation.iter().enumerate() {
        match format {
            Format::Anthropic => {
                let mut parts: Vec<serde_json::Value> = results
                    .drain(..)
                    .map(|(id, text)| json!({ "type": "tool_result", "tool_use_id": id, "content": text }))
                    .collect();
                parts.extend(texts.iter().map(|text| json!({ "type": "text", "text": text })));
                messages.push(json!({ "role": "user", "content": parts }));
            }
            _ => {
                for (id, text) in results.drain(..) {
                    messages.push(json!({ "role": "tool", "tool_call_id": id, "content": text }));
                }
                if apart {
                    messages.extend(texts.iter().map(|text| json!({ "role": "user", "content": text })));
                } else {
                    let parts: Vec<_> =
                        texts.iter().map(|text| json!({ "type": "text", "text": text })).collect();
                    messages.push(json!({ "role": "user", "content": parts }));
                }
            }
        }
        if index + 1 == conversation.len() {
            break;
        }
        let mut parts = Vec::new();
        let mut called = Vec::new();
        for (argument, result) in calls {
            id += 1;
            let id = format!("id-{id}");
            let input = json!({ "a": argument, "n": 1.0 });
            parts.push(json!({ "type": "tool_use", "id": id, "name": "Tool", "input": input }));
            let arguments = serde_json::to_string_pretty(&input).expect("JSON");
            called.push(json!({ "id": id, "type": "function", "function": { "name": "Tool", "arguments": arguments } }));
            results.push((id, result.clone()));
        }
        let said = if calls.is_empty() { said.clone().or(Some("ok".to_owned())) } else { said.clone() };
        match format {
            Format::Anthropic => {
                if let Some(said) = said {
                    parts.insert(0, json!({ "type": "text", "text": said }));
                }
                messages.push(json!({ "role": "assistant", "content": parts }));
            }
            _ if called.is_empty() => messages.push(json!({ "role": "assistant", "content": said })),
            _ => messages.push(json!({ "role": "assistant", "content": said, "tool_calls": called })),
        }
    }
    match format {
        Format::Anthropic => {
            let mut blocks: Vec<_> =
                system.iter().map(|text| json!({ "type": "text", "text": text })).collect();
            // Every system block can be marked.
            if let Some(first) = blocks.first_mut() {
                first["cache_control"] = json!({ "type": "ephemeral", "ttl": "1h" });
            }
            json!({ "model": "claude-x", "max_tokens": 9, "system": blocks, "messages": messages })
        }
        _ => {
            let mut all: Vec<_> =
                system.iter().map(|text| json!({ "role": "system", "content": text })).collect();
            all.extend(messages);
            json!({ "model": "m", "messages": all })
        }
    }
}

/// A chat body as one of the Responses API, in which every second message of the user is the developer's.
fn responses(chat: &serde_json::Value) -> String {
    use serde_json::json;
    let mut input = Vec::new();
    let mut user = 0;
    for message in chat["messages"].as_array().expect("a list") {
        let role = message["role"].as_str().expect("a role");
        if role == "tool" {
            let (id, output) = (&message["tool_call_id"], &message["content"]);
            input.push(json!({ "type": "function_call_output", "call_id": id, "output": output }));
            continue;
        }
        let kind = if role == "assistant" { "output_text" } else { "input_text" };
        let text = |text: &serde_json::Value| json!({ "type": kind, "text": text });
        let parts: Vec<_> = match &message["content"] {
            serde_json::Value::Array(parts) => parts.iter().map(|part| text(&part["text"])).collect(),
            serde_json::Value::Null => Vec::new(),
            content => vec![text(content)],
        };
        user += usize::from(role == "user");
        let role = if role == "user" && user % 2 == 0 { "developer" } else { role };
        if !parts.is_empty() {
            input.push(json!({ "type": "message", "role": role, "content": parts }));
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            let (id, name, arguments) = (&call["id"], &function["name"], &function["arguments"]);
            input.push(
                json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments }),
            );
        }
    }
    json!({ "model": "m", "instructions": "Be good.", "input": input }).to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn any_conversation_becomes_a_bench_that_sends_it(
        system in prop::collection::vec(text(), 0..4),
        conversation in conversation(),
        apart in any::<bool>(),
        format in prop::sample::select(vec![Format::Anthropic, Format::OpenaiChat, Format::OpenaiResponses]),
        prefill in any::<bool>(),
    ) {
        let mut body = body(if format == Format::OpenaiResponses { Format::OpenaiChat } else { format }, &system, &conversation, apart);
        if prefill {
            let messages = body["messages"].as_array_mut().expect("a list");
            messages.push(serde_json::json!({ "role": "assistant", "content": "Sure:" }));
        }
        let body = if format == Format::OpenaiResponses { responses(&body) } else { body.to_string() };
        let recorded = Document::read_as(body.as_str(), format).expect("it is JSON");
        let (bench, comparison) = compared(&recorded, &[("AGENTS.md", RULES)]);
        prop_assert_eq!(comparison.equality, Equality::ByteIdentical, "{:#?}\n{}\n{}", comparison.differences, bench, body);
    }
}
