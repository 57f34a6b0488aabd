//! `audit`: what is one call and what is two, which calls belong together, and what of a prompt is never shown.

use serde_json::{Value, json};

use crate::audit::{audit, call, lines, path, stderr, stdout, written};

/// A call of Chat Completions with the same conversation.
fn chat(model: &str, turns: usize, at: i64, read: u64) -> String {
    let mut body: Value = serde_json::from_str(&call("/home/shop", turns, at, 0, 0)).expect("JSON");
    let body = body["request"]["body"].take();
    let system = json!({ "role": "system", "content": body["system"][0]["text"] });
    let said = body["messages"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|message| json!({ "role": message["role"], "content": message["content"][0]["text"] }));
    let messages: Vec<Value> = std::iter::once(system).chain(said).collect();
    json!({
        "ts": 1_764_500_000 + at,
        "request": { "model": model, "messages": messages },
        "response": { "id": format!("chatcmpl-{model}-{at}"), "usage": { "prompt_tokens": 2_500, "completion_tokens": 3, "prompt_tokens_details": { "cached_tokens": read } } },
    })
    .to_string()
}

fn json_of(args: &[&str]) -> Value {
    let output = audit(&[args, &["--json"]].concat());
    serde_json::from_str(&stdout(&output)).unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)))
}

#[test]
fn a_secret_in_a_prompt_is_shown_nowhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let with = |text: &str, turns: usize, at: i64| {
        let mut line: Value = serde_json::from_str(&call("/home/shop", turns, at, 0, 2_900)).expect("JSON");
        let block = &mut line["request"]["body"]["system"][0]["text"];
        *block = format!("{}\n{text}\n", block.as_str().expect("a text")).into();
        line.to_string()
    };
    let key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----";
    let texts = [
        "# Access\npassword: hunter2a".to_owned(),
        "# Access\npassword: hunter2b".to_owned(),
        format!("# Access\n{}: the key of the server is api_key=hunter2c", "x".repeat(90)),
        format!("# Access\n{}: the key of the server is api_key=hunter2d", "x".repeat(90)),
        "## token=hunter2e\nvalue 1".to_owned(),
        "## token=hunter2e\nvalue b".to_owned(),
        key.to_owned(),
        key.replace("hkiG9w0", "hkiG9w1"),
        "postgres://shop:hunter2f@db/shop".to_owned(),
    ];
    let log: Vec<String> =
        texts.iter().enumerate().map(|(at, text)| with(text, at + 1, at as i64 * 10)).collect();
    let log = written(folder.path(), "log.jsonl", log.join("\n"));
    let log = path(&log);
    for more in [vec![], vec!["--json"], vec!["--format", "csv"]] {
        let output = audit(&[&[log], &more[..]].concat());
        let text = stdout(&output) + &stderr(&output);
        assert!(text.contains("changed"), "{text}");
        for secret in ["hunter2", "hkiG9w", "MIIEvQ"] {
            assert!(!text.contains(secret), "{secret} {more:?}\n{text}");
        }
    }
    let text = stdout(&audit(&[log]));
    assert!(text.contains("\"password: <REDACTED>\" -> \"password: <REDACTED>\""), "{text}");
    assert!(text.contains("near \"## token=<REDACTED>\""), "{text}");
}

#[test]
fn providers_and_models_that_are_asked_the_same_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    // One prompt, three ends: two formats, and two models of one format.
    let mut all = Vec::new();
    for turn in 1..=4 {
        let (at, read) = (turn as i64 * 30, if turn == 1 { 0 } else { 2_432 });
        all.push(call(
            "/home/shop",
            turn,
            at,
            if turn == 1 { 0 } else { 2_900 },
            if turn == 1 { 2_900 } else { 0 },
        ));
        all.push(chat("gpt-5.4", turn, at + 5, read));
        all.push(chat("gpt-4o", turn, at + 9, read));
    }
    let log = written(folder.path(), "log.jsonl", all.join("\n"));
    let json = json_of(&[path(&log)]);
    let names = |model: &str| -> Vec<&str> {
        let calls = json["calls"].as_array().expect("calls").iter();
        let mine = calls.filter(|call| call["model"] == model);
        mine.filter_map(|call| call["conversation"].as_str()).collect()
    };
    assert_eq!(names("anthropic:claude-sonnet-4-5"), ["c1"; 4]);
    assert_eq!(names("openai:gpt-5.4"), ["c2"; 4]);
    assert_eq!(names("openai:gpt-4o"), ["c3"; 4]);
    assert_eq!((&json["totals"]["lost"], &json["causes"]), (&json!(0), &json!([])));
    // Who goes on with what was said before with another model has changed the model.
    let switched = [
        chat("gpt-5.4", 1, 0, 0),
        chat("gpt-5.4", 2, 20, 2_432),
        chat("gpt-4o", 3, 40, 0),
        chat("gpt-5.4", 4, 60, 2_432),
    ];
    let log = written(folder.path(), "switched.jsonl", switched.join("\n"));
    let json = json_of(&[path(&log)]);
    assert_eq!(json["conversations"], 1);
    assert_eq!(json["calls"][2]["verdict"], "model_changed");
}

