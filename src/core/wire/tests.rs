//! What is written is read: both directions of the wire layer against each other.

use std::sync::Arc;

use proptest::prelude::*;

use super::lossless::Json;
use super::*;
use crate::core::fact::EventId;
use crate::core::text::Made;

fn traced(text: &str) -> Traced {
    Traced::whole("x", text, Made::Literal, EventId::OPENING)
}

fn block(kind: BlockKind, name: &str, tool: Option<&str>, message: Option<u32>, text: &str) -> Arc<Block> {
    Block::new(kind, name.into(), tool.map(Into::into), message.map(MessageId), traced(text))
}

fn request(blocks: Vec<Arc<Block>>, marks: Vec<MarkAt>) -> Request {
    Request {
        params: Arc::default(),
        call: CallNo(1),
        turn: 1,
        agent: "main".into(),
        model: "vendor:model-1".into(),
        at: 0,
        blocks,
        shared: 0,
        marks,
    }
}

/// A request with everything that a bench can say.
fn sample() -> Request {
    let tool = r#"{"name":"Read","description":"读","parameters":{"type":"object"}}"#;
    request(
        vec![
            block(BlockKind::Tool, "Read", None, None, tool),
            block(BlockKind::System, "system", None, None, "你是助手。\n"),
            block(BlockKind::System, "more", None, None, "Be brief."),
            block(BlockKind::User, "user", None, Some(2), "go"),
            block(BlockKind::User, "user", None, Some(2), "on"),
            block(BlockKind::User, "developer", None, Some(3), "calm"),
            block(BlockKind::Assistant, "assistant", None, Some(4), "I look."),
            block(BlockKind::ToolUse, "call_1", Some("Read"), Some(4), r#"{"path":"a"}"#),
            block(BlockKind::ToolUse, "call_2", Some("Read"), Some(4), "{}"),
            block(BlockKind::ToolResult, "call_1", Some("Read"), Some(5), "text\u{200b}"),
            block(BlockKind::ToolResult, "call_2", Some("Read"), Some(6), ""),
        ],
        vec![MarkAt { block: 0, ttl: 3600 }, MarkAt { block: 2, ttl: 300 }, MarkAt { block: 10, ttl: 300 }],
    )
}

#[test]
fn a_body_is_that_of_its_api() {
    let wanted = [
        concat!(
            r#"{"model":"model-1","tools":[{"name":"Read","description":"读","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral","ttl":"1h"}}],"#,
            r#""system":[{"type":"text","text":"你是助手。\n"},{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],"#,
            r#""messages":[{"role":"user","content":[{"type":"text","text":"go"},{"type":"text","text":"on"}]},"#,
            r#"{"role":"system","content":[{"type":"text","text":"calm"}]},"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"call_1","name":"Read","input":{"path":"a"}},{"type":"tool_use","id":"call_2","name":"Read","input":{}}]},"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"text"#,
            "\u{200b}",
            r#""},{"type":"tool_result","tool_use_id":"call_2","content":"","cache_control":{"type":"ephemeral"}}]}]}"#,
        ),
        concat!(
            r#"{"model":"model-1","tools":[{"type":"function","function":{"name":"Read","description":"读","parameters":{"type":"object"}}}],"#,
            r#""messages":[{"role":"system","content":"你是助手。\n"},{"role":"system","content":"Be brief."},"#,
            r#"{"role":"user","content":[{"type":"text","text":"go"},{"type":"text","text":"on"}]},{"role":"developer","content":"calm"},"#,
            r#"{"role":"assistant","content":"I look.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"Read","arguments":"{\"path\":\"a\"}"}},{"id":"call_2","type":"function","function":{"name":"Read","arguments":"{}"}}]},"#,
            r#"{"role":"tool","tool_call_id":"call_1","content":"text"#,
            "\u{200b}",
            r#""},{"role":"tool","tool_call_id":"call_2","content":""}]}"#,
        ),
        concat!(
            r#"{"model":"model-1","instructions":"你是助手。\n","tools":[{"type":"function","name":"Read","description":"读","parameters":{"type":"object"}}],"#,
            r#""input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"Be brief."}]},"#,
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go"},{"type":"input_text","text":"on"}]},"#,
            r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"calm"}]},"#,
            r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},"#,
            r#"{"type":"function_call","call_id":"call_1","name":"Read","arguments":"{\"path\":\"a\"}"},{"type":"function_call","call_id":"call_2","name":"Read","arguments":"{}"},"#,
            r#"{"type":"function_call_output","call_id":"call_1","output":"text"#,
            "\u{200b}",
            r#""},{"type":"function_call_output","call_id":"call_2","output":""}]}"#,
        ),
        concat!(
            r#"{"systemInstruction":{"parts":[{"text":"你是助手。\n"},{"text":"Be brief."}]},"#,
            r#""tools":[{"functionDeclarations":[{"name":"Read","description":"读","parameters":{"type":"object"}}]}],"#,
            r#""contents":[{"role":"user","parts":[{"text":"go"},{"text":"on"},{"text":"calm"}]},"#,
            r#"{"role":"model","parts":[{"text":"I look."},{"functionCall":{"name":"Read","args":{"path":"a"}}},{"functionCall":{"name":"Read","args":{}}}]},"#,
            r#"{"role":"user","parts":[{"functionResponse":{"name":"Read","response":{"output":"text"#,
            "\u{200b}",
            r#""}}},{"functionResponse":{"name":"Read","response":{"output":""}}}]}]}"#,
        ),
    ];
    for (format, wanted) in Format::ALL.into_iter().zip(wanted) {
        assert_eq!(body(&sample(), format), wanted, "{format}");
    }
}

