//! `build` for providers and `check --against`: what a bench sends, and whether that is what was really sent.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::cli::{Ran, plywood};

/// A folder with a bench.
struct Bench(TempDir);

const BENCH: &str = r#"bench: 1
name: shop
model: anthropic:claude-sonnet-4-5
workspace: { path: project, shown_as: /home/shop, clock: "2026-04-01T09:00:00Z" }
read: { rules: { file: AGENTS.md } }
tools: [ { names: [Read, Shell], schemas: tools.json } ]
simulate: { Read: { file: path } }
places:
  system: { of: system, join: "\n\n" }
  user: { of: current_user }
  end: { of: newest_tool, join: "\n\n", none: wait }
layers:
  - { id: prompt, in: system, from: { template: prompt.md } }
  - { id: rules, title: AGENTS.md, in: system, from: { fact: rules } }
  - { id: said, in: user, from: { said: user } }
  - { id: reminder, in: end, when: call.tools, from: { text: "<r>{{ call.results }}</r>" }, refresh: call }
marks: [ { at: system, ttl: 1h } ]
runs:
  fix:
    - user: 修好 it.
    - call: [ { Read: { path: a.rs } }, { Shell: { command: "ls -l" }, result: "total 0\n" } ]
    - say: Done.
    - user: Thanks.
"#;

const PROMPT: &str = "You are  careful.\nWork in {{ cwd }}.\n答案用中文。";
const TOOLS: &str = r#"[ {"name": "Read", "description": "Reads.", "input_schema": {"type": "object", "required": ["path"]}},
  {"name": "Shell", "input_schema": {"type": "object"}} ]"#;

impl Bench {
    fn new() -> Bench {
        let bench = Bench(TempDir::new().expect("a folder"));
        for (path, text) in [
            ("bench.yaml", BENCH),
            ("prompt.md", PROMPT),
            ("tools.json", TOOLS),
            ("project/AGENTS.md", "# Rules\nBe brief.\n"),
            ("project/a.rs", "fn main() {}\n"),
        ] {
            bench.write(path, text);
        }
        bench
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    /// One text of a file is replaced by another.
    fn edit(&self, path: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.at(path)).expect("a text");
        assert!(text.contains(from), "{path} has no {from:?}");
        self.write(path, &text.replacen(from, to, 1));
    }

    fn run(&self, args: &[&str]) -> Ran {
        run_in(self.0.path(), args)
    }

    /// The body of a call is recorded.
    fn record(&self, call: &str, format: &str) -> String {
        let ran = self.run(&["build", ".", "--call", call, "--format", format]);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
        self.write("request.json", &ran.stdout);
        ran.stdout
    }

    fn check(&self) -> (i32, String) {
        let ran = self.run(&["check", ".", "--against", "request.json"]);
        assert_eq!(ran.stderr, "");
        (ran.status, ran.stdout)
    }
}

