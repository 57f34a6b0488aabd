//! Runs a program in a pseudo-terminal, keeps every byte it writes, and knows what the terminal would show.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// How long to wait for something that happens at once on an idle machine. Only failures wait this long.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a key may take until it is pressed once more, where it can come too early.
const ONCE_MORE: Duration = Duration::from_secs(1);

/// What stands around a frame, so that a terminal shows it whole.
const FRAME_START: &[u8] = b"\x1b[?2026h";
const FRAME_END: &[u8] = b"\x1b[?2026l";

/// A program in a terminal.
pub(crate) struct Session {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    seen: Arc<(Mutex<Seen>, Condvar)>,
}

/// What came out of the program so far.
pub(crate) struct Seen {
    parser: vt100::Parser,
    /// Every byte.
    pub(crate) log: Vec<u8>,
    /// The program has closed its side.
    pub(crate) ended: bool,
    /// A frame has begun that has not ended: what is on the screen is half of it.
    within_frame: bool,
}

impl Seen {
    /// Takes what came out of the program.
    fn take(&mut self, bytes: &[u8]) {
        // A sequence may come in two pieces.
        let from = self.log.len().saturating_sub(FRAME_START.len() - 1);
        self.log.extend_from_slice(bytes);
        let last = |sequence: &[u8]| self.log[from..].windows(sequence.len()).rposition(|at| at == sequence);
        match (last(FRAME_START), last(FRAME_END)) {
            (None, None) => {}
            (start, end) => self.within_frame = start > end,
        }
        self.parser.process(bytes);
    }

    /// The text on the screen, line by line.
    pub(crate) fn text(&self) -> String {
        self.parser.screen().contents()
    }

    /// Whether the alternate screen is shown.
    pub(crate) fn alternate(&self) -> bool {
        self.parser.screen().alternate_screen()
    }

    /// The colours of a cell, in front and behind.
    pub(crate) fn cell_colours(&self, row: u16, column: u16) -> (vt100::Color, vt100::Color) {
        let cell = self.parser.screen().cell(row, column).expect("a cell of the screen");
        (cell.fgcolor(), cell.bgcolor())
    }

    /// Whether a cell is drawn in reverse or bold.
    pub(crate) fn is_marked(&self, row: u16, column: u16) -> bool {
        let cell = self.parser.screen().cell(row, column).expect("a cell of the screen");
        cell.inverse() || cell.bold()
    }

    /// The private modes that are not as they were at the start, as `?1049h` or `?25l`, in the order of their numbers.
    pub(crate) fn modes_left(&self) -> Vec<String> {
        changed_modes(&self.log)
    }
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).expect("a terminal has cells")
}

