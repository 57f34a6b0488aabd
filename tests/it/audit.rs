//! `audit`: logs of real requests on the command line.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

pub(crate) fn audit(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plywood")).arg("audit").args(args).output().expect("it runs")
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

pub(crate) fn system(cwd: &str) -> String {
    format!(
        "You are an agent.\n{}\n# Environment\nWorking directory: {cwd}\n",
        "Be precise in all you do. ".repeat(400)
    )
}

/// A call of a claude-trace capture.
pub(crate) fn call(cwd: &str, turns: usize, at: i64, read: u64, write: u64) -> String {
    let messages: Vec<Value> = (0..2 * turns - 1)
        .map(|at| {
            let (role, text) = if at % 2 == 0 { ("user", "go on") } else { ("assistant", "done") };
            json!({ "role": role, "content": [{ "type": "text", "text": format!("{text} {at}") }] })
        })
        .collect();
    json!({
        "request": {
            "timestamp": 1_764_500_000 + at,
            "method": "POST",
            "url": "https://api.anthropic.com/v1/messages",
            "headers": {},
            "body": {
                "model": "claude-sonnet-4-5",
                "system": [{ "type": "text", "text": system(cwd), "cache_control": { "type": "ephemeral" } }],
                "messages": messages,
            },
        },
        "response": { "status_code": 200, "body": {
            "id": format!("msg_{at}"), "type": "message",
            "usage": { "input_tokens": 20, "cache_read_input_tokens": read, "cache_creation_input_tokens": write, "output_tokens": 9 },
        } },
        "logged_at": "2025-11-30T10:00:00Z",
    })
    .to_string()
}

/// Three calls of one conversation, of which the last has another working directory.
pub(crate) fn lines() -> Vec<String> {
    vec![
        call("/home/shop", 1, 0, 0, 2_900),
        call("/home/shop", 2, 20, 2_900, 0),
        call("/home/shop/api", 3, 40, 0, 2_901),
    ]
}

pub(crate) fn written(folder: &Path, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).expect("it can be written");
    path
}

pub(crate) fn path(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn a_summary_names_what_broke_and_what_it_cost() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = written(folder.path(), "log.jsonl", lines().join("\n"));
    let output = audit(&[path(&log)]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for part in [
        "a claude-trace capture, 3 lines",
        "3 calls in 1 conversation, 2025-11-30T10:53:20Z to 2025-11-30T10:54:00Z",
        "changed: system, near \"# Environment\"",
        "call 3 (line 3) changed: system byte",
        "/home/shop\" -> \"",
        "2,900 paid again ($0.0100)",
        "counted x1.22; the provider's own counts come to x",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn json_and_csv_hold_every_call_and_no_text_of_a_prompt() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = written(folder.path(), "log.jsonl", lines().join("\n"));
    let text =
        stdout(&audit(&[path(&log), "--json", "--models", "openai:gpt-5.4", "--group-by", "model,cause"]));
    let json: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["schema"], "plywood.audit/1");
    assert!(json["revisions"]["models"].is_string());
    assert_eq!(json["calls"].as_array().map(Vec::len), Some(3));
    let third = &json["calls"][2];
    assert_eq!(
        (&third["verdict"], &third["vendor"], &third["lost"]),
        (&json!("changed"), &json!("system_changed"), &json!(2_900))
    );
    assert_eq!(third["others"][0]["model"], "openai:gpt-5.4");
    assert_eq!(json["totals"]["read"], 2_900);
    assert_eq!(json["groups"][0]["model"], "anthropic:claude-sonnet-4-5");
    let csv = stdout(&audit(&[path(&log), "--format", "csv"]));
    assert_eq!(csv.lines().count(), 4);
    assert!(csv.lines().nth(3).expect("three calls").contains("changed"));
    for text in [&text, &csv] {
        assert!(!text.contains("Working directory") && !text.contains("/home/shop"), "{text}");
    }
    let none = written(folder.path(), "empty.jsonl", "");
    let json: Value = serde_json::from_str(&stdout(&audit(&[path(&none), "--json"]))).expect("JSON");
    assert_eq!((&json["calls"], &json["totals"]["calls"]), (&json!([]), &json!(0)));
}

#[test]
fn a_baseline_knows_causes_and_a_new_one_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = written(folder.path(), "good.jsonl", lines()[..2].join("\n"));
    let bad = written(folder.path(), "bad.jsonl", lines().join("\n"));
    let before = written(folder.path(), "before.json", &audit(&[path(&good), "--json"]).stdout);
    let after = written(folder.path(), "after.json", &audit(&[path(&bad), "--json"]).stdout);
    let new = audit(&[path(&bad), "--baseline", path(&before)]);
    assert_eq!(new.status.code(), Some(1));
    assert!(
        stdout(&new).contains(
            "New\n  changed: system, near \"# Environment\": 1 call, 2,900 paid again, first in line 3"
        ),
        "{}",
        stdout(&new)
    );
    assert_eq!(audit(&[path(&bad), "--baseline", path(&after)]).status.code(), Some(0));
    assert_eq!(audit(&[path(&bad), "--baseline", path(&bad)]).status.code(), Some(2));
    assert_eq!(audit(&[path(&bad), "--new-since", "2025-11-30T10:53:50Z"]).status.code(), Some(1));
    assert_eq!(audit(&[path(&bad), "--new-since", "2025-11-30T10:59:00Z"]).status.code(), Some(0));
    let since = stdout(&audit(&[path(&bad), "--since", "2025-11-30T10:53:50Z"]));
    assert!(
        since.contains("1 call in 1 conversation") && since.contains("2 before that not counted"),
        "{since}"
    );
}