fn run_in(folder: &Path, args: &[&str]) -> Ran {
    let output = plywood().current_dir(folder).args(args).output().expect("the program starts");
    Ran {
        status: output.status.code().expect("it ends by itself"),
        stdout: String::from_utf8(output.stdout).expect("data is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("messages are UTF-8"),
    }
}

#[test]
fn a_request_is_built_for_each_provider() {
    let bench = Bench::new();
    let wanted = [
        (
            "anthropic",
            concat!(
                r#"{"model":"claude-sonnet-4-5","tools":[{"name":"Read","description":"Reads.","input_schema":{"type":"object","required":["path"]}},{"name":"Shell","input_schema":{"type":"object"}}],"#,
                r#""system":[{"type":"text","text":"You are  careful.\nWork in /home/shop.\n答案用中文。\n\n# Rules\nBe brief.\n","cache_control":{"type":"ephemeral","ttl":"1h"}}],"#,
                r#""messages":[{"role":"user","content":[{"type":"text","text":"修好 it."}]},"#,
                r#"{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"Read","input":{"path":"a.rs"}},{"type":"tool_use","id":"call_2","name":"Shell","input":{"command":"ls -l"}}]},"#,
                r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"fn main() {}\n"},{"type":"tool_result","tool_use_id":"call_2","content":"total 0\n\n\n<r>2</r>"}]}]}"#,
                "\n"
            ),
        ),
        (
            "openai-chat",
            concat!(
                r#"{"model":"claude-sonnet-4-5","tools":[{"type":"function","function":{"name":"Read","description":"Reads.","parameters":{"type":"object","required":["path"]}}},{"type":"function","function":{"name":"Shell","parameters":{"type":"object"}}}],"#,
                r#""messages":[{"role":"system","content":"You are  careful.\nWork in /home/shop.\n答案用中文。\n\n# Rules\nBe brief.\n"},{"role":"user","content":"修好 it."},"#,
                r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"Read","arguments":"{\"path\":\"a.rs\"}"}},{"id":"call_2","type":"function","function":{"name":"Shell","arguments":"{\"command\":\"ls -l\"}"}}]},"#,
                r#"{"role":"tool","tool_call_id":"call_1","content":"fn main() {}\n"},{"role":"tool","tool_call_id":"call_2","content":"total 0\n\n\n<r>2</r>"}]}"#,
                "\n"
            ),
        ),
        (
            "openai-responses",
            concat!(
                r#"{"model":"claude-sonnet-4-5","instructions":"You are  careful.\nWork in /home/shop.\n答案用中文。\n\n# Rules\nBe brief.\n","#,
                r#""tools":[{"type":"function","name":"Read","description":"Reads.","parameters":{"type":"object","required":["path"]}},{"type":"function","name":"Shell","parameters":{"type":"object"}}],"#,
                r#""input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"修好 it."}]},{"type":"function_call","call_id":"call_1","name":"Read","arguments":"{\"path\":\"a.rs\"}"},{"type":"function_call","call_id":"call_2","name":"Shell","arguments":"{\"command\":\"ls -l\"}"},"#,
                r#"{"type":"function_call_output","call_id":"call_1","output":"fn main() {}\n"},{"type":"function_call_output","call_id":"call_2","output":"total 0\n\n\n<r>2</r>"}]}"#,
                "\n"
            ),
        ),
        (
            "gemini",
            concat!(
                r#"{"systemInstruction":{"parts":[{"text":"You are  careful.\nWork in /home/shop.\n答案用中文。\n\n# Rules\nBe brief.\n"}]},"#,
                r#""tools":[{"functionDeclarations":[{"name":"Read","description":"Reads.","parametersJsonSchema":{"type":"object","required":["path"]}},{"name":"Shell","parametersJsonSchema":{"type":"object"}}]}],"#,
                r#""contents":[{"role":"user","parts":[{"text":"修好 it."}]},{"role":"model","parts":[{"functionCall":{"name":"Read","args":{"path":"a.rs"}}},{"functionCall":{"name":"Shell","args":{"command":"ls -l"}}}]},"#,
                r#"{"role":"user","parts":[{"functionResponse":{"name":"Read","response":{"output":"fn main() {}\n"}}},{"functionResponse":{"name":"Shell","response":{"output":"total 0\n\n\n<r>2</r>"}}}]}]}"#,
                "\n"
            ),
        ),
    ];
    for (format, body) in wanted {
        assert_eq!(bench.record("2", format), body, "{format}");
        // The call is that behind as many answers as the recording holds.
        let (status, said) = bench.check();
        assert!(said.starts_with(".: byte-identical (call 2 against request.json, "), "{format}: {said}");
        assert_eq!((status, said.lines().count()), (0, 1), "{format}: {said}");
    }
}

#[test]
fn a_sample_is_what_it_sends() {
    let folder = TempDir::new().expect("a folder");
    for format in ["anthropic", "openai-chat", "openai-responses", "gemini"] {
        for call in ["1", "3", "5"] {
            let ran = run_in(folder.path(), &["build", "xbot", "--call", call, "--format", format]);
            assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
            fs::write(folder.path().join("r.json"), &ran.stdout).expect("a file");
            let ran = run_in(folder.path(), &["check", "xbot", "--against", "r.json"]);
            assert!(
                ran.stdout.starts_with(&format!("xbot: byte-identical (call {call} against")),
                "{}",
                ran.stdout
            );
            assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
        }
    }
}

