//! How far reading is, in the last line of a terminal, until it is done or somebody ends it.

use std::io::{self, IsTerminal, Write};

use crate::io::stop;

/// Back to the start of the line, and nothing in it.
const CLEAR: &str = "\r\u{1b}[K";

/// The bar.
pub(super) struct Bar {
    /// False where the messages go to no terminal.
    on: bool,
    /// True where what is written goes to a terminal, most likely the same one.
    shared: bool,
    drawn: bool,
    percent: u64,
}

impl Bar {
    /// A bar that is not drawn yet, and that Ctrl-C takes away.
    pub(super) fn new() -> Bar {
        let on = io::stderr().is_terminal();
        if on {
            // Without signals the line stays where it is, and that is all.
            let _ = stop::end_with(|| {
                let mut stderr = io::stderr().lock();
                let _ = write!(stderr, "{CLEAR}");
                let _ = stderr.flush();
                // Nobody draws it again.
                stderr
            });
        }
        Bar { on, shared: io::stdout().is_terminal(), drawn: false, percent: u64::MAX }
    }

    /// Draws it, where it is not what stands there.
    pub(super) fn draw(&mut self, file: usize, files: usize, read: u64, size: Option<u64>) {
        const WIDTH: usize = 30;
        let Some(size) = size.filter(|&size| self.on && size > 0) else { return };
        let percent = (read.saturating_mul(100) / size).min(100);
        if percent == self.percent && self.drawn {
            return;
        }
        (self.percent, self.drawn) = (percent, true);
        let done = percent as usize * WIDTH / 100;
        let of = if files > 1 { format!(", file {} of {files}", file + 1) } else { String::new() };
        let mut stderr = io::stderr().lock();
        let _ = write!(
            stderr,
            "\r[{}{}] {percent:3} % of {} MB{of} ",
            "#".repeat(done),
            ".".repeat(WIDTH - done),
            (size >> 20).max(1)
        );
        let _ = stderr.flush();
    }

    /// Takes it away, to be drawn again.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            let mut stderr = io::stderr().lock();
            let _ = write!(stderr, "{CLEAR}");
            let _ = stderr.flush();
        }
    }

    /// The same where what is written now would stand behind it.
    pub(super) fn make_way(&mut self) {
        if self.shared {
            self.clear();
        }
    }
}