impl Session {
    /// Starts the program as the leader of its own session, as a terminal does with a shell.
    pub(crate) fn start(command: CommandBuilder, columns: u16, rows: u16) -> Self {
        let pair = native_pty_system().openpty(size(columns, rows)).expect("a pseudo-terminal");
        let child = pair.slave.spawn_command(command).expect("the program starts");
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let writer = pair.master.take_writer().expect("a writer");
        let parser = vt100::Parser::new(cells(rows), cells(columns), 0);
        let seen = Seen { parser, log: Vec::new(), ended: false, within_frame: false };
        let seen = Arc::new((Mutex::new(seen), Condvar::new()));
        let shared = Arc::clone(&seen);
        thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            loop {
                let count = reader.read(&mut buffer).unwrap_or(0);
                let mut seen = shared.0.lock().expect("the reader never panics while holding it");
                if count == 0 {
                    seen.ended = true;
                    shared.1.notify_all();
                    return;
                }
                seen.take(&buffer[..count]);
                shared.1.notify_all();
            }
        });
        Self { child, master: pair.master, writer, seen }
    }

    /// What came out so far.
    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.0.lock().expect("the reader never panics while holding it")
    }

    /// Types.
    pub(crate) fn send(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).expect("the program reads");
        self.writer.flush().expect("the program reads");
    }

    /// Changes the size of the terminal.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        self.seen().parser.set_size(cells(rows), cells(columns));
        self.master.resize(size(columns, rows)).expect("a new size");
    }

    /// Waits until what came out is as wanted, and says when it was; panics with the screen when it never is. Half a
    /// frame is never asked about: on it words are missing that will be there.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, mut wanted: impl FnMut(&Seen) -> bool) -> Instant {
        match self.wait_at_most(PATIENCE, |seen| !seen.within_frame && wanted(seen)) {
            Some(when) => when,
            None => self.give_up(what),
        }
    }

    /// Waits until so many bytes came out, in the middle of a frame or not.
    #[track_caller]
    pub(crate) fn wait_for_bytes(&self, count: usize) {
        if self.wait_at_most(PATIENCE, |seen| seen.log.len() > count).is_none() {
            self.give_up(&format!("{count} bytes"));
        }
    }

    /// Presses keys until what comes out is as wanted, for those that do something only after a thing that nothing on
    /// the screen tells of.
    #[track_caller]
    pub(crate) fn press_until(&mut self, keys: &str, what: &str, mut wanted: impl FnMut(&Seen) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.send(keys);
            if self.wait_at_most(ONCE_MORE, |seen| !seen.within_frame && wanted(seen)).is_some() {
                return;
            }
            if Instant::now() > deadline || self.seen().ended {
                self.give_up(what);
            }
        }
    }

    /// Waits until what came out is as wanted, and says when it was; none when it was not before the limit or the end.
    fn wait_at_most(&self, limit: Duration, mut wanted: impl FnMut(&Seen) -> bool) -> Option<Instant> {
        let deadline = Instant::now() + limit;
        let mut seen = self.seen();
        loop {
            if wanted(&seen) {
                return Some(Instant::now());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || seen.ended {
                return None;
            }
            seen = self.seen.1.wait_timeout(seen, left).expect("the reader never panics while holding it").0;
        }
    }

    #[track_caller]
    fn give_up(&self, what: &str) -> ! {
        let seen = self.seen();
        let end = if seen.ended { "the program ended" } else { "time is over" };
        let half = if seen.within_frame { " (half a frame)" } else { "" };
        let text = seen.text();
        drop(seen);
        panic!("{end}, still waiting for {what}; the screen{half}:\n{text}\n---");
    }

    /// Waits until this text is on the screen.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) -> Instant {
        self.wait_until(&format!("{text:?}"), |seen| seen.text().contains(text))
    }

    /// Waits until the program has ended; its exit code.
    #[track_caller]
    pub(crate) fn wait_for_exit(&mut self) -> u32 {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the program's state") {
                break status;
            }
            assert!(
                Instant::now() < deadline,
                "the program does not end; the screen:\n{}",
                self.seen().text()
            );
            thread::sleep(Duration::from_millis(5));
        };
        let mut seen = self.seen();
        while !seen.ended {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "the terminal stays open");
            seen = self.seen.1.wait_timeout(seen, left).expect("the reader never panics while holding it").0;
        }
        status.exit_code()
    }

    /// The process id of the program.
    pub(crate) fn pid(&self) -> i32 {
        self.child.process_id().and_then(|pid| i32::try_from(pid).ok()).expect("the program runs")
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // A failed test must not leave its program behind.
        let _ = self.child.kill();
    }
}

/// The private modes (`CSI ? n h` and `CSI ? n l`) that differ from a terminal's defaults after these bytes.
fn changed_modes(log: &[u8]) -> Vec<String> {
    let mut modes = std::collections::BTreeMap::new();
    let mut rest = log;
    while let Some(at) = rest.windows(3).position(|window| window == b"\x1b[?") {
        rest = &rest[at + 3..];
        let Some(end) = rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b';') else { break };
        if let (b'h' | b'l', Ok(numbers)) = (rest[end], std::str::from_utf8(&rest[..end])) {
            for number in numbers.split(';').filter_map(|number| number.parse::<u32>().ok()) {
                modes.insert(number, rest[end] == b'h');
            }
        }
    }
    // The cursor (25) and wrapping (7) are on in a fresh terminal, everything else is off.
    modes
        .into_iter()
        .filter(|(number, on)| *on != matches!(number, 7 | 25))
        .map(|(number, on)| format!("?{number}{}", if on { 'h' } else { 'l' }))
        .collect()
}

#[test]
fn half_a_frame_is_known() {
    let parser = vt100::Parser::new(cells(2), cells(20), 0);
    let mut seen = Seen { parser, log: Vec::new(), ended: false, within_frame: false };
    let mut within = |bytes: &[u8]| {
        seen.take(bytes);
        seen.within_frame
    };
    assert!(!within(b"a shell"));
    assert!(!within(b"\x1b[?20"));
    assert!(within(b"26h half"));
    assert!(within(b" of it"));
    assert!(!within(b"\x1b[?2026l"));
    assert!(within(b"\x1b[?2026h one \x1b[?2026l\x1b[?2026h two"));
    assert!(!within(b"\x1b[?2026l\x1b[?2026h three \x1b[?2026l"));
}

#[test]
fn the_log_tells_which_modes_are_left() {
    assert_eq!(changed_modes(b"a\x1b[?1049h\x1b[?25lb"), ["?25l", "?1049h"]);
    assert_eq!(changed_modes(b"\x1b[?1000;1006h\x1b[?1000l"), ["?1006h"]);
    assert_eq!(changed_modes(b"\x1b[?1049h\x1b[?25l\x1b[31m\x1b[?25h\x1b[?1049l"), Vec::<String>::new());
}