#[test]
fn a_removed_space_is_found_and_named() {
    let bench = Bench::new();
    let body = bench.record("2", "anthropic");
    bench.edit("prompt.md", "are  careful", "are careful");
    let column = body.find(" careful").expect("there") + 1;
    let (status, said) = bench.check();
    assert_eq!(status, 1);
    assert_eq!(
        said,
        format!(
            ".: different (call 2 against request.json, Anthropic Messages, {} bytes)\n\
             system byte 8, prompt prompt.md:1:9: a space is missing\n  \
             recorded: You␣are␣␣careful.\\nWork␣in␣/home/shop.\\n答案用中文。\\n\\n#␣…\n  \
             bench:    You␣are␣careful.\\nWork␣in␣/home/shop.\\n答案用中文。\\n\\n#␣R…\n  \
             at system[0] in request.json:1:{column}\n",
            body.len() - 1
        )
    );
    // The same, beside the line in a pull request.
    let ran = bench.run(&["check", ".", "--against", "request.json", "--format", "github"]);
    assert_eq!(
        (ran.status, ran.stdout.as_str()),
        (
            1,
            "::error file=prompt.md,line=1,col=9,title=plywood check::call 2 of . is not what request.json recorded: \
             system byte 8, prompt prompt.md:1:9: a space is missing%0A\
             recorded: You␣are␣␣careful.\\nWork␣in␣/home/shop.\\n答案用中文。\\n\\n#␣…%0A\
             bench: You␣are␣careful.\\nWork␣in␣/home/shop.\\n答案用中文。\\n\\n#␣R…\n"
        )
    );
}

/// What is said of a bench that was edited after its request was recorded, without the first line.
fn said_after(format: &str, edit: &dyn Fn(&Bench)) -> (String, String) {
    let bench = Bench::new();
    bench.record("2", format);
    edit(&bench);
    let (status, said) = bench.check();
    let (first, rest) = said.split_once('\n').expect("a line");
    let verdict = first.strip_prefix(".: ").expect("the path");
    let verdict = verdict.split(" (").next().expect("the verdict").to_owned();
    assert_eq!(status, i32::from(verdict != "byte-identical"), "{said}");
    (verdict, rest.to_owned())
}

