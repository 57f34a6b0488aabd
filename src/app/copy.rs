//! What can be copied from the screen, and as what text.

use std::sync::Arc;

use super::effect::Effect;
use super::rows::zones_blame;
use super::snapshot::{BlockRow, Snapshot, Tone};
use super::state::{Pane, State, View};
use super::tables;
use crate::core::fact::Name;
use crate::core::text::number::grouped;
use crate::core::wire::{BlockKind, Format, Request, body};

/// A text on its way to the clipboard.
#[derive(Clone, Debug, PartialEq)]
pub struct Copy {
    /// What it is, for the message: `the blame line`.
    pub what: Arc<str>,
    /// The text.
    pub content: Content,
}

/// What is copied.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// This text.
    Text(Arc<str>),
    /// The body of a request. It is written where it is copied: it may be long.
    Wire(Arc<Request>, Format),
}

impl Content {
    /// The text.
    #[must_use]
    pub fn text(&self) -> Arc<str> {
        match self {
            Content::Text(text) => text.clone(),
            Content::Wire(request, format) => body(request, *format).into(),
        }
    }
}

/// Copies a text of one's own: what `what` names in the message.
#[must_use]
pub fn text(what: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Vec<Effect> {
    vec![Effect::Copy(Copy { what: what.into(), content: Content::Text(text.into()) })]
}

/// Something that can be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copyable {
    /// The view that fills the screen, as a table.
    View,
    /// Who broke the cache, else the verdict of the shown call.
    Blame,
    /// The text of the selected layer in the shown request.
    Layer,
    /// What the author under the cursor of the request wrote.
    Part,
    /// The block of the request that is looked at.
    Block,
    /// Every block of the system prompt.
    System,
    /// The request as its provider is sent it.
    Request,
    /// The layers as a table.
    Layers,
    /// The calls as a table.
    Calls,
    /// The ways of telling it as a table.
    Ways,
}

/// All of them, in the order of the menu.
const ALL: [Copyable; 10] = [
    Copyable::View,
    Copyable::Blame,
    Copyable::Layer,
    Copyable::Part,
    Copyable::Block,
    Copyable::System,
    Copyable::Request,
    Copyable::Layers,
    Copyable::Calls,
    Copyable::Ways,
];

/// What can be copied now, in the order of the menu: what it is, and a few words about it.
#[must_use]
pub fn choices(state: &State) -> Vec<(Copyable, String, String)> {
    let first = first(state);
    let mut all: Vec<(Copyable, Copy)> = Vec::new();
    for which in ALL {
        let Some(copy) = of(state, which) else { continue };
        // The same text by another name is one choice, named as the focused pane names it.
        match all.iter_mut().find(|(_, known)| known.content == copy.content) {
            Some(known) if which == first => *known = (which, copy),
            Some(_) => {}
            None => all.push((which, copy)),
        }
    }
    all.into_iter()
        .map(|(which, copy)| {
            let about = match &copy.content {
                Content::Wire(_, format) => format.to_string(),
                Content::Text(text) if matches!(which, Copyable::Blame) => text.to_string(),
                Content::Text(text) => {
                    let chars = text.chars().count() as u64;
                    format!("{} character{}", grouped(chars), if chars == 1 { "" } else { "s" })
                }
            };
            (which, sentence_case(&copy.what), about)
        })
        .collect()
}

/// What the menu opens on: what the focused pane is about.
#[must_use]
pub fn first(state: &State) -> Copyable {
    if state.view == View::Zones {
        return Copyable::Blame;
    }
    if state.pane().is_none() {
        return Copyable::View;
    }
    match state.focus {
        Pane::Layers => Copyable::Layer,
        Pane::Request => Copyable::Part,
        Pane::Calls | Pane::Why => Copyable::Blame,
    }
}