#[test]
fn a_definition_goes_from_any_format_to_any() {
    let spelled = [
        r#"{"name":"R","description":"d","input_schema":{"type":"object","maximum":1.0}}"#,
        r#"{"type":"function","function":{"name":"R","description":"d","parameters":{"type":"object","maximum":1.0}}}"#,
        r#"{"type":"function","name":"R","description":"d","parameters":{"type":"object","maximum":1.0}}"#,
        r#"{"name":"R","description":"d","parametersJsonSchema":{"type":"object","maximum":1.0}}"#,
    ];
    for from in spelled {
        for (format, to) in Format::ALL.into_iter().zip(spelled) {
            assert_eq!(tool_definition(from, format), to, "{from} as {format}");
        }
    }
    // What is more than the three fields stays in its own format, and what only one vendor has stays everywhere.
    let strict = r#"{"type":"function","name":"R","parameters":{},"strict":true}"#;
    assert_eq!(tool_definition(strict, Format::OpenaiResponses), strict);
    assert_eq!(tool_definition(strict, Format::Anthropic), r#"{"name":"R","input_schema":{}}"#);
    let vendors = r#"{"type":"web_search_20250305","name":"web_search","max_uses":3}"#;
    let free = r#"{"type":"custom","name":"apply_patch","format":{"type":"text"}}"#;
    for format in Format::ALL {
        assert_eq!(tool_definition(vendors, format), vendors);
        assert_eq!(tool_definition(free, format), free);
    }
    assert_eq!(
        tool_definition(r#"{"name":"R"}"#, Format::Anthropic),
        r#"{"name":"R","input_schema":{"type":"object","properties":{}}}"#
    );
    let marked = r#"{"name":"R","input_schema":{}, "cache_control": {"type":"ephemeral"}}"#;
    assert_eq!(tool_definition(marked, Format::Anthropic), r#"{"name":"R","input_schema":{}}"#);
}

#[test]
fn what_is_not_modelled_is_kept_as_it_is() {
    let text = concat!(
        r#"{"model":"claude-x","max_tokens":1e3,"messages":[{"role":"user","content":[{"type":"image","source":{"data":"AA"}},{"type":"text","text":"what?"}]},"#,
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"t1","name":"Look","input":{"a" : 1.0}}]},"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"a"},{"type":"image","source":{}},{"type":"text","text":"b"}]}]}]}"#,
    );
    let document = Document::read(text).expect("it is a request");
    let shown: Vec<String> = document
        .items
        .iter()
        .map(|item| {
            format!(
                "{:?} {} {} {:?} {} {:?}",
                item.kind, item.name, item.tool, item.message, item.path, item.text
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            "Other image  Some(0) messages[0].content[0] \"\"",
            "User   Some(0) messages[0].content[1] \"what?\"",
            "Other thinking  Some(1) messages[1].content[0] \"\"",
            "ToolUse t1 Look Some(1) messages[1].content[1] \"{\\\"a\\\":1.0}\"",
            "ToolResult t1 Look Some(2) messages[2].content[0] \"ab\"",
            "Other image  Some(2) messages[2].content[0] \"\"",
        ]
    );
    assert_eq!(document.settings[0].value, "1e3");
    assert_eq!(document.with(&|item| Some(item.text.clone())), text);
    let changed = document.with(&|item| (item.kind == ItemKind::User).then(|| "你\n".into()));
    assert_eq!(changed, text.replace("what?", "你\\n"));
}

#[test]
fn results_without_ids_belong_to_calls_in_order() {
    let text = concat!(
        r#"{"contents":[{"role":"model","parts":[{"text":"hm","thought":true},{"functionCall":{"name":"A"}},{"functionCall":{"name":"B","args":{}}},{"functionCall":{"name":"A","args":{"n":2}},"thoughtSignature":"x"}]},"#,
        r#"{"role":"user","parts":[{"functionResponse":{"name":"B","response":{"result":"b"}}},{"function_response":{"name":"A","response":{"x":1, "y":[]}}},{"functionResponse":{"name":"A","response":{"error":"no"}}}]}]}"#,
    );
    let document = Document::read(text).expect("it is a request");
    let calls: Vec<(Option<usize>, &str)> =
        document.items.iter().map(|item| (item.call, &*item.text)).collect();
    assert_eq!(
        calls,
        [
            (None, ""),
            (Some(1), "{}"),
            (Some(2), "{}"),
            (Some(3), "{\"n\":2}"),
            (Some(2), "b"),
            (Some(1), "{\"x\":1,\"y\":[]}"),
            (Some(3), "no"),
        ]
    );
    assert_eq!(document.items[0].kind, ItemKind::Other);
}

#[test]
fn a_log_around_a_body_is_looked_through() {
    let text = r#" {"request": {"method": "POST", "body": {"model": "m", "input": "x"}}, "response": {}}"#;
    let document = Document::read(text).expect("it is a request");
    assert_eq!(&text[document.body.clone()], r#"{"model": "m", "input": "x"}"#);
    assert_eq!((document.format, document.model.as_deref()), (Format::OpenaiResponses, Some("m")));
    assert_eq!(document.with(&|_| Some("y".into())), text.replace("\"x\"", "\"y\""));
    assert_eq!(Document::read("{\"a\":1}").expect_err("no request"), Unreadable::Unknown);
    assert!(matches!(Document::read("{"), Err(Unreadable::Json(_))));
}

/// A text as people and programs write them.
fn text() -> impl Strategy<Value = String> {
    "[a-z \\n\"\\\\<>/{}%\\u{4e00}-\\u{4e10}\\u{1f642}\\u{200b}\\t\\r\\u{1}]{0,12}"
}

/// Blocks of one message; the number is set where they are put together.
fn messages() -> impl Strategy<Value = Vec<Vec<(BlockKind, String, String)>>> {
    let user =
        (prop_oneof![Just("user"), Just("developer"), Just("system")], prop::collection::vec(text(), 1..3))
            .prop_map(|(role, texts)| {
                texts.into_iter().map(|text| (BlockKind::User, role.to_owned(), text)).collect::<Vec<_>>()
            });
    let url = prop_oneof![
        "https://[a-z]{1,5}/[a-z\"\\\\]{0,5}",
        "[A-Za-z0-9+/]{0,9}".prop_map(|data| format!("data:image/png;base64,{data}")),
    ];
    let shown = (text(), url).prop_map(|(said, url)| {
        vec![
            (BlockKind::User, "user".to_owned(), said),
            (BlockKind::Image, "user".to_owned(), url.clone()),
            (BlockKind::Image, "user".to_owned(), url),
        ]
    });
    let calls = (prop::option::of(text()), prop::collection::vec((text(), "[a-z]{1,4}"), 0..3)).prop_map(
        |(said, calls)| {
            let mut blocks = Vec::new();
            blocks.extend(said.map(|text| (BlockKind::Assistant, "assistant".to_owned(), text)));
            for (value, tool) in calls {
                blocks.push((
                    BlockKind::ToolUse,
                    tool,
                    serde_json::json!({ "a": value, "b": 1.5 }).to_string(),
                ));
            }
            blocks
        },
    );
    prop::collection::vec(prop_oneof![user, calls, shown], 0..6)
}

fn requests() -> impl Strategy<Value = Request> {
    let tool = ("[a-z]{1,5}", text(), 0..4usize).prop_map(|(name, about, shape)| {
        let schema = serde_json::json!({ "type": "object", "required": [about] });
        match shape {
            0 => serde_json::json!({ "name": name, "description": about, "input_schema": schema }),
            1 => {
                serde_json::json!({ "type": "function", "function": { "name": name, "parameters": schema } })
            }
            2 => {
                serde_json::json!({ "type": "function", "name": name, "description": about, "strict": true })
            }
            _ => serde_json::json!({ "name": name }),
        }
        .to_string()
    });
    let parts = (
        prop::collection::vec(tool, 0..4),
        prop::collection::vec(text(), 0..3),
        messages(),
        prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(vec![300u32, 3600])), 0..4),
        text(),
    );
    parts.prop_map(|(tools, system, messages, marks, result)| {
        let mut blocks = Vec::new();
        for text in &tools {
            blocks.push(block(BlockKind::Tool, "tool", None, None, text));
        }
        for (index, text) in system.iter().enumerate() {
            blocks.push(block(BlockKind::System, &format!("s{index}"), None, None, text));
        }
        let (mut message, mut call) = (1, 0);
        for said in &messages {
            message += 1;
            let mut open = Vec::new();
            for (kind, name, text) in said {
                if *kind == BlockKind::ToolUse {
                    call += 1;
                    let id = format!("call_{call}");
                    blocks.push(block(*kind, &id, Some(name), Some(message), text));
                    open.push((id, name));
                } else {
                    blocks.push(block(*kind, name, None, Some(message), text));
                }
            }
            for (id, tool) in open {
                message += 1;
                blocks.push(block(BlockKind::ToolResult, &id, Some(tool), Some(message), &result));
            }
        }
        let mut marked: Vec<MarkAt> = Vec::new();
        for (index, ttl) in marks {
            if !blocks.is_empty() {
                let block = index.index(blocks.len());
                if marked.iter().all(|mark| mark.block != block) {
                    marked.push(MarkAt { block, ttl });
                }
            }
        }
        marked.sort_by_key(|mark| mark.block);
        request(blocks, marked)
    })
}