#[test]
fn layers_of_a_bench_are_matched() {
    let folder = tempfile::tempdir().expect("a folder");
    let prompt = system("{{cwd}}");
    written(folder.path(), "prompt.md", &prompt);
    fs::create_dir(folder.path().join("work")).expect("a folder");
    let bench = "bench: 1\nname: b\nagent: { id: main, role: main }\nmodel: anthropic:claude-sonnet-4-5\nworkspace: { path: work, shown_as: /home/other, clock: \"2026-04-01T09:00:00+08:00[Asia/Shanghai]\" }\nplaces:\n  system: { of: system }\n  user: { of: current_user }\nlayers:\n  - { id: base, in: system, from: { template: prompt.md } }\n  - { id: said, in: user, from: { said: user } }\nruns:\n  one:\n    - user: hi\n    - say: ho\n";
    let bench = written(folder.path(), "plywood.yaml", bench);
    let log = written(folder.path(), "log.jsonl", lines().join("\n"));
    let output = audit(&[path(&log), "--bench", path(&bench)]);
    let text = stdout(&output);
    assert!(text.contains("layer base {{cwd}} prompt.md:4:20 (matched)"), "{text}{}", stderr(&output));
    assert!(text.contains("changed: layer base {{cwd}} prompt.md:4:20"), "{text}");
}

#[test]
fn broken_lines_are_told_by_their_number_and_skipped() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = lines();
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let mut bytes: Vec<u8> = Vec::new();
    for line in [
        good[0].as_bytes(),
        b"{\"request\":{\"body\":{\"mod",
        b"\xff\xfe\x00garbage",
        b"{\"event\":\"started\"}",
        deep.as_bytes(),
        b"",
        good[1].as_bytes(),
        b"{\"a\":1,",
        good[2].as_bytes(),
    ] {
        bytes.extend_from_slice(line);
        bytes.extend_from_slice(b"\r\n");
    }
    let log = written(folder.path(), "log.jsonl", bytes);
    let output = audit(&[path(&log)]);
    let (text, problems) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(0));
    assert!(
        text.contains("3 calls in 1 conversation") && text.contains("1 without a call, 4 skipped"),
        "{text}"
    );
    for line in [
        ":2: it is not JSON",
        ":3: it is not JSON",
        ":5: it is not JSON: it is nested too deep",
        ":8: it ends in the middle of a value",
    ] {
        assert!(problems.contains(line), "{line}\n{problems}");
    }
}

