//! How frames reach the terminal: each as one write inside a synchronized update, and none when nothing changed.
//!
//! ratatui's own backend resets colours and hides the cursor after every frame, also when the frame equals the one
//! before. Here those bytes are only written when they say something new.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};

use super::terminal::{self, FRAME_END, FRAME_START};

/// The bytes of the frame that is being put together.
#[derive(Clone, Debug, Default)]
struct Bytes(Rc<RefCell<Vec<u8>>>);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Where finished frames go.
pub type Sink = fn(&[u8]) -> io::Result<()>;

/// A backend that collects a frame and writes it whole.
#[derive(Debug)]
pub struct FrameBackend {
    inner: CrosstermBackend<Bytes>,
    bytes: Bytes,
    sink: Sink,
    /// Whether the cursor is shown; none while that is not known.
    shown: Option<bool>,
    /// Where the cursor stands; none while that is not known.
    at: Option<Position>,
    written: u64,
}

impl FrameBackend {
    /// A backend for the terminal.
    pub fn new() -> Self {
        Self::with_sink(terminal::write_frame)
    }

    fn with_sink(sink: Sink) -> Self {
        let bytes = Bytes::default();
        Self { inner: CrosstermBackend::new(bytes.clone()), bytes, sink, shown: None, at: None, written: 0 }
    }

    /// Forgets what is known of the terminal, because somebody else wrote to it.
    pub fn forget(&mut self) {
        self.shown = None;
        self.at = None;
    }

    /// How many bytes were written so far.
    pub fn written(&self) -> u64 {
        self.written
    }
}

impl Default for FrameBackend {
    fn default() -> Self {
        Self::new()
    }
}

impl Backend for FrameBackend {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let mut content = content.peekable();
        if content.peek().is_none() {
            return Ok(());
        }
        // On terminals without synchronized updates the cursor would be seen running over the screen.
        if self.shown != Some(false) {
            self.inner.hide_cursor()?;
            self.shown = Some(false);
        }
        self.at = None;
        self.inner.draw(content)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        if self.shown != Some(false) {
            self.inner.hide_cursor()?;
            self.shown = Some(false);
        }
        Ok(())
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        if self.shown != Some(true) {
            self.inner.show_cursor()?;
            self.shown = Some(true);
        }
        Ok(())
    }

    /// Where the cursor was last put. The terminal is never asked: its answer would arrive among the keys.
    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(self.at.unwrap_or_default())
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        let position = position.into();
        if self.at != Some(position) {
            self.inner.set_cursor_position(position)?;
            self.at = Some(position);
        }
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.clear_region(ClearType::All)
    }

    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        self.inner.clear_region(clear_type)
    }

    /// The terminal's size in cells, at least 1x1: a terminal that does not know its size reports 0x0.
    fn size(&self) -> io::Result<Size> {
        let size = self.inner.size()?;
        Ok(Size { width: size.width.max(1), height: size.height.max(1) })
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.inner.window_size()
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut bytes = self.bytes.0.borrow_mut();
        if bytes.is_empty() {
            return Ok(());
        }
        let mut frame = Vec::with_capacity(FRAME_START.len() + bytes.len() + FRAME_END.len());
        frame.extend_from_slice(FRAME_START);
        frame.append(&mut bytes);
        frame.extend_from_slice(FRAME_END);
        self.written += frame.len() as u64;
        (self.sink)(&frame)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    thread_local! {
        static OUTPUT: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
    }

    fn collect(bytes: &[u8]) -> io::Result<()> {
        OUTPUT.with_borrow_mut(|output| output.push(bytes.to_vec()));
        Ok(())
    }

    fn frames() -> Vec<Vec<u8>> {
        OUTPUT.take()
    }

    /// What `Terminal::draw` asks of a backend for one frame.
    fn frame(backend: &mut FrameBackend, cells: &[(u16, u16, Cell)], cursor: Option<Position>) {
        backend.draw(cells.iter().map(|(x, y, cell)| (*x, *y, cell))).unwrap();
        match cursor {
            None => backend.hide_cursor().unwrap(),
            Some(position) => {
                backend.show_cursor().unwrap();
                backend.set_cursor_position(position).unwrap();
            }
        }
        backend.flush().unwrap();
    }

    #[test]
    fn a_frame_is_one_synchronized_write_and_an_equal_frame_is_none() {
        let mut backend = FrameBackend::with_sink(collect);
        frame(&mut backend, &[(0, 0, Cell::new("x"))], None);
        let first = frames();
        assert_eq!(first.len(), 1);
        assert!(first[0].starts_with(FRAME_START) && first[0].ends_with(FRAME_END), "{:?}", first[0]);
        assert_eq!(backend.written(), first[0].len() as u64);

        frame(&mut backend, &[], None);
        assert_eq!(frames(), Vec::<Vec<u8>>::new());
        assert_eq!(backend.written(), first[0].len() as u64);
    }

    #[test]
    fn the_cursor_is_written_only_when_it_changes() {
        let mut backend = FrameBackend::with_sink(collect);
        let at = Some(Position { x: 3, y: 1 });
        frame(&mut backend, &[], at);
        assert_eq!(frames().len(), 1, "shown and placed");
        frame(&mut backend, &[], at);
        assert_eq!(frames().len(), 0, "nothing changed");

        frame(&mut backend, &[(0, 0, Cell::new("x"))], at);
        let moved = String::from_utf8(frames().concat()).unwrap();
        assert!(moved.contains("\x1b[?25l") && moved.contains("\x1b[2;4H\u{1b}[?2026l"), "{moved:?}");
        assert!(moved.find("\x1b[?25h") > moved.find('x'), "shown again after the cells: {moved:?}");

        backend.forget();
        frame(&mut backend, &[], at);
        assert_eq!(frames().len(), 1, "somebody else wrote on the screen");
    }
}