#[test]
fn every_difference_has_its_author() {
    type Edit<'a> = &'a dyn Fn(&Bench);
    let cases: &[(&str, Edit<'_>, &str)] = &[
        // Ends of texts and what stands between them.
        (
            "anthropic",
            &|b| b.edit("project/AGENTS.md", "brief.\n", "brief."),
            "system byte 75, AGENTS.md AGENTS.md:2:9: a line end is missing",
        ),
        (
            "anthropic",
            &|b| b.edit("prompt.md", "中文。", "中文。\r"),
            "system byte 56, prompt prompt.md:3:7: a carriage return is too much",
        ),
        (
            "anthropic",
            &|b| b.edit("prompt.md", "中文。", "中文。\u{200b}"),
            "system byte 56, prompt prompt.md:3:7: a zero-width space (U+200B) is too much",
        ),
        (
            "anthropic",
            &|b| b.edit("bench.yaml", "join: \"\\n\\n\" }\n  user", "join: \"\\n\" }\n  user"),
            "system byte 57, AGENTS.md AGENTS.md:1:1, or the separator before it: a line end is missing",
        ),
        (
            "openai-chat",
            &|b| b.edit("bench.yaml", "/home/shop", "/home/web"),
            "system byte 32, prompt {{cwd}} prompt.md:2:9: other text",
        ),
        // What the bench writes into messages.
        (
            "openai-chat",
            &|b| b.edit("bench.yaml", "<r>", "<r> "),
            "message 5, result of Shell byte 13, reminder bench.yaml:16:66: a space is too much",
        ),
        (
            "gemini",
            &|b| b.edit("bench.yaml", "修好 it", "修好  it"),
            "message 2 byte 7, said (from said): a space is too much",
        ),
        (
            "openai-responses",
            &|b| b.edit("bench.yaml", "ls -l", "ls  -l"),
            "message 3, call of Shell byte 15, model: a space is too much",
        ),
        (
            "gemini",
            &|b| b.edit("project/a.rs", "main()", "main( )"),
            "message 4, result of Read byte 8, tool Read a.rs:1:9: a space is too much",
        ),
        // Whole blocks.
        (
            "anthropic",
            &|b| b.edit("bench.yaml", "{ id: rules, ", "{ id: rules, when: false, "),
            "system byte 56, prompt prompt.md:3:6: other text",
        ),
        (
            "openai-chat",
            &|b| b.edit("bench.yaml", ", { Shell: { command: \"ls -l\" }, result: \"total 0\\n\" }", ""),
            "call of Shell: only the recording has it",
        ),
        (
            "openai-chat",
            &|b| {
                b.edit(
                    "bench.yaml",
                    "    - say: Done.",
                    "    - call: [ { Read: { path: b } } ]\n    - say: Done.",
                );
            },
            "",
        ),
        (
            "anthropic",
            &|b| {
                b.edit(
                    "bench.yaml",
                    "[Read, Shell]",
                    "[Read], schemas: tools.json }, { when: false, names: [Shell]",
                );
            },
            "tool Shell: only the recording has it",
        ),
        (
            "anthropic",
            &|b| b.edit("bench.yaml", "[Read, Shell]", "[Read, Shell, Grep]"),
            "tool Grep, tool Grep (from tools.json): only the bench has it",
        ),
        (
            "anthropic",
            &|b| b.edit("bench.yaml", "[Read, Shell]", "[Shell, Read]"),
            "tool 1, tool Shell (from tools.json): other order",
        ),
        (
            "openai-chat",
            &|b| b.edit("bench.yaml", "{ Read: { path: a.rs } }", "{ Shell: { path: a.rs } }"),
            "call of Read: only the recording has it",
        ),
        (
            "anthropic",
            &|b| b.edit("tools.json", "Reads.", "Reads"),
            "tool Read byte 35, tool Read (from tools.json): other text",
        ),
    ];
    let mut wrong = Vec::new();
    for (format, edit, sentence) in cases {
        let (verdict, said) = said_after(format, edit);
        let wanted = if sentence.is_empty() { "byte-identical" } else { "different" };
        if verdict != wanted || said.lines().next().unwrap_or_default() != *sentence {
            wrong.push(format!("wanted {sentence}\n{verdict}: {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn another_serialisation_is_said_as_such() {
    let reorder: &dyn Fn(&Bench) = &|b| {
        b.edit(
            "tools.json",
            r#""type": "object", "required": ["path"]"#,
            r#""required": ["path"], "type": "object""#,
        );
    };
    let (verdict, said) = said_after("anthropic", reorder);
    assert_eq!(verdict, "equal text, other serialisation");
    let sentence = "tool Read byte 55, tool Read (from tools.json): equal JSON, other serialisation";
    assert_eq!(said.lines().next(), Some(sentence), "{said}");
    // Spacing and escapes are the recording's own, in JSON that stands in the body as JSON.
    let spaced: &dyn Fn(&Bench) = &|b| b.edit("tools.json", "\"Reads.\", ", "\"Reads\\u002e\",\n   ");
    assert_eq!(said_after("anthropic", spaced).0, "byte-identical");
    // Arguments that stand in a text are that text.
    let bench = Bench::new();
    bench.record("2", "openai-chat");
    bench.edit("request.json", r#"{\"path\":\"a.rs\"}"#, r#"{\"path\": \"a.rs\"}"#);
    let (status, said) = bench.check();
    let sentence = "message 3, call of Read byte 8, model: a space is missing";
    assert_eq!((status, said.lines().nth(1)), (1, Some(sentence)), "{said}");
    assert!(said.starts_with(".: equal text, other serialisation"), "{said}");
}

#[test]
fn other_marks_are_said_as_such() {
    let shorter: &dyn Fn(&Bench) = &|b| b.edit("bench.yaml", "ttl: 1h", "ttl: 5m");
    let (verdict, said) = said_after("anthropic", shorter);
    assert_eq!(
        (verdict.as_str(), said.lines().take(3).collect::<Vec<_>>().join("|")),
        (
            "equal text, other cache marks",
            "system: other cache mark|  recorded: a mark for 1h|  bench:    a mark for 5m".to_owned()
        )
    );
    let none: &dyn Fn(&Bench) = &|b| b.edit("bench.yaml", "marks: [ { at: system, ttl: 1h } ]\n", "");
    assert!(said_after("anthropic", none).1.contains("  bench:    no mark\n"));
    // A format without marks does not miss them.
    assert_eq!(said_after("openai-chat", none).0, "byte-identical");
}

#[test]
fn all_differences_are_listed_behind_the_first() {
    let (_, said) = said_after("anthropic", &|b| {
        b.edit("prompt.md", "careful.", "careful!");
        b.edit("bench.yaml", "result: \"total 0\\n\"", "result: \"total 1\\n\"");
    });
    let rest: Vec<&str> = said.lines().skip(4).collect();
    assert_eq!(rest, ["behind it:", "  message 5, result of Shell byte 6, tool Shell: other text"]);
}

#[test]
fn what_a_bench_does_not_hold_is_kept_and_listed() {
    let bench = Bench::new();
    bench.record("2", "anthropic");
    let image = r#"{"type":"image","source":{"type":"base64","data":"AA=="}},{"type":"text","text":"修好"#;
    bench.edit("request.json", r#"{"type":"text","text":"修好"#, image);
    bench.edit("request.json", "\"model\"", "\"max_tokens\": 32000, \"model\"");
    let (status, said) = bench.check();
    assert_eq!((status, said.lines().count()), (0, 2), "{said}");
    assert!(said.ends_with("\nnot compared: image at messages[0].content[0]\n"), "{said}");
}

#[test]
fn findings_are_data_too() {
    let bench = Bench::new();
    bench.record("2", "openai-responses");
    bench.edit("prompt.md", "careful", "carefull");
    let ran = bench.run(&["check", ".", "--against", "request.json", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((ran.status, &json["schema"]), (1, &"plywood.check/1".into()));
    let against = &json["benches"][0]["against"];
    assert_eq!(against["equality"], "different");
    assert_eq!(against["format"], "openai-responses");
    let first = &against["differences"][0];
    assert_eq!(
        (&first["what"], &first["path"], &first["byte"], &first["author"]["part"]),
        (&"text".into(), &"instructions".into(), &16.into(), &"prompt".into())
    );
    assert_eq!(first["author"]["written"]["at"], serde_json::json!({ "line": 1, "column": 17 }));
}

#[test]
fn without_a_recording_the_run_is_played() {
    let bench = Bench::new();
    let ran = bench.run(&["check", ".", "--skip", "below_minimum"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ".: nothing found\n"));
    bench.edit("bench.yaml", "text: \"<r>", "text: \"{{ 1 // 0 }}<r>");
    let ran = bench.run(&["check", "."]);
    assert_eq!(ran.status, 1);
    assert!(ran.stdout.contains("bench.yaml:16:"), "{}", ran.stdout);
}

#[test]
fn what_cannot_be_compared_is_told() {
    let bench = Bench::new();
    bench.write("text.json", "{\"messages\": [\n  {\"role\" \"user\"}]}");
    bench.write("other.json", "{\"a\": 1}");
    bench.write("long.json", "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":\"b\"},{\"role\":\"user\",\"content\":\"c\"},{\"role\":\"assistant\",\"content\":\"d\"},{\"role\":\"user\",\"content\":\"e\"},{\"role\":\"assistant\",\"content\":\"f\"}]}");
    for (file, says) in [
        (
            "text.json",
            "error: the recording is not JSON: `:` was expected\n --> text.json:2:11\n  |\n2 |   {\"role\" \"user\"}]}\n  |           ^\n",
        ),
        (
            "other.json",
            "error: the recording is not a request that is known\n --> other.json\n  = hint: known are the bodies of Anthropic Messages, OpenAI Chat Completions, OpenAI Responses, Gemini generateContent\n",
        ),
        ("none.json", "error: the recording cannot be read: no such file or directory\n --> none.json\n"),
        (
            "long.json",
            "error: there is no call 4: the run fix has 3; the recording holds 3 answers, so that is its request; --call N compares another\n",
        ),
    ] {
        let ran = bench.run(&["check", ".", "--against", file]);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""));
        assert_eq!(ran.stderr, says);
    }
    let ran = bench.run(&["check", "."]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let ran = bench.run(&["check", ".", "--call", "2"]);
    assert_eq!((ran.status, ran.stderr.contains("--against")), (2, true));
}
