//! The conversation with the server, over as many connections as it takes.

use std::collections::VecDeque;
use std::io::{self, BufRead};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Map, Value as Json, json};
use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc};
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::report::{self, Report};
use super::{FIRST_WAIT, LINES, LONGEST_WAIT, Options};
use crate::io::server::SOCKET;
use crate::io::stop;
use crate::io::watch::{Mode, Notice, Watcher};

/// How a client ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Everything that was read has its reply.
    Answered,
    /// By a signal.
    Signal,
}

/// Why a client could not go on.
#[derive(Debug)]
pub enum Stopped {
    /// The server refuses it, or the machine does not give what it needs: one sentence, lower case, without a full stop.
    Message(String),
    /// What it prints cannot be written.
    Output(io::Error),
}

/// How long a server has to take leave.
const LEAVE: Duration = Duration::from_secs(3);

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Why a connection is over.
enum Over {
    Ended(Ended),
    Stopped(Stopped),
    /// It can be tried again.
    Lost(String),
}

impl From<tungstenite::Error> for Over {
    fn from(error: tungstenite::Error) -> Over {
        Over::Lost(error.to_string())
    }
}

/// A line of the input that was not acknowledged yet.
struct Line {
    id: String,
    message: Map<String, Json>,
}

struct Client<'a> {
    options: &'a Options,
    lines: mpsc::Receiver<String>,
    /// False when the input has ended.
    reading: bool,
    waiting: VecDeque<Line>,
    /// Where each kind of message carries the report, as this server has it.
    fields: Vec<(String, Vec<String>)>,
    message_bytes: usize,
    /// What was reported last on this connection.
    reported: Option<Option<String>>,
    notes: Vec<String>,
    /// Why there is no connection, as the user was told; none while there is one.
    lost: Option<String>,
    changed: Arc<Notify>,
    /// Makes ids that no other run of the client makes.
    run: String,
    numbered: u64,
    print: &'a mut dyn FnMut(&str) -> io::Result<()>,
    say: &'a mut dyn FnMut(&str),
}

/// Runs a client until its input has ended and every line has its reply. `print` takes each reply as a line of JSON, `say`
/// what the user should know.
///
/// # Errors
///
/// When the server refuses the client, or something cannot be written.
pub fn run(
    options: &Options,
    input: impl BufRead + Send + 'static,
    print: &mut dyn FnMut(&str) -> io::Result<()>,
    say: &mut dyn FnMut(&str),
) -> Result<Ended, Stopped> {
    let failed = |error: io::Error| Stopped::Message(error.to_string());
    let (sender, lines) = mpsc::channel(LINES);
    // Reading blocks, and ends with the process.
    std::thread::Builder::new().name("input".into()).spawn(move || read(input, &sender)).map_err(failed)?;
    let changed = Arc::new(Notify::new());
    let folder = options.file.parent().unwrap_or(&options.file);
    let wake = changed.clone();
    let watcher = Watcher::start(folder, Mode::Auto, move |notice| {
        if let Notice::Look(_) = notice {
            wake.notify_one();
        }
    })
    .map_err(failed)?;
    watcher.set([options.file.clone()]);
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_nanos());
    let mut client = Client {
        options,
        lines,
        reading: true,
        waiting: VecDeque::new(),
        fields: Vec::new(),
        message_bytes: usize::MAX,
        reported: None,
        notes: Vec::new(),
        lost: None,
        changed,
        run: format!("{started:x}-{:x}", std::process::id()),
        numbered: 0,
        print,
        say,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    runtime.block_on(async {
        let signal = stop::asked().map_err(failed)?;
        tokio::pin!(signal);
        client.connect_again_and_again(signal).await
    })
}

fn read(mut input: impl BufRead, sender: &mpsc::Sender<String>) {
    let mut bytes = Vec::new();
    while input.read_until(b'\n', &mut bytes).is_ok_and(|read| read > 0) {
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end_matches(['\n', '\r']).to_owned();
        bytes.clear();
        if !line.is_empty() && sender.blocking_send(line).is_err() {
            return;
        }
    }
}

