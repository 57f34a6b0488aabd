//! `plywood shot PATH`: a picture of the workbench, without a terminal.

use super::args::ShotArgs;
use super::output::{Failure, Out, Result};
use super::settings;
use super::{open, workbench};
use crate::app::effect::EngineRequest;
use crate::app::engine::Inline;
use crate::app::event::Event;
use crate::app::highlight::worker::finish;
use crate::app::key::Key;
use crate::core::wire::CallNo;
use crate::tui::picture::{self, Ground};
use crate::tui::theme::{Depth, Theme};

/// Writes the picture.
pub(super) fn run(args: &ShotArgs, out: &mut Out<'_>) -> Result {
    open::check(&args.bench)?;
    let keys = keys(&args.keys)?;
    let theme = theme(&args.theme)?;
    let mut inline = Inline::new(workbench::engine(Some(&args.path), &args.bench)?);
    let mut shot = Shot { inline: &mut inline, theme: &theme, size: args.size };
    if let Some(call) = args.call {
        shot.show(call)?;
    }
    for key in keys {
        shot.press(key);
    }
    let svg = shot.svg();
    match &args.output {
        Some(file) => std::fs::write(file, svg).map_err(|error| {
            Failure::message(format!(
                "{} cannot be written: {}",
                file.display(),
                crate::io::load::reason(&error)
            ))
        })?,
        None => out.text(&svg)?,
    }
    Ok(super::markdown::told(&shot.inline.state.snapshot.diagnostics))
}

/// A theme in all its colours: a picture has no terminal that could lack them.
pub(super) fn theme(name: &str) -> Result<Theme> {
    settings::theme(name, Depth::True)
}

/// Reads keys with spaces between them.
fn keys(text: &str) -> Result<Vec<Key>> {
    text.split_whitespace()
        .map(|word| {
            Key::parse(word).ok_or_else(|| {
                Failure::message(format!(
                    "--keys: `{word}` is no key; write `v`, `space`, `ctrl-l`, with spaces between them"
                ))
            })
        })
        .collect()
}

/// A workbench that has its picture taken.
pub(super) struct Shot<'a> {
    /// The workbench.
    pub inline: &'a mut Inline,
    /// Its colours.
    pub theme: &'a Theme,
    /// Its columns and rows.
    pub size: (u16, u16),
}

impl Shot<'_> {
    /// Shows a call, sending what the script holds until there.
    pub(super) fn show(&mut self, call: u32) -> Result<()> {
        self.draw();
        self.inline.request(EngineRequest::Jump(CallNo(call)));
        let snapshot = &self.inline.state.snapshot;
        if snapshot.request.call.0 == call {
            return Ok(());
        }
        let calls = snapshot.calls.rows.len();
        Err(Failure::message(format!("there is no call {call}: {} has {calls}", snapshot.title.name)))
    }

    /// Presses a key. What needs a terminal (the clipboard, another editor, quitting) is not done.
    pub(super) fn press(&mut self, key: Key) {
        // Keys mean what they mean on the screen that is measured.
        self.draw();
        self.inline.happen(Event::Key(key));
    }

    fn draw(&mut self) {
        picture::frame(&mut self.inline.state, self.theme, self.size);
    }

    /// The picture.
    pub(super) fn svg(&mut self) -> String {
        // A picture is taken once, so it waits for the highlighting.
        let (theme, size) = (self.theme, self.size);
        finish(&mut self.inline.state, &mut |state| picture::frame_and_seen(state, theme, size).1);
        let frame = picture::frame(&mut self.inline.state, self.theme, self.size);
        let snapshot = &self.inline.state.snapshot;
        let title = format!("{}, call {}", snapshot.title.name, snapshot.request.call.0);
        picture::svg(&frame, Ground::of(self.theme), &title)
    }
}