#[test]
fn a_line_that_is_too_long_costs_nothing_but_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log.jsonl");
    let mut file = fs::File::create(&log).expect("it can be made");
    writeln!(file, "{}", lines()[0]).expect("written");
    file.write_all(b"{\"request\":\"").expect("written");
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..100 {
        file.write_all(&piece).expect("written");
    }
    write!(file, "\"}}\n{}\n", lines()[1]).expect("written");
    let output = audit(&[path(&log)]);
    assert!(stdout(&output).contains("2 calls in 1 conversation"), "{}", stdout(&output));
    assert!(
        stderr(&output).contains(":2: it has 104,857,614 bytes, more than the 50,331,648"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn pretty_printed_logs_lists_and_gzip_are_the_same_log() {
    let folder = tempfile::tempdir().expect("a folder");
    let values: Vec<Value> = lines().iter().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let pretty: String =
        values.iter().map(|value| serde_json::to_string_pretty(value).expect("JSON") + "\n").collect();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(lines().join("\n").as_bytes()).expect("compressed");
    let tail = |log: &Path| {
        let text = stdout(&audit(&[path(log)]));
        text.lines()
            .skip(1)
            .filter(|line| !line.contains("line ") && !line.starts_with("cause"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let plain = tail(&written(folder.path(), "plain.jsonl", lines().join("\n")));
    assert!(plain.contains("3 calls"));
    assert_eq!(tail(&written(folder.path(), "pretty.json", pretty)), plain);
    assert_eq!(
        tail(&written(folder.path(), "list.json", serde_json::to_string_pretty(&values).expect("JSON"))),
        plain
    );
    assert_eq!(
        tail(&written(folder.path(), "line.json", serde_json::to_string(&values).expect("JSON"))),
        plain
    );
    let packed = written(folder.path(), "log.jsonl.gz", gzip.finish().expect("compressed"));
    assert_eq!(tail(&packed), plain);
    assert!(stdout(&audit(&[path(&packed)])).contains("a claude-trace capture, gzip"));
}

#[test]
fn what_expands_without_end_is_not_read_to_its_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    writeln!(gzip, "{}", lines()[0]).expect("compressed");
    let zeros = vec![b' '; 1 << 20];
    for _ in 0..300 {
        gzip.write_all(&zeros).expect("compressed");
    }
    let log = written(folder.path(), "bomb.gz", gzip.finish().expect("compressed"));
    let output = audit(&[path(&log)]);
    assert!(stderr(&output).contains("it expands to more than 250 times its size"), "{}", stderr(&output));
    assert!(stdout(&output).contains("1 call in 1 conversation"), "{}", stdout(&output));
}

#[test]
fn usage_that_makes_no_sense_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = written(folder.path(), "log.jsonl", "");
    for args in [
        vec!["nowhere.jsonl"],
        vec![path(folder.path())],
        vec![path(&log), "--since", "soon"],
        vec![path(&log), "--models", "gpt"],
        vec![path(&log), "--baseline", "nowhere.json"],
    ] {
        let output = audit(&args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(!output.stderr.is_empty());
    }
    let text = stdout(&audit(&[path(&log)]));
    assert!(text.contains("no log of a kind that is known, 0 lines") && text.contains("No calls."), "{text}");
    // What cannot be done together is told before anything is read.
    let log = written(folder.path(), "right.jsonl", lines().join("\n"));
    let before = written(folder.path(), "before.json", stdout(&audit(&[path(&log), "--json"])));
    for more in [vec!["--baseline", path(&before)], vec!["--new-since", "2025-11-30"]] {
        let output = audit(&[&[path(&log), "--follow"], &more[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        assert!(stderr(&output).contains("cannot be used with"), "{}", stderr(&output));
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(lines().join("\n").as_bytes()).expect("compressed");
    let packed = written(folder.path(), "log.jsonl.gz", gzip.finish().expect("compressed"));
    let output = audit(&[path(&packed), "--follow"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("a compressed log cannot be followed"), "{}", stderr(&output));
}

#[test]
fn nothing_to_audit_is_no_success() {
    let folder = tempfile::tempdir().expect("a folder");
    let right = written(folder.path(), "right.jsonl", lines().join("\n"));
    let before = written(folder.path(), "before.json", stdout(&audit(&[path(&right), "--json"])));
    for text in ["", "\n\n", "{\"what\":\"else\"}\n", "no JSON\n{\"cut\":\n", &lines()[0][..200]] {
        let log = written(folder.path(), "log.jsonl", text);
        for more in [vec![], vec!["--baseline", path(&before)], vec!["--json"], vec!["--format", "csv"]] {
            let output = audit(&[&[path(&log)], &more[..]].concat());
            assert_eq!(output.status.code(), Some(2), "{text:?} {more:?}");
            assert!(stderr(&output).contains("no call could be read"), "{}", stderr(&output));
        }
    }
    // That there are only older calls is an answer.
    assert_eq!(audit(&[path(&right), "--since", "2026-01-01"]).status.code(), Some(0));
}

#[test]
fn a_number_that_no_prompt_has_is_told_by_its_line_and_not_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    for number in ["18446744073709551615", "1000000000001", "100000001", "1e300", "-1", "-0.5"] {
        let bad = lines()[1].replace("\"input_tokens\":20", &format!("\"input_tokens\":{number}"));
        assert_ne!(bad, lines()[1]);
        let log = written(folder.path(), "log.jsonl", [&*lines()[0], &*bad, &*lines()[2]].join("\n"));
        let output = audit(&[path(&log)]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stderr(&output).contains("log.jsonl:2: its usage is unusable"), "{}", stderr(&output));
        let text = stdout(&output);
        assert!(text.contains("3 lines, 1 skipped") && text.contains("2 calls in 1 conversation"), "{text}");
        // Alone, it leaves nothing to audit.
        let log = written(folder.path(), "alone.jsonl", bad);
        assert_eq!(audit(&[path(&log)]).status.code(), Some(2));
    }
}

#[test]
fn a_log_is_followed_while_it_grows_and_when_it_is_replaced() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    let folder = tempfile::tempdir().expect("a folder");
    let log = written(folder.path(), "log.jsonl", lines()[0].clone() + "\n");
    let mut child = Command::new(env!("CARGO_BIN_EXE_plywood"))
        .args(["audit", path(&log), "--follow", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    let told = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let (to, lines_told) = std::sync::mpsc::channel();
    std::thread::spawn(move || told.map_while(Result::ok).try_for_each(|line| to.send(line)));
    let next = || -> Value {
        let line =
            lines_told.recv_timeout(std::time::Duration::from_secs(60)).expect("a call is told in time");
        serde_json::from_str(&line).expect("JSON")
    };
    assert_eq!((next()["line"].clone()), json!(1));
    let mut file = fs::OpenOptions::new().append(true).open(&log).expect("it can be opened");
    let second = lines()[1].clone();
    // A line is not taken before its end is there.
    file.write_all(&second.as_bytes()[..second.len() / 2]).expect("written");
    file.flush().expect("written");
    file.write_all(&second.as_bytes()[second.len() / 2..]).expect("written");
    file.write_all(b"\n").expect("written");
    let call = next();
    assert_eq!((call["line"].clone(), call["verdict"].clone()), (json!(2), json!("appended")));
    // Written anew, shorter than it was.
    fs::write(&log, lines()[2].clone() + "\n").expect("written");
    let call = next();
    assert_eq!((call["line"].clone(), call["verdict"].clone()), (json!(1), json!("changed")));
    // Cut and longer again before anybody looks, as programs do that rotate logs: nothing but its bytes tells it.
    let later = |turns, at| self::call("/home/shop/api", turns, at, 2_900, 0);
    fs::write(&log, [lines()[1].clone(), later(4, 60), later(5, 80)].join("\n") + "\n").expect("written");
    // The first line was told before.
    assert_eq!((next()["line"].clone(), next()["line"].clone()), (json!(2), json!(3)));
    // Another file in its place.
    let other = written(folder.path(), "other.jsonl", later(6, 100) + "\n");
    fs::rename(&other, &log).expect("renamed");
    assert_eq!(next()["line"], json!(1));
    child.kill().expect("it can be ended");
    let _ = child.wait();
}