impl Client<'_> {
    async fn connect_again_and_again(
        &mut self,
        mut signal: std::pin::Pin<&mut impl Future<Output = ()>>,
    ) -> Result<Ended, Stopped> {
        let mut wait = FIRST_WAIT;
        loop {
            let over = tokio::select! {
                over = self.connect(&mut wait) => over,
                () = &mut signal => return Ok(Ended::Signal),
            };
            match over {
                Over::Ended(ended) => return Ok(ended),
                Over::Stopped(stopped) => return Err(stopped),
                Over::Lost(reason) => self.tell_lost(reason),
            }
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = &mut signal => return Ok(Ended::Signal),
            }
            wait = next_wait(wait);
        }
    }

    /// Tells the user that there is no connection; the same reason again and again is no news.
    fn tell_lost(&mut self, reason: String) {
        if self.lost.as_ref() == Some(&reason) {
            return;
        }
        let nobody = reason.to_lowercase().contains("refused");
        let nobody = if nobody { ". Is `plywood serve` running there?" } else { "." };
        let kept = match self.waiting.len() {
            0 => String::new(),
            1 => "; 1 line is kept for it".to_owned(),
            lines => format!("; {lines} lines are kept for it"),
        };
        let (server, longest) = (&self.options.server, LONGEST_WAIT.as_secs());
        (self.say)(&format!(
            "no connection to {server}: {reason}{nobody} Trying until it answers, every {longest} s at last{kept}; Ctrl-C ends"
        ));
        self.lost = Some(reason);
    }

    /// One connection, from its beginning to its end. One that was welcomed sets the wait back.
    async fn connect(&mut self, wait: &mut Duration) -> Over {
        match self.talk(wait).await {
            Ok(ended) => Over::Ended(ended),
            Err(over) => over,
        }
    }

    async fn talk(&mut self, wait: &mut Duration) -> Result<Ended, Over> {
        let (mut socket, _) = match connect_async(format!("ws://{}{SOCKET}", self.options.server)).await {
            Ok(connected) => connected,
            Err(tungstenite::Error::Http(answer)) if answer.status().is_client_error() => {
                let reason =
                    format!("{} is no server for this client: {}", self.options.server, answer.status());
                return Err(Over::Stopped(Stopped::Message(reason)));
            }
            Err(error) => return Err(error.into()),
        };
        self.welcome(&mut socket).await?;
        if self.lost.take().is_some() {
            (self.say)(&format!("connected to {}", self.options.server));
        }
        self.reported = None;
        self.report(&mut socket).await?;
        for index in 0..self.waiting.len() {
            self.send(&mut socket, index).await?;
        }
        let changed = self.changed.clone();
        loop {
            if !self.reading && self.waiting.is_empty() {
                return self.leave(&mut socket).await;
            }
            tokio::select! {
                message = socket.next() => match message {
                    Some(Ok(Message::Text(text))) => {
                        self.take(&text)?;
                        *wait = FIRST_WAIT;
                    }
                    Some(Ok(Message::Close(frame))) => {
                        let reason = frame.map_or_else(String::new, |frame| frame.reason.to_string());
                        return Err(Over::Lost(if reason.is_empty() { "it was closed".to_owned() } else { reason }));
                    }
                    Some(Ok(_)) => {}
                    Some(Err(error)) => return Err(error.into()),
                    None => return Err(Over::Lost("it was closed".to_owned())),
                },
                line = self.lines.recv(), if self.reading && self.waiting.len() < LINES => match line {
                    Some(line) => {
                        let line = self.line(&line);
                        self.waiting.push_back(line);
                        self.send(&mut socket, self.waiting.len() - 1).await?;
                    }
                    None => self.reading = false,
                },
                () = changed.notified() => self.report(&mut socket).await?,
            }
        }
    }

    /// Takes leave: what the server still has to say comes before its own leave. Everything has its reply by then, so it
    /// does not matter how the connection ends.
    async fn leave(&mut self, socket: &mut Socket) -> Result<Ended, Over> {
        let _ = socket.close(None).await;
        let late = tokio::time::sleep(LEAVE);
        tokio::pin!(late);
        loop {
            tokio::select! {
                message = socket.next() => match message {
                    Some(Ok(Message::Text(text))) => self.show(&text)?,
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    _ => return Ok(Ended::Answered),
                },
                () = &mut late => return Ok(Ended::Answered),
            }
        }
    }

    /// The server says first what it takes.
    async fn welcome(&mut self, socket: &mut Socket) -> Result<(), Over> {
        let stranger =
            || Over::Stopped(Stopped::Message(format!("{} speaks another protocol", self.options.server)));
        let welcome: Json = loop {
            match socket.next().await {
                Some(Ok(Message::Text(text))) => {
                    break serde_json::from_str(&text).map_err(|_| stranger())?;
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error.into()),
                None => return Err(Over::Lost("it was closed".to_owned())),
            }
        };
        if welcome["type"] != "welcome" {
            return Err(stranger());
        }
        let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        let fields = welcome["report"].as_array().map(Vec::as_slice).unwrap_or_default();
        self.fields = fields
            .iter()
            .map(|field| (text(&field["on"]), text(&field["field"]).split('.').map(str::to_owned).collect()))
            .collect();
        self.message_bytes =
            welcome["messageBytes"].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
        Ok(())
    }

    /// What a line of the input says: a message as it is, where it is a JSON object with a type; else what the user says.
    fn line(&mut self, line: &str) -> Line {
        self.numbered += 1;
        let mut message = match serde_json::from_str(line) {
            Ok(Json::Object(message)) if message.get("type").is_some_and(Json::is_string) => message,
            _ => {
                let mut message = Map::new();
                message.insert("type".into(), "send_message".into());
                message.insert("data".into(), json!({ "content": line }));
                message
            }
        };
        let id = match message.get("messageId").and_then(Json::as_str) {
            Some(id) => id.to_owned(),
            None => format!("{}-{}", self.run, self.numbered),
        };
        message.insert("messageId".into(), Json::String(id.clone()));
        if !message.contains_key("sessionId") {
            message.insert("sessionId".into(), Json::String(self.options.session.clone()));
        }
        Line { id, message }
    }

    /// The file as it is now; what is to be known about it is said once.
    fn present(&mut self) -> Option<String> {
        let Report { text, notes } = report::read(&self.options.file);
        if notes != self.notes {
            let file = self.options.file.display();
            notes.iter().for_each(|note| (self.say)(&format!("{file}: {note}")));
            self.notes = notes;
        }
        text
    }

    /// Sends a line, with the report as it is now.
    async fn send(&mut self, socket: &mut Socket, index: usize) -> Result<(), Over> {
        let present = self.present();
        let Some(line) = self.waiting.get(index) else { return Ok(()) };
        let mut message = line.message.clone();
        let carries = self.put(&mut message, present.as_deref());
        let text = Json::Object(message).to_string();
        if text.len() > self.message_bytes {
            // The server would not even read whose message this is.
            let id = self.waiting.remove(index).map(|line| line.id);
            let message =
                format!("a message of {} bytes; the server reads {}", text.len(), self.message_bytes);
            let reply = json!({ "type": "error", "sessionId": self.options.session, "messageId": id, "code": "too_large", "message": message });
            return self.show(&reply.to_string());
        }
        socket.send(Message::Text(text.into())).await?;
        if carries {
            self.reported = Some(present);
        }
        Ok(())
    }

    /// Sends a report of its own where the last one says something else.
    async fn report(&mut self, socket: &mut Socket) -> Result<(), Over> {
        let present = self.present();
        if self.reported.as_ref() == Some(&present) {
            return Ok(());
        }
        let mut message = Map::new();
        message.insert("type".into(), "report".into());
        message.insert("sessionId".into(), Json::String(self.options.session.clone()));
        if self.put(&mut message, present.as_deref()) {
            socket.send(Message::Text(Json::Object(message).to_string().into())).await?;
            self.reported = Some(present);
        }
        Ok(())
    }

    /// Puts the report where messages of this kind carry it; false where they carry none. A field that the user wrote stays.
    fn put(&self, message: &mut Map<String, Json>, present: Option<&str>) -> bool {
        let kind = message.get("type").and_then(Json::as_str).unwrap_or_default().to_owned();
        let mut carries = false;
        for (_, path) in self.fields.iter().filter(|(on, _)| *on == kind) {
            carries |= put_at(message, path, present);
        }
        carries
    }

    /// Takes a reply of the server.
    fn take(&mut self, text: &str) -> Result<(), Over> {
        let reply: Json = serde_json::from_str(text).unwrap_or_default();
        if reply["type"] == "error" && reply["code"] == "in_use" {
            // The server may not have noticed yet that the connection before is gone.
            return Err(Over::Lost(reply["message"].as_str().unwrap_or_default().to_owned()));
        }
        if let Some(id) = reply["messageId"].as_str() {
            self.waiting.retain(|line| line.id != id);
        }
        self.show(text)
    }

    fn show(&mut self, line: &str) -> Result<(), Over> {
        (self.print)(line).map_err(|error| Over::Stopped(Stopped::Output(error)))
    }
}