#[test]
fn a_call_that_is_there_twice_is_counted_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = lines().join("\n") + "\n";
    let log = written(folder.path(), "log.jsonl", &all);
    let plain = json_of(&[path(&log)]);
    // A copy, a rotated log that the next one begins with, and one log behind itself.
    let copy = written(folder.path(), "copy.jsonl", &all);
    let rotated = written(folder.path(), "log.jsonl.1", lines()[..2].join("\n"));
    let twice = written(folder.path(), "twice.jsonl", all.clone() + &all);
    for (files, repeated) in [
        (vec![path(&log), path(&copy)], vec![0, 3]),
        (vec![path(&rotated), path(&log)], vec![0, 2]),
        (vec![path(&twice)], vec![3]),
    ] {
        let json = json_of(&files);
        assert_eq!(json["totals"], plain["totals"], "{files:?}");
        let found: Vec<u64> = json["files"]
            .as_array()
            .expect("files")
            .iter()
            .filter_map(|file| file["repeated"].as_u64())
            .collect();
        assert_eq!(found, repeated, "{files:?}");
    }
    let text = stdout(&audit(&[path(&twice)]));
    assert!(text.contains("6 lines, 3 calls read before and counted once"), "{text}");
    // The same file by two names.
    let other = format!("{}/./log.jsonl", folder.path().display());
    let output = audit(&[path(&log), &other, "--json"]);
    assert!(
        stderr(&output).contains("the same file is given more than once; it is read once"),
        "{}",
        stderr(&output)
    );
    let json: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!((&json["totals"], json["files"].as_array().map(Vec::len)), (&plain["totals"], Some(1)));
}

#[test]
fn the_same_request_sent_twice_is_two_calls() {
    let folder = tempfile::tempdir().expect("a folder");
    // Without ids: two agents began in one second, and nothing says that it was one.
    let parallel: Vec<String> = ["", "", ""]
        .iter()
        .map(|_| {
            let mut line: Value = serde_json::from_str(&call("/home/shop", 1, 0, 0, 2_900)).expect("JSON");
            line["response"]["body"].as_object_mut().expect("a map").remove("id");
            line.to_string()
        })
        .collect();
    let log = written(folder.path(), "log.jsonl", parallel.join("\n"));
    assert_eq!(json_of(&[path(&log)])["totals"]["calls"], 3);
    // In another file it is a copy; and so it is where the log goes back in time.
    let copy = written(folder.path(), "copy.jsonl", parallel.join("\n"));
    assert_eq!(json_of(&[path(&log), path(&copy)])["totals"]["calls"], 3);
    // Without a time or an id nothing is known.
    let bare = parallel[0]
        .replace("\"timestamp\":1764500000,", "")
        .replace("\"logged_at\":\"2025-11-30T10:00:00Z\"", "\"logged_at\":null");
    let log = written(folder.path(), "bare.jsonl", format!("{bare}\n{bare}"));
    assert_eq!(json_of(&[path(&log)])["totals"]["calls"], 2);
}

#[test]
fn a_call_that_reads_what_it_can_has_no_cause() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = written(folder.path(), "log.jsonl", lines().join("\n"));
    let json = json_of(&[path(&log)]);
    assert_eq!(
        (&json["calls"][1]["verdict"], &json["calls"][1]["cause"]),
        (&json!("appended"), &Value::Null)
    );
    assert_eq!(json["top"], json!([3]), "only what lost anything is among what lost most");
    // Where nothing is marked, everything is paid in full each time, and that is the cause.
    let without = |line: &String| {
        let mut line: Value = serde_json::from_str(line).expect("JSON");
        line["request"]["body"]["system"][0].as_object_mut().expect("a map").remove("cache_control");
        let usage = &mut line["response"]["body"]["usage"];
        *usage = json!({ "input_tokens": 2_920, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0, "output_tokens": 9 });
        line.to_string()
    };
    let log = written(
        folder.path(),
        "unmarked.jsonl",
        lines()[..2].iter().map(without).collect::<Vec<_>>().join("\n"),
    );
    assert_eq!(json_of(&[path(&log)])["calls"][1]["cause"], "not cached");
}

