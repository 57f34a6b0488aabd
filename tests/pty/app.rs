//! A small program on the driver, for what the workbench itself cannot be made to do: to panic, to hang, to draw without
//! an end. It is this test executable, started again with [`VARIABLE`] set.

use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use plywood::tui::driver::{self, App, Effect, Notice};
use portable_pty::CommandBuilder;
use ratatui::Frame;
use ratatui::widgets::Paragraph;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// Turns the test below into the program.
const VARIABLE: &str = "PLYWOOD_TEST_APP";

/// The command that starts the program.
pub(crate) fn command() -> CommandBuilder {
    let mut command = CommandBuilder::new(std::env::current_exe().expect("the test executable"));
    command.args(arguments());
    command.env(VARIABLE, "1");
    command.env("TERM", "xterm-256color");
    command.env_remove("RUST_BACKTRACE");
    command
}

/// The same as a line for a shell.
pub(crate) fn command_line() -> String {
    let executable = std::env::current_exe().expect("the test executable");
    format!("{VARIABLE}=1 '{}' {}", executable.display(), arguments().join(" "))
}

fn arguments() -> [&'static str; 4] {
    ["app::the_program", "--exact", "--nocapture", "--test-threads=1"]
}

#[test]
fn the_program() {
    if std::env::var_os(VARIABLE).is_none() {
        return;
    }
    let (sender, receiver) = unbounded_channel();
    let mut program = Program {
        sender,
        lines: vec!["ready".into()],
        effects: Vec::new(),
        deadline: None,
        frames: 0,
        panic: false,
        dirty: false,
    };
    match driver::run(&mut program, receiver, true) {
        Ok(code) => std::process::exit(code.into()),
        Err(error) => {
            println!("error: {error}");
            std::process::exit(2);
        }
    }
}

struct Program {
    sender: UnboundedSender<String>,
    lines: Vec<String>,
    effects: Vec<Effect<String>>,
    deadline: Option<Instant>,
    frames: u64,
    panic: bool,
    dirty: bool,
}

impl App for Program {
    type Message = String;

    fn on_input(&mut self, event: Event) {
        self.dirty = true;
        match event {
            Event::Key(KeyEvent { code: KeyCode::Char('z'), modifiers: KeyModifiers::CONTROL, .. }) => {
                self.effects.push(Effect::Suspend);
            }
            Event::Key(KeyEvent { code: KeyCode::Char(key), .. }) => self.on_key(key),
            Event::Paste(text) => self.lines.push(format!("pasted {text:?}")),
            Event::FocusGained => self.lines.push("focus".into()),
            Event::Mouse(mouse) => self.lines.push(format!("mouse {},{}", mouse.column, mouse.row)),
            _ => {}
        }
    }

    fn on_message(&mut self, message: String) {
        self.dirty = true;
        self.lines.push(message);
    }

    fn on_notice(&mut self, notice: Notice) {
        self.dirty = true;
        self.lines.push(notice.to_string());
    }

    fn on_deadline(&mut self, now: Instant) {
        self.dirty = true;
        self.deadline = Some(now + Duration::from_millis(1));
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn take_dirty(&mut self) -> bool {
        std::mem::take(&mut self.dirty)
    }

    fn draw(&mut self, frame: &mut Frame<'_>) {
        self.frames += 1;
        assert!(!self.panic, "the drawing thread panics");
        let area = frame.area();
        let mut text = format!("size {}x{} pid {}\n", area.width, area.height, std::process::id());
        text.push_str(&self.lines.join("\n"));
        if self.deadline.is_some() {
            // Another text in every cell each time, so that frames are long.
            let digit = char::from_digit(u32::try_from(self.frames % 10).unwrap_or(0), 10).unwrap_or('-');
            text.push('\n');
            text.extend(std::iter::repeat_n(digit, usize::from(area.width) * usize::from(area.height)));
        }
        frame.render_widget(Paragraph::new(text).wrap(ratatui::widgets::Wrap { trim: false }), area);
    }

    fn take_effects(&mut self) -> Vec<Effect<String>> {
        std::mem::take(&mut self.effects)
    }
}

impl Program {
    fn on_key(&mut self, key: char) {
        match key {
            'q' => self.effects.push(Effect::Quit(7)),
            'p' => self.panic = true,
            'b' => {
                std::thread::spawn(|| panic!("the background thread panics"));
            }
            // The loop no longer turns.
            'h' => loop {
                std::thread::sleep(Duration::from_secs(1));
            },
            'd' => self.deadline = Some(Instant::now()),
            'm' => self.effects.push(Effect::Mouse(false)),
            'w' => {
                let sender = self.sender.clone();
                std::thread::spawn(move || sender.send("from a thread".into()));
            }
            'l' => self.effects.push(Effect::Lend(Box::new(|| {
                println!("lent: type a line");
                let mut line = String::new();
                std::io::stdin().read_line(&mut line).expect("the terminal can be read");
                format!("the borrower got {:?}", line.trim_end())
            }))),
            other => self.lines.push(format!("key {other}")),
        }
    }
}