/// Puts a report under a path of fields, those on the way included; false where something else stands there.
fn put_at(message: &mut Map<String, Json>, path: &[String], present: Option<&str>) -> bool {
    let Some((name, inner)) = path.split_first() else { return false };
    if inner.is_empty() {
        let free = !message.contains_key(name);
        if free {
            message.insert(name.clone(), present.map_or(Json::Null, |text| Json::String(text.to_owned())));
        }
        return free;
    }
    match message.entry(name.clone()).or_insert_with(|| json!({})) {
        Json::Object(message) => put_at(message, inner, present),
        _ => false,
    }
}

/// Twice as long, up to the longest.
fn next_wait(wait: Duration) -> Duration {
    (wait * 2).min(LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_up_to_a_limit() {
        let mut wait = FIRST_WAIT;
        let mut waits = Vec::new();
        for _ in 0..8 {
            waits.push(wait.as_millis());
            wait = next_wait(wait);
        }
        assert_eq!(waits, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    }

    #[test]
    fn lines_are_read_until_the_input_ends() {
        let (sender, mut lines) = mpsc::channel(8);
        read(io::Cursor::new(b"one\r\n\ntwo \xff\nlast".to_vec()), &sender);
        drop(sender);
        let mut read = Vec::new();
        while let Ok(line) = lines.try_recv() {
            read.push(line);
        }
        assert_eq!(read, ["one", "two \u{fffd}", "last"]);
    }
}