#[test]
fn a_baseline_that_is_none_says_how_to_make_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = written(folder.path(), "log.jsonl", lines().join("\n"));
    let whole = stdout(&audit(&[path(&log), "--json"]));
    let hint = "plywood audit FILE --json > baseline.json";
    for (text, says) in [
        (lines()[0].clone(), "this is no audit"),
        ("[1]".to_owned(), "this is no audit"),
        (whole[..whole.len() / 2].to_owned(), "the baseline is not whole JSON"),
        (whole.replace("plywood.audit/1", "plywood.run/1"), "this is no plywood.audit/1 but plywood.run/1"),
        (String::new(), "the baseline is not whole JSON"),
    ] {
        let baseline = written(folder.path(), "baseline.json", &text);
        let output = audit(&[path(&log), "--baseline", path(&baseline)]);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(
            told.contains(says) && told.contains(hint) && told.contains("baseline.json"),
            "{says}: {told}"
        );
        assert!(!told.contains("missing field") && !told.contains("os error"), "{told}");
    }
    let told = stderr(&audit(&[path(&log), "--baseline", "nowhere.json"]));
    assert!(
        told.contains("the baseline cannot be read: no such file") && !told.contains("os error"),
        "{told}"
    );
    for top in ["x", "-1", "1.5"] {
        let told = stderr(&audit(&[path(&log), "--top", top]));
        assert!(told.contains("write how many calls, such as 10"), "{told}");
    }
    let told = stderr(&audit(&[path(folder.path())]));
    assert!(told.contains("it is a folder") && told.contains("*.jsonl"), "{told}");
}

#[test]
fn logs_in_utf_16_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let plain = json_of(&[path(&written(folder.path(), "log.jsonl", lines().join("\n")))]);
    for (name, mark, unit) in [
        ("le.jsonl", [0xFF_u8, 0xFE], u16::to_le_bytes as fn(u16) -> [u8; 2]),
        ("be.jsonl", [0xFE, 0xFF], u16::to_be_bytes),
    ] {
        let text = lines().join("\r\n") + "\r\n";
        let mut bytes = mark.to_vec();
        bytes.extend(text.encode_utf16().flat_map(unit));
        // Half a sign at the end is a log that is being written.
        bytes.push(b'{');
        let log = written(folder.path(), name, bytes);
        let output = audit(&[path(&log), "--json"]);
        let json: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        assert_eq!(json["totals"], plain["totals"], "{name}: {}", stderr(&output));
    }
}

#[test]
fn other_models_are_in_the_summary() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = written(folder.path(), "log.jsonl", lines().join("\n"));
    let text = stdout(&audit(&[path(&log), "--models", "openai:gpt-5.4,acme:unknown"]));
    let row = |model: &str| {
        text.lines().find(|line| line.starts_with(model)).unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    assert!(text.contains("With other models, by their rules"), "{text}");
    assert!(row("openai:gpt-5.4").contains('$') && !row("openai:gpt-5.4").contains('~'), "{text}");
    assert!(row("acme:unknown").contains("n/a: no price for unknown"), "{text}");
}

#[test]
fn what_a_gateway_keeps_apart_is_read_as_one_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut log = Vec::new();
    for (at, tools, read) in
        [(0, ["Read", "Bash"], 0), (20, ["Read", "Bash"], 6_000), (40, ["Bash", "Read"], 0)]
    {
        let tools = tools.map(|name| json!({ "type": "function", "function": { "name": name, "description": "It does what it says. ".repeat(200), "parameters": {} } }));
        let system = json!({ "role": "system", "content": [{ "type": "text", "text": "Be precise. ".repeat(600), "cache_control": { "type": "ephemeral" } }] });
        let turns = (0..=at / 20).flat_map(|turn| {
            [
                json!({ "role": "user", "content": format!("go on {turn}") }),
                json!({ "role": "assistant", "content": "done" }),
            ]
        });
        let mut messages: Vec<Value> = std::iter::once(system).chain(turns).collect();
        messages.pop();
        log.push(
            json!({
                "id": format!("chatcmpl-{at}"), "trace_id": null, "call_type": "acompletion", "cache_hit": null, "stream": true, "status": "success",
                "custom_llm_provider": "bedrock", "startTime": format!("2026-05-01 09:20:{:02}.847371", at), "model": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                "model_group": "sonnet", "metadata": { "user_api_key_alias": "reviewer" }, "messages": messages,
                "response": { "id": format!("chatcmpl-{at}"), "usage": { "prompt_tokens": 6_100, "completion_tokens": 4, "prompt_tokens_details": { "cached_tokens": read, "cache_creation_tokens": if read == 0 { 6_000 } else { 0 } } } },
                "model_parameters": { "tools": tools, "tool_choice": "auto", "stream": true },
            })
            .to_string(),
        );
    }
    let log = written(folder.path(), "litellm.jsonl", log.join("\n"));
    let json = json_of(&[path(&log)]);
    assert_eq!(json["files"][0]["log"], "litellm");
    let calls = &json["calls"];
    assert_eq!(
        (&calls[0]["agent"], &calls[0]["model"]),
        (&json!("reviewer"), &json!("bedrock:claude-sonnet-4-5-20250929"))
    );
    assert_eq!((&calls[1]["verdict"], &calls[1]["lost"]), (&json!("appended"), &json!(0)));
    assert_eq!(
        (&calls[2]["cause"], &calls[2]["lost"]),
        (&json!("reordered: tools in another order"), &json!(6_000))
    );
    assert_eq!(calls[2]["vendor"], "tools_changed");
}
