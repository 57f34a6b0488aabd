//! The life of the overlay on disk, as lines above its blocks.

use std::path::Path;

use super::page::{Ink, Line};
use crate::app::views::OverlayView;
use crate::core::text::number::grouped;
use crate::io::overlay::lock::State as Held;
use crate::io::overlay::session::Life;
use crate::io::overlay::status::{FileStatus, RoundTrip, SessionStatus};

/// What is on disk, a line for each thing.
pub(super) fn lines(life: &OverlayView) -> Vec<Line> {
    let mut lines = vec![Line { whole: true, ..Line::new("on disk") }.cell("on disk", Ink::Label)];
    let mut add = |key: String, word: &str, texts: Vec<(String, Ink)>| {
        let line = Line { whole: true, depth: 1, ..Line::new(key) }.cell(format!("{word:<9}"), Ink::Dim);
        lines.push(texts.into_iter().fold(line, |line, (text, ink)| line.cell(text, ink)));
    };
    let status = &life.status;
    let mut source = file(life, &status.source);
    if let Some(writer) = status.writer() {
        source.push((format!(", of the session {}", writer.id), Ink::Text));
    }
    add("disk source".into(), "source", source);
    add("disk applied".into(), "applied", trip(status.round_trip.as_ref()));
    let lock = life.shown(&status.lock);
    let (held, ink) = match &status.held {
        Ok(Held::Free) => ("free".to_owned(), Ink::Text),
        Ok(Held::Held(record)) => (format!("{record} has it"), Ink::Warn),
        Ok(Held::Dead(record)) => (format!("{record} had it, and is dead"), Ink::Bad),
        Ok(Held::Ownerless { age, .. }) => (format!("without an owner, {} s old", age.as_secs()), Ink::Bad),
        Err(why) => (why.clone(), Ink::Bad),
    };
    add("disk lock".into(), "lock", vec![(format!("{lock}  "), Ink::Text), (held, ink)]);
    for session in status.sessions.iter().filter(|session| session.life != Life::Archived) {
        let key = format!("disk session {}", session.id);
        add(key.clone(), "session", of_session(life, session));
        if let Some(carrier) = carrier(life, session) {
            add(format!("{key} file"), "", carrier);
        }
    }
    if let Some(ended) = status.ended() {
        add("disk ended".into(), "ended", vec![(ended, Ink::Dim)]);
    }
    if status.sessions.is_empty() {
        add("disk session".into(), "session", vec![("none has a file".into(), Ink::Dim)]);
    }
    for (at, finding) in status.findings(&|path| life.shown(path)).into_iter().enumerate() {
        add(format!("disk found {at}"), "found", vec![(finding.what, Ink::Bad)]);
        add(format!("disk next {at}"), "", vec![(finding.next, Ink::Dim)]);
    }
    lines
}

/// A file: its path, and what it holds.
fn file(life: &OverlayView, file: &FileStatus) -> Vec<(String, Ink)> {
    let path: &Path = &file.path;
    let mut texts = vec![(format!("{}  ", life.shown(path)), Ink::Text)];
    texts.push(match (&file.unreadable, file.bytes) {
        (Some(why), _) => (why.clone(), Ink::Bad),
        (None, None) => ("no such file".into(), Ink::Dim),
        (None, Some(bytes)) => holds(file, bytes),
    });
    texts
}

fn holds(file: &FileStatus, bytes: u64) -> (String, Ink) {
    let blocks = match file.blocks {
        0 => "no block".to_owned(),
        1 => "1 block".to_owned(),
        several => format!("{several} blocks"),
    };
    let mut text = format!("{} bytes, {blocks}", grouped(bytes));
    if let Some(ends) = file.ends.filter(|ends| *ends != "lf") {
        text += &format!(", line ends {ends}");
    }
    if file.quoted > 0 {
        text += &format!(", {} markers quoted", file.quoted);
    }
    match (file.strays.is_empty(), file.blocks) {
        (false, _) => (format!("{text}; left alone"), Ink::Bad),
        (true, 2..) => (text, Ink::Bad),
        _ => (text, Ink::Text),
    }
}

/// What applying and stripping would do to the source.
fn trip(trip: Option<&RoundTrip>) -> Vec<(String, Ink)> {
    let Some(trip) = trip else {
        return vec![("not at all: the source has to be left alone".into(), Ink::Bad)];
    };
    let (back, ink) = match (trip.differs, trip.gone) {
        (Some(byte), _) => (format!("other bytes from {} on", grouped(byte)), Ink::Bad),
        (None, true) => ("the file goes with its block".into(), Ink::Good),
        (None, false) => (format!("{} bytes, 0 differ", grouped(trip.stripped)), Ink::Good),
    };
    vec![(format!("it would have {} bytes; stripped again: ", grouped(trip.applied)), Ink::Text), (back, ink)]
}

fn of_session(life: &OverlayView, session: &SessionStatus) -> Vec<(String, Ink)> {
    let own = life.scratch && session.id == life.session;
    let (word, ink) = match &session.life {
        Life::Foreign if own => ("written by this run".to_owned(), Ink::Text),
        Life::Stale => ("stale".into(), Ink::Warn),
        Life::Unreadable(_) => ("its record cannot be read".into(), Ink::Bad),
        Life::OtherFile(source) => (format!("of another file: {}", life.shown(source)), Ink::Dim),
        other => (other.word().into(), Ink::Dim),
    };
    let mut texts = vec![(format!("{}  ", session.id), Ink::Text), (word, ink)];
    if let Some(owner) = &session.owner {
        texts.push((format!(", process {}", owner.pid), Ink::Dim));
    }
    texts
}

/// The file that carries the block of a session, and what it holds.
fn carrier(life: &OverlayView, session: &SessionStatus) -> Option<Vec<(String, Ink)>> {
    if session.is_in_source() {
        let path = life.shown(&life.status.source.path);
        let (has, ink) = match session.own {
            Some(true) => ("the source, has its block", Ink::Text),
            Some(false) => ("the source, has another block than its own", Ink::Warn),
            None => ("the source, has no block", Ink::Warn),
        };
        return Some(vec![(format!("{path}  "), Ink::Text), (has.into(), ink)]);
    }
    let has_file = session.file.bytes.is_some() || session.file.unreadable.is_some();
    if !has_file && !session.goes_on() {
        return None;
    }
    let mut texts = file(life, &session.file);
    if session.own == Some(false) {
        texts.push((", edited by somebody else".into(), Ink::Warn));
    }
    Some(texts)
}