/// What of a block has to come back.
#[derive(Debug, PartialEq)]
struct Back {
    kind: ItemKind,
    text: String,
    tool: String,
    call: Option<usize>,
    mark: Option<u32>,
}

proptest! {
    #[test]
    fn a_request_survives_its_body(request in requests()) {
        for format in Format::ALL {
            let body = body(&request, format);
            prop_assert!(serde_json::from_str::<serde_json::Value>(&body).is_ok(), "{}", body);
            let document = Document::read_as(body.as_str(), format).expect("it is JSON");
            let mut calls = 0;
            let mut wanted: Vec<Back> = Vec::new();
            // A system message in front of the conversation cannot be told from the system prompt.
            let mut leading = matches!(format, Format::OpenaiChat | Format::OpenaiResponses);
            for (index, block) in request.blocks.iter().enumerate() {
                let text = block.text.text().to_string();
                let mark = request.marks.iter().find(|mark| mark.block == index).map(|mark| mark.ttl);
                let mark = mark.filter(|_| format == Format::Anthropic);
                leading &= block.kind.zone() != Zone::Messages || matches!(&*block.name, "system" | "developer");
                let mut back = Back { kind: ItemKind::Other, text, tool: String::new(), call: None, mark };
                match block.kind {
                    BlockKind::Tool => {
                        back.kind = ItemKind::Tool;
                        back.text = tool_definition(&back.text, format);
                    }
                    BlockKind::System => back.kind = ItemKind::System,
                    BlockKind::User if leading => back.kind = ItemKind::System,
                    BlockKind::User => back.kind = ItemKind::User,
                    BlockKind::Image => back.kind = ItemKind::Image,
                    BlockKind::Assistant => back.kind = ItemKind::Assistant,
                    BlockKind::ToolUse => {
                        calls += 1;
                        back.kind = ItemKind::ToolUse;
                        back.call = Some(calls);
                    }
                    BlockKind::ToolResult => {
                        back.kind = ItemKind::ToolResult;
                        let id: usize = block.name["call_".len()..].parse().expect("a number");
                        back.call = Some(id);
                    }
                }
                back.tool = block.tool.as_deref().unwrap_or_default().to_owned();
                wanted.push(back);
            }
            let got: Vec<Back> = document
                .items
                .iter()
                .map(|item| Back {
                    kind: item.kind,
                    text: item.text.to_string(),
                    tool: item.tool.to_string(),
                    call: item.call,
                    mark: item.mark.map(|mark| mark.ttl.unwrap_or(300)),
                })
                .collect();
            prop_assert_eq!(&got, &wanted, "{} {}", format, body);
            prop_assert_eq!(document.with(&|item| Some(item.text.clone())), body);
        }
    }

    #[test]
    fn nothing_that_is_json_makes_the_reader_panic(
        at in any::<prop::sample::Index>(), with in prop::sample::select(vec!["null", "7", "\"x\"", "[]", "{}", "[{}]", "[[\"x\"]]"]),
    ) {
        for format in Format::ALL {
            let text = body(&sample(), format);
            // Any value of a body is replaced by something that does not belong there.
            let mut spans = Vec::new();
            all(&Json::parse(&text).expect("JSON"), &mut spans);
            let span = spans[at.index(spans.len())].clone();
            let broken = format!("{}{with}{}", &text[..span.start], &text[span.end..]);
            let document = Document::read_as(broken.as_str(), format).expect("it is still JSON");
            prop_assert_eq!(document.with(&|item| Some(item.text.clone())), broken);
        }
    }
}

fn all(json: &Json, spans: &mut Vec<std::ops::Range<usize>>) {
    spans.push(json.span.clone());
    json.items().iter().for_each(|item| all(item, spans));
    json.members().iter().for_each(|member| all(&member.value, spans));
}
