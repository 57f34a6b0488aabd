//! The life of the overlay on disk, as lines above its blocks.

use std::path::Path;

use super::page::{Ink, Line};
use crate::app::views::OverlayView;
use crate::core::text::number::grouped;
use crate::io::overlay::lock::State as Held;
use crate::io::overlay::session::{Life, Target};
use crate::io::overlay::status::{FileStatus, RoundTrip, SessionStatus};

/// What is on disk, a line for each thing.
pub(super) fn lines(life: &OverlayView) -> Vec<Line> {
    let mut lines = vec![Line { whole: true, ..Line::new("on disk") }.cell("on disk", Ink::Label)];
    let mut add = |key: String, word: &str, texts: Vec<(String, Ink)>| {
        let line = Line { whole: true, depth: 1, ..Line::new(key) }.cell(format!("{word:<9}"), Ink::Dim);
        lines.push(texts.into_iter().fold(line, |line, (text, ink)| line.cell(text, ink)));
    };
    let status = &life.status;
    add("disk source".into(), "source", file(life, &status.source));
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
    for session in &status.sessions {
        add(format!("disk session {}", session.id), "session", of_session(life, session));
    }
    if status.sessions.is_empty() {
        add("disk session".into(), "session", vec![("none has a file".into(), Ink::Dim)]);
    }
    for path in &status.left {
        let told = vec![(life.shown(path), Ink::Text), ("  left by a dead process".into(), Ink::Bad)];
        add(format!("disk left {}", path.display()), "left", told);
    }
    for stray in &status.source.strays {
        let at = format!("disk stray {}", stray.line);
        let place = format!("{}:{}:{}  ", life.shown(&status.source.path), stray.line, stray.column);
        add(at, "found", vec![(place, Ink::Text), (stray.to_string(), Ink::Bad)]);
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
    let with = format!("{} bytes to the source; stripped again: ", grouped(trip.applied));
    vec![(with, Ink::Text), (back, ink)]
}

fn of_session(life: &OverlayView, session: &SessionStatus) -> Vec<(String, Ink)> {
    let own = life.scratch && session.id == life.session;
    let (word, ink) = match &session.life {
        Life::Foreign if own => ("written by this run", Ink::Text),
        Life::Stale => ("stale", Ink::Warn),
        Life::Unreadable(_) => ("its record cannot be read", Ink::Bad),
        life => (life.word(), Ink::Dim),
    };
    let mut texts = vec![(format!("{}  ", session.id), Ink::Text), (word.into(), ink)];
    if let Some(owner) = session.owner.as_ref().filter(|_| session.life != Life::Archived) {
        texts.push((format!(", process {}", owner.pid), Ink::Dim));
    }
    if session.target == Some(Target::Source) {
        texts.push((", in the source".into(), Ink::Dim));
    } else if let Some(bytes) = session.file.bytes {
        let (text, ink) = holds(&session.file, bytes);
        texts.push((format!(", {text}"), ink));
    }
    if session.own == Some(false) {
        texts.push((", edited by somebody else".into(), Ink::Warn));
    }
    texts
}