fn sentence_case(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// What is copied as `which`; none where there is no such thing on the screen.
#[must_use]
pub fn of(state: &State, which: Copyable) -> Option<Copy> {
    let snapshot = &*state.snapshot;
    let copy = |what: String, text: String| {
        (!text.is_empty()).then(|| Copy { what: what.into(), content: Content::Text(text.into()) })
    };
    match which {
        Copyable::View if state.pane().is_none() => {
            copy(format!("the view {} as a table", state.view.title()), tables::page(&state.page))
        }
        Copyable::View => None,
        Copyable::Blame => {
            let zones = (state.view == View::Zones).then(|| zones_blame(state)).flatten();
            copy("the blame line".into(), zones.or_else(|| blame(snapshot))?)
        }
        Copyable::Layer => {
            let row = snapshot.layers.rows.get(state.layers.cursor)?;
            let text = match &*row.id {
                "tools" if row.run.is_none() => {
                    let tools = snapshot.request.blocks.iter().filter(|block| block.kind == BlockKind::Tool);
                    tools.map(|block| format!("{}\n", block.text.text())).collect()
                }
                _ => layer(snapshot, &row.id),
            };
            copy(format!("the text of {}", row.shown), text)
        }
        Copyable::Part => {
            let block = state.block()?;
            let at = state.with_rows(|rows| rows.part_at(state.request.cursor))?;
            let part = block.parts.get(at).filter(|_| block.parts.len() > 1)?;
            copy(format!("what {} wrote into {}", part.author, block.title), own(block, at))
        }
        Copyable::Block => {
            let block = state.block()?;
            copy(block.title.to_string(), block.text.text().to_string())
        }
        Copyable::System => {
            let blocks = snapshot.request.blocks.iter().filter(|block| block.kind == BlockKind::System);
            let texts: Vec<&str> = blocks.map(|block| &**block.text.text()).collect();
            copy("the whole system prompt".into(), texts.join("\n"))
        }
        Copyable::Request => {
            let request = snapshot.request.sent.clone()?;
            let format = Format::of_model(&request.model);
            let what = format!("request {} as JSON", request.call.0).into();
            Some(Copy { what, content: Content::Wire(request, format) })
        }
        Copyable::Layers => {
            let sign = if snapshot.model.tokens.estimate.is_some() { "~" } else { "" };
            let table = tables::layers(&snapshot.layers, sign);
            (!table.is_empty()).then(|| copy("the layers as a table".into(), table.text()))?
        }
        Copyable::Calls => {
            let table = tables::calls(&snapshot.calls);
            (!table.is_empty()).then(|| copy("the calls as a table".into(), table.text()))?
        }
        Copyable::Ways => {
            let table = tables::ways(&snapshot.why.ways);
            (!table.is_empty()).then(|| copy("the ways as a table".into(), table.text()))?
        }
    }
}

/// The line that says who broke the cache, in this call or in one ahead; without a break, what came of this call.
fn blame(snapshot: &Snapshot) -> Option<String> {
    let lines = &snapshot.verdict;
    let bad = lines.iter().find(|line| line.tone == Tone::Bad);
    let line = bad.or_else(|| lines.first())?;
    let label = line.label.to_lowercase();
    Some(if label.starts_with("call") {
        format!("{label} {}", line.text)
    } else {
        format!("{label}: {}", line.text)
    })
}

/// A layer's text, without the separators in front of it; the newest where it stands several times.
fn layer(snapshot: &Snapshot, id: &Name) -> String {
    let blocks = snapshot.request.blocks.iter().rev();
    let mut found = blocks.filter_map(|block| {
        let part = block.parts.iter().rposition(|part| part.layer.as_ref() == Some(id))?;
        Some(own(block, part))
    });
    found.next().unwrap_or_default()
}

/// What a part says itself.
fn own(block: &BlockRow, part: usize) -> String {
    // The rows of a block are the parts of its text.
    let range = block.text.parts().get(part).map(|part| part.body..part.end);
    let range = range.or_else(|| block.parts.get(part).map(|part| part.range.clone())).unwrap_or_default();
    block.text.text().get(range).unwrap_or_default().to_owned()
}
