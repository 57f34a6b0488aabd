//! A server and its clients, as processes of their own: what they say, what they keep, and what they refuse.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use plywood::io::samples::{self, ScratchCopy};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{self, Message, WebSocket};

use crate::cli::plywood;

/// How long something may take before the test gives up; nothing is measured.
const LIMIT: Duration = Duration::from_secs(60);

/// The lines that a process prints, read beside it.
fn lines(of: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(of).lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// A process that does not outlive its test.
struct Process(Child);

impl Process {
    fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.0.id()).expect("a process id");
        kill(Pid::from_raw(id), signal).expect("it runs");
    }

    fn kill(mut self) {
        self.0.kill().expect("it runs");
        self.0.wait().expect("it ends");
    }

    fn status(&mut self) -> Option<i32> {
        self.0.wait().expect("it ends").code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A sample on disk, with a folder for what its servers keep.
struct Stage {
    sample: ScratchCopy,
    state: TempDir,
}

impl Stage {
    fn of(sample: &str) -> Stage {
        let sample = samples::find(sample).expect("a sample").scratch_copy().expect("copied");
        Stage { sample, state: tempfile::tempdir().expect("a folder") }
    }

    fn serve(&self, listen: &str, more: &[&str]) -> Server {
        let bench = self.sample.bench();
        let mut child = plywood()
            .arg("serve")
            .arg(&bench)
            .args(["--listen", listen])
            .args(more)
            .env("XDG_STATE_HOME", self.state.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let stdout = lines(child.stdout.take().expect("piped"));
        let stderr = lines(child.stderr.take().expect("piped"));
        let process = Process(child);
        let Ok(line) = stdout.recv_timeout(LIMIT) else {
            panic!("it does not listen: {:?}", stderr.recv_timeout(LIMIT));
        };
        let address = line.strip_prefix("listening on http://").expect("its address").to_owned();
        Server { process, address, stderr }
    }

    /// The files that its servers keep sessions in.
    fn kept(&self) -> Vec<std::path::PathBuf> {
        let root = self.state.path().join("plywood/serve");
        let folders = fs::read_dir(root).expect("a folder").flatten();
        let files = folders.flat_map(|folder| fs::read_dir(folder.path()).expect("a folder").flatten());
        files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|e| e == "jsonl")).collect()
    }
}

struct Server {
    process: Process,
    address: String,
    stderr: Receiver<String>,
}

