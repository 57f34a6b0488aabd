//! Auditing a log whose every line holds the whole conversation, against a reader that makes a `serde_json::Value` of
//! each line, and against reading the bytes.
//!
//! `cargo bench --bench audit`; `AUDIT_MB=2048` sets the size of the log (64 by default). The ratios at the end are what
//! counts. Nothing is repeated beyond the best of three, so that a large log ends.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use plywood::io::recording::Log;
use serde_json::{Value, json};

/// Calls of a conversation: with two messages more in each, about 3.4 % of its lines is new.
const CALLS: usize = 60;

fn main() {
    // Cargo asks every target that it builds for tests, too.
    if std::env::args().any(|arg| arg == "--test" || arg == "--list") {
        return;
    }
    let megabytes: u64 = std::env::var("AUDIT_MB").ok().and_then(|text| text.parse().ok()).unwrap_or(64);
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log.jsonl");
    let (size, new) = write(&log, megabytes << 20);
    println!(
        "{} MB, {:.1} % of it new, in {} conversations",
        size >> 20,
        new as f64 * 100.0 / size as f64,
        (size / 12_000_000).max(1)
    );
    let rounds = if megabytes > 512 { 1 } else { 3 };
    let ours = best(rounds, || read_log(&log));
    let bytes = best(rounds, || read_bytes(&log));
    let (whole, memory) = audit(&log, rounds);
    let value = best(rounds, || read_values(&log));
    let speed = |time: Duration| size as f64 / 1e6 / time.as_secs_f64();
    for (name, time) in [
        ("bytes from the page cache", bytes),
        ("calls, read and compared", ours),
        ("plywood audit, whole", whole),
        ("serde_json::Value", value),
    ] {
        println!("{name:<28} {:>8.0} ms {:>8.0} MB/s", time.as_secs_f64() * 1e3, speed(time));
    }
    println!();
    println!("reading: {:.1} x serde_json::Value, {:.2} x bytes", ratio(value, ours), ratio(bytes, ours));
    println!("whole:   {:.1} x serde_json::Value, {:.2} x bytes", ratio(value, whole), ratio(bytes, whole));
    match memory {
        Some(memory) => println!(
            "memory of plywood audit: {} MB, {:.1} % of the log",
            memory >> 20,
            memory as f64 * 100.0 / size as f64
        ),
        None => println!("memory of plywood audit: n/a on this system"),
    }
}

fn ratio(of: Duration, to: Duration) -> f64 {
    of.as_secs_f64() / to.as_secs_f64()
}

fn best(rounds: usize, mut work: impl FnMut()) -> Duration {
    let once = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..rounds).map(|_| once(&mut work)).min().unwrap_or_default()
}

/// A log of at least so many bytes; gives its size and how much of it is new.
fn write(path: &Path, size: u64) -> (u64, u64) {
    let mut file = BufWriter::new(File::create(path).expect("it can be made"));
    let mut words = Words(1);
    let (mut written, mut new) = (0_u64, 0_u64);
    let mut at = 1_764_500_000;
    let system = words.text(2_500);
    let tools: Vec<Value> = ["Read", "Bash", "Edit", "Grep"]
        .map(|name| json!({ "name": name, "description": words.text(120), "input_schema": { "type": "object" } }))
        .into();
    let mut session = 0;
    while written < size {
        session += 1;
        let mut messages = vec![json!({ "role": "user", "content": words.text(400) })];
        for call in 0..CALLS {
            at += 15;
            let line = json!({
                "ts": at,
                "session": format!("session-{session}"),
                "request": { "model": "claude-sonnet-4-5", "system": system, "tools": tools, "messages": messages },
                "response": { "type": "message", "usage": {
                    "input_tokens": 5, "cache_read_input_tokens": 4_000 + call * 900, "cache_creation_input_tokens": 900, "output_tokens": 300,
                } },
            })
            .to_string();
            file.write_all(line.as_bytes()).expect("written");
            file.write_all(b"\n").expect("written");
            written += line.len() as u64 + 1;
            let id = format!("t{session}-{call}");
            let said = json!({ "role": "assistant", "content": [
                { "type": "text", "text": words.text(60) },
                { "type": "tool_use", "id": id, "name": "Read", "input": { "path": format!("src/{call}.rs") } },
            ] });
            let result = json!({ "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": id, "content": words.text(500) },
            ] });
            new += (said.to_string().len() + result.to_string().len()) as u64;
            messages.push(said);
            messages.push(result);
        }
    }
    file.flush().expect("written");
    (written, new)
}

/// Words that are the same in every run.
struct Words(u64);

impl Words {
    fn text(&mut self, count: usize) -> String {
        const WORDS: &[&str] = &[
            "the", "function", "returns", "a", "value", "when", "every", "line", "of", "request", "changed",
            "fn", "let", "mut", "self", "match", "result", "error", "handler", "server", "{", "}", "(", ")",
            "=>", "for", "test", "fixed", "path", "reads", "writes", "cache", "prefix", "token", "message",
            "and", "not", "is",
        ];
        let mut text = String::new();
        for at in 0..count {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(WORDS[(self.0 >> 33) as usize % WORDS.len()]);
            text.push(if at % 12 == 11 { '\n' } else { ' ' });
        }
        text
    }
}

fn read_log(path: &Path) {
    let mut log = Log::open(path, None).expect("it can be read");
    let mut calls = 0_u64;
    let mut found = |exchange| {
        black_box(&exchange);
        calls += 1;
    };
    while log.step(&mut found) {}
    log.finish(&mut found);
    assert!(calls > 0 && log.skipped() == 0, "{calls} calls, {} skipped", log.skipped());
}

fn read_values(path: &Path) {
    let mut reader = BufReader::with_capacity(1 << 20, File::open(path).expect("it can be read"));
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).expect("it can be read") > 0 {
        let value: Value = serde_json::from_slice(&line).expect("JSON");
        black_box(&value);
        line.clear();
    }
}

fn read_bytes(path: &Path) {
    let mut file = File::open(path).expect("it can be read");
    let mut buffer = vec![0; 1 << 20];
    while file.read(&mut buffer).expect("it can be read") > 0 {
        black_box(&buffer);
    }
}

/// The command as a user runs it, with the most memory that it had.
fn audit(path: &Path, rounds: usize) -> (Duration, Option<u64>) {
    let mut memory = None;
    let time = best(rounds, || {
        let mut child = Command::new(env!("CARGO_BIN_EXE_plywood"))
            .args(["audit", "--format", "csv"])
            .arg(path)
            .stdout(Stdio::null())
            .spawn()
            .expect("it runs");
        let status = format!("/proc/{}/status", child.id());
        while child.try_wait().expect("it can be waited for").is_none() {
            memory = memory.max(peak(&status));
            std::thread::sleep(Duration::from_millis(2));
        }
    });
    (time, memory)
}

/// The peak of a process's resident memory, in bytes.
fn peak(status: &str) -> Option<u64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes << 10)
}