impl Server {
    fn connect(&self) -> Peer {
        let stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(LIMIT)).expect("a limit");
        let url = format!("ws://{}/ws", self.address);
        let (socket, _) = tungstenite::client(url, stream).expect("it speaks WebSocket");
        let mut peer = Peer(socket);
        assert_eq!(peer.next()["type"], "welcome");
        peer
    }

    /// The status with which an upgrade with these headers is answered.
    fn upgrade(&self, headers: &[(&'static str, &str)]) -> u16 {
        let mut request = format!("ws://{}/ws", self.address).into_client_request().expect("a request");
        for (name, value) in headers {
            request.headers_mut().insert(*name, HeaderValue::from_str(value).expect("a value"));
        }
        let stream = TcpStream::connect(&self.address).expect("it listens");
        match tungstenite::client(request, stream) {
            Ok(_) => 101,
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(answer))) => {
                answer.status().as_u16()
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// A request of plain HTTP: status and body.
    fn http(&self, method: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(LIMIT)).expect("a limit");
        let host =
            if headers.contains("Host:") { String::new() } else { format!("Host: {}\r\n", self.address) };
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\n{host}{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("sent");
        // A server that refuses a body need not read it.
        let _ = stream.write_all(body.as_bytes());
        let mut answer = Vec::new();
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = stream.read(&mut buffer) {
            answer.extend_from_slice(&buffer[..read]);
        }
        let answer = String::from_utf8(answer).expect("UTF-8");
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    }

    fn preview(&self, path: &str, body: &Value) -> (u16, Value) {
        let (status, body) = self.http("POST", path, "", &body.to_string());
        (status, serde_json::from_str(&body).expect("JSON"))
    }
}

/// A connection to a server.
struct Peer(WebSocket<TcpStream>);

impl Peer {
    fn next(&mut self) -> Value {
        loop {
            match self.0.read().expect("a message") {
                Message::Text(text) => return serde_json::from_str(&text).expect("JSON"),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    fn raw(&mut self, message: Message) -> Value {
        self.0.send(message).expect("sent");
        self.next()
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.raw(Message::Text(message.to_string().into()))
    }

    fn say(&mut self, session: &str, content: &str, rules: Option<&str>) -> Value {
        let data = json!({ "content": content, "agentsMdContent": rules });
        self.ask(&json!({ "type": "send_message", "sessionId": session, "data": data }))
    }
}

/// `plywood client`, with its input and output.
struct Client {
    process: Process,
    input: ChildStdin,
    output: Receiver<String>,
}

impl Client {
    fn start(workspace: &Path, server: &str, session: &str) -> Client {
        let mut child = plywood()
            .arg("client")
            .arg(workspace)
            .args(["--server", &format!("http://{server}"), "--session", session])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let input = child.stdin.take().expect("piped");
        let output = lines(child.stdout.take().expect("piped"));
        Client { process: Process(child), input, output }
    }

    fn line(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("it reads");
    }

    /// The next reply of this type; others before it are passed over.
    fn reply(&self, kind: &str) -> Value {
        loop {
            let line = self.output.recv_timeout(LIMIT).unwrap_or_else(|_| panic!("no {kind} comes"));
            let reply: Value = serde_json::from_str(&line).expect("JSON");
            if reply["type"] == kind {
                return reply;
            }
            assert_ne!(reply["type"], "error", "{reply}");
        }
    }

    /// The next report that was taken with so many characters.
    fn reported(&self, characters: usize) {
        while self.reply("reported")["characters"]["agentsMdContent"] != json!(characters) {}
    }
}

const ANSWER: &str = r#"{"type":"answer","data":{"content":"ok"}}"#;

fn ends_with(request: &Value, rules: &str) -> bool {
    request["system"].as_str().expect("a text").ends_with(&format!("\n\n## 工作区规则\n\n{rules}\n"))
}

fn contents(request: &Value) -> Vec<&str> {
    let messages = request["messages"].as_array().expect("a list");
    messages.iter().map(|message| message["content"].as_str().expect("a text")).collect()
}

#[test]
fn an_edit_of_the_workspace_is_in_the_next_request() {
    let stage = Stage::of("mao");
    let server = stage.serve("0", &["--variant", "local"]);
    let workspace = tempfile::tempdir().expect("a folder");
    let file = workspace.path().join("AGENTS.md");
    fs::write(&file, "first\n").expect("written");
    let mut client = Client::start(workspace.path(), &server.address, "11");
    client.line("开始");
    let request = client.reply("request");
    assert!(ends_with(&request, "first\n\n"), "{request}");
    assert_eq!((&request["call"], &request["sessionId"]), (&json!(1), &json!("11")));
    // A change is reported without a message.
    fs::write(&file, "the second\n").expect("written");
    client.reported("the second\n".len());
    client.line(ANSWER);
    assert_eq!(client.reply("answered")["call"], 1);
    fs::write(&file, "third\n").expect("written");
    client.line("继续");
    let request = client.reply("request");
    assert!(ends_with(&request, "third\n\n"), "{request}");
    assert_eq!(contents(&request), ["开始", "ok", "继续"]);
    // Without the file there are no rules.
    fs::remove_file(&file).expect("removed");
    client.line(ANSWER);
    client.line("再来");
    assert!(!client.reply("request")["system"].as_str().expect("a text").contains("工作区规则"));
    // It ends when its input does, and not before all that was said to it is printed.
    client.line("more");
    client.line(ANSWER);
    drop(client.input);
    let rest: Vec<String> = client.output.iter().collect();
    let last: Value = serde_json::from_str(rest.last().expect("replies")).expect("JSON");
    assert_eq!((&last["type"], &last["call"]), (&json!("request"), &json!(4)), "{rest:?}");
    assert_eq!(client.process.status(), Some(0));
}

#[test]
fn a_server_that_is_killed_loses_nothing() {
    let stage = Stage::of("mao");
    let server = stage.serve("0", &["--variant", "local"]);
    let address = server.address.clone();
    let workspace = tempfile::tempdir().expect("a folder");
    let file = workspace.path().join("AGENTS.md");
    fs::write(&file, "before\n").expect("written");
    let mut client = Client::start(workspace.path(), &address, "s");
    client.line("one");
    client.reply("request");
    server.process.kill();
    // What happens meanwhile waits.
    fs::write(&file, "meanwhile\n").expect("written");
    client.line("two");
    let server = stage.serve(&address, &["--variant", "local"]);
    assert_eq!(client.reply("queued")["waiting"], 1);
    client.line(ANSWER);
    assert_eq!(client.reply("answered")["call"], 1);
    let request = client.reply("request");
    assert_eq!(contents(&request), ["one", "ok", "two"]);
    assert!(ends_with(&request, "meanwhile\n\n"), "{request}");
    // And once more, with nothing said in between: the session is where it was.
    server.process.kill();
    let _server = stage.serve(&address, &["--variant", "local"]);
    client.line(ANSWER);
    assert_eq!(client.reply("answered")["call"], 2);
    // When the session ends, what was kept of it goes.
    assert_eq!(stage.kept().len(), 1);
    client.line(r#"{"type":"end_session"}"#);
    client.reply("ended");
    assert_eq!(stage.kept(), [""; 0].map(std::path::PathBuf::from));
}

#[test]
fn a_client_that_is_killed_loses_nothing() {
    let stage = Stage::of("mao");
    let server = stage.serve("0", &["--variant", "local"]);
    let workspace = tempfile::tempdir().expect("a folder");
    let file = workspace.path().join("AGENTS.md");
    fs::write(&file, "before\n").expect("written");
    let mut client = Client::start(workspace.path(), &server.address, "s");
    client.line("one");
    client.reply("request");
    client.line("two");
    client.reply("queued");
    client.process.kill();
    fs::write(&file, "after it\n").expect("written");
    let mut client = Client::start(workspace.path(), &server.address, "s");
    client.reported("after it\n".len());
    client.line(ANSWER);
    let request = client.reply("request");
    assert_eq!(contents(&request), ["one", "ok", "two"]);
    assert!(ends_with(&request, "after it\n\n"), "{request}");
    // A signal ends it cleanly.
    client.process.signal(Signal::SIGINT);
    assert_eq!(client.process.status(), Some(0));
}

#[test]
fn two_sessions_never_see_each_other() {
    let stage = Stage::of("mao");
    let server = stage.serve("0", &["--variant", "local"]);
    let (mut one, mut two) = (server.connect(), server.connect());
    let first = one.say("1", "secret one", Some("rule one\n"));
    let second = two.say("2", "secret two", Some("rule two\n"));
    assert!(ends_with(&first, "rule one\n\n") && ends_with(&second, "rule two\n\n"));
    assert!(!first.to_string().contains("two\\n") && !first.to_string().contains("secret two"));
    assert!(!second.to_string().contains("one\\n") && !second.to_string().contains("secret one"));
    // Nobody takes over a session that somebody uses.
    assert_eq!(two.say("1", "mine?", None)["code"], "in_use");
    assert_eq!(two.ask(&json!({ "type": "end_session", "sessionId": 1 }))["code"], "in_use");
    one.ask(&json!({ "type": "end_session", "sessionId": 1 }));
    let answered = two.ask(&json!({ "type": "answer", "sessionId": "2", "data": { "content": "ok" } }));
    assert_eq!(answered["call"], 1);
    let request = two.say("2", "more", Some("rule two\n"));
    assert_eq!(contents(&request), ["secret two", "ok", "more"]);
}

#[test]
fn hostile_messages_are_answered_and_harm_nobody() {
    let stage = Stage::of("mao");
    let server = stage.serve("0", &["--variant", "local"]);
    let mut good = server.connect();
    good.say("good", "hello", Some("rule\n"));
    let mut bad = server.connect();
    for (message, code) in [
        ("{", "malformed"),
        ("[[[[", "malformed"),
        ("null", "malformed"),
        (r#"{"type":"eval","sessionId":"x"}"#, "unknown_type"),
        (r#"{"type":"send_message","sessionId":{},"data":{"content":"x"}}"#, "wrong_type"),
        (r#"{"type":"send_message","sessionId":"x","data":{"content":7}}"#, "wrong_type"),
        (r#"{"type":"answer","sessionId":"nobody","data":{"content":""}}"#, "unknown_session"),
        (r#"{"type":"end_session","sessionId":"../../etc/passwd"}"#, "unknown_session"),
    ] {
        let reply = bad.raw(Message::Text(message.into()));
        assert_eq!((&reply["type"], &reply["code"]), (&json!("error"), &json!(code)), "{message}");
    }
    let null = bad.ask(&json!({ "type": "report", "sessionId": null, "agentsMdContent": "x" }));
    assert_eq!(null["type"], "ignored");
    assert_eq!(bad.raw(Message::Binary(vec![0, 159, 146, 150].into()))["code"], "binary");
    // One that is too large is answered; a flood ends its connection, and only that.
    let large = |bytes: usize| Message::Text("x".repeat(bytes).into());
    assert_eq!(bad.raw(large((4 << 20) + 1))["code"], "too_large");
    assert_eq!(bad.say("bad", "still here", None)["type"], "request");
    let mut flood = server.connect();
    let _ = flood.0.send(large(9 << 20));
    let mut ended = false;
    while !ended {
        ended = !matches!(flood.0.read(), Ok(Message::Text(_)));
    }
    // Other origins and other hosts are refused.
    for headers in [
        &[("origin", "https://evil.example")][..],
        &[("origin", "null")],
        &[("host", "evil.example")],
        &[("host", "evil.example"), ("origin", "http://evil.example")],
    ] {
        assert_eq!(server.upgrade(headers), 403, "{headers:?}");
    }
    assert_eq!(server.upgrade(&[("origin", &format!("http://{}", server.address))]), 101);
    assert_eq!(server.http("GET", "/", "Host: evil.example\r\n", "").0, 403);
    assert_eq!(server.http("GET", "/nothing", "", "").0, 404);
    assert_eq!(server.http("POST", "/previewPrompt", "", "{}").0, 404, "this bench gives no previews");
    let (status, body) = server.http("GET", "/ws", "", "");
    assert_eq!((status, body.contains("\"no_websocket\"")), (426, true), "no upgrade: {body}");
    // Somebody who sends half a request and waits keeps nobody else waiting.
    let mut half = TcpStream::connect(&server.address).expect("it listens");
    half.write_all(b"GET /ws HTTP/1.1\r\nHost: ").expect("sent");
    let answered = good.ask(&json!({ "type": "answer", "sessionId": "good", "data": { "content": "ok" } }));
    assert_eq!(answered["call"], 1);
    let request = good.say("good", "again", Some("rule\n"));
    assert_eq!(contents(&request), ["hello", "ok", "again"]);
}

/// A client that finds nobody says what it does, and goes on when there is somebody.
#[test]
fn a_client_without_a_server_says_so_and_goes_on_when_there_is_one() {
    // A port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = free.local_addr().expect("an address").to_string();
    drop(free);
    let workspace = tempfile::tempdir().expect("a folder");
    let mut child = plywood()
        .arg("client")
        .arg(workspace.path())
        .args(["--server", &format!("http://{address}"), "--session", "11"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let notes = lines(child.stderr.take().expect("piped"));
    let (mut input, output) =
        (child.stdin.take().expect("piped"), lines(child.stdout.take().expect("piped")));
    let _process = Process(child);
    let note = notes.recv_timeout(LIMIT).expect("it says something");
    for part in [
        format!("no connection to {address}: "),
        "Is `plywood serve` running there?".to_owned(),
        "Trying until it answers, every 5 s at last; Ctrl-C ends".to_owned(),
    ] {
        assert!(note.contains(&part), "{note}");
    }
    let stage = Stage::of("mao");
    let _server = stage.serve(&address, &["--variant", "local"]);
    writeln!(input, "开始").expect("it reads");
    let reply = output.recv_timeout(LIMIT).expect("a reply");
    assert!(reply.contains("\"type\":"), "{reply}");
    assert_eq!(notes.recv_timeout(LIMIT).expect("a note"), format!("note: connected to {address}"));
}

#[test]
fn a_signal_ends_a_server_with_a_word_to_everybody() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let stage = Stage::of("mao");
        let mut server = stage.serve("0", &[]);
        let mut peer = server.connect();
        peer.say("s", "hello", None);
        server.process.signal(signal);
        match peer.0.read().expect("a word") {
            Message::Close(Some(frame)) => {
                assert_eq!((frame.code, frame.reason.as_str()), (CloseCode::Away, "the server ends"));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(server.process.status(), Some(0));
        // All of it: the lines end with the process.
        assert_eq!(server.stderr.iter().collect::<Vec<_>>(), [""; 0], "nothing to complain of");
    }
}

#[test]
fn a_connection_that_never_asks_does_not_keep_a_server_from_ending() {
    let stage = Stage::of("mao");
    let mut server = stage.serve("0", &[]);
    let mut half = TcpStream::connect(&server.address).expect("it listens");
    half.write_all(b"GET /ws HTTP/1.1\r\nHost: ").expect("it reads");
    // Connections are taken in order: whoever comes later is welcomed, so the half request has been seen.
    server.connect();
    server.process.signal(Signal::SIGTERM);
    assert_eq!(server.process.status(), Some(0));
    assert_eq!(server.stderr.iter().collect::<Vec<_>>(), [""; 0], "nothing to complain of");
}

#[test]
fn a_second_server_of_a_bench_and_wrong_addresses_are_refused() {
    let stage = Stage::of("mao");
    let server = stage.serve("0", &[]);
    let refused = |listen: &str, says: &str| {
        let ran = plywood()
            .arg("serve")
            .arg(stage.sample.bench())
            .args(["--listen", listen])
            .env("XDG_STATE_HOME", stage.state.path())
            .output()
            .expect("it starts");
        let stderr = String::from_utf8(ran.stderr).expect("UTF-8");
        assert_eq!((ran.status.code(), ran.stdout.as_slice()), (Some(2), &b""[..]), "{stderr}");
        assert!(stderr.contains(says), "{stderr}");
    };
    refused("0", "another server keeps the sessions of this bench");
    refused("nowhere", "--listen nowhere: write a port or address:port");
    let ran = crate::cli::run(&["client", ".", "--server", "https://127.0.0.1:1", "--session", "x"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("plain HTTP"), "{}", ran.stderr);
    drop(server);
    // An address that others can reach is warned of.
    let server = stage.serve("0.0.0.0:0", &[]);
    let warning = server.stderr.recv_timeout(LIMIT).expect("a warning");
    assert!(warning.contains("can be reached from other machines"), "{warning}");
}

#[test]
fn a_preview_shows_the_prompt_of_a_clients_fields() {
    let stage = Stage::of("netaclaw");
    let server = stage.serve("0", &[]);
    let body = json!({ "systemPrompt": "ID", "skills": ["order-check"], "modelConfig": { "modelId": "deepseek-chat" } });
    for path in ["/previewPrompt", "/admin/any/agent/previewPrompt"] {
        let (status, preview) = server.preview(path, &body);
        assert_eq!(status, 200, "{preview}");
        let layers = preview["layers"].as_array().expect("a list");
        let text = |layer: &Value| layer["content"].as_str().expect("a text").to_owned();
        let joined: Vec<String> = layers.iter().map(text).collect();
        assert_eq!(preview["prompt"], joined.join("\n\n"));
        assert_eq!(layers[0], json!({ "name": "Agent 身份", "content": "ID" }));
        assert!(joined.concat().contains("order-check") && !joined.concat().contains("csv-report"));
    }
    // What is wrong is told, and the next preview is as good as ever.
    let broken = server.http("POST", "/previewPrompt", "", "{");
    assert_eq!(broken.0, 400);
    assert!(
        broken.1.starts_with(r#"{"error":{"code":"malformed","message":"the body is not JSON"#),
        "{}",
        broken.1
    );
    for (body, code) in [
        (json!([]), "malformed"),
        (json!({ "systemPrompt": 7 }), "wrong_type"),
        (json!({ "modelConfig": { "channelId": 99 } }), "no_value"),
        (json!({ "modelConfig": 7 }), "no_value"),
    ] {
        let (status, reply) = server.preview("/previewPrompt", &body);
        assert_eq!((status, &reply["error"]["code"]), (400, &json!(code)), "{body}: {reply}");
    }
    let large = json!({ "systemPrompt": "x".repeat(1 << 20) });
    let (status, reply) = server.preview("/previewPrompt", &large);
    assert_eq!((status, &reply["error"]["code"]), (413, &json!("too_large")));
    assert_eq!(server.http("GET", "/previewPrompt", "", "").0, 405);
    assert_eq!(server.http("POST", "/admin//agent/previewPrompt", "", "{}").0, 404);
    assert_eq!(server.http("POST", "/previewPrompt", "Origin: http://evil.example\r\n", "{}").0, 403);
    let (status, preview) = server.preview("/previewPrompt", &json!({}));
    assert_eq!(status, 200);
    assert!(preview["prompt"].as_str().expect("a text").ends_with("\n模型: unknown"), "{preview}");
}
