//! The paints that are known, and which ones the screen wants.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::{Class, Id, Language, Paint, Text, Want};
use crate::app::editor::Editor;
use crate::app::snapshot::BlockRow;
use crate::app::state::{State, View};

/// So many bytes of text may the kept paints be of.
const MOST: usize = 16 * 1024 * 1024;
/// So many parts of one block are looked at; a screen shows far fewer.
const PARTS: usize = 256;

/// The paints that are known.
#[derive(Clone, Debug, Default)]
pub struct Paints {
    /// By hash; with the number of its arrival.
    texts: BTreeMap<u64, (u64, Arc<Paint>)>,
    arrived: u64,
    bytes: usize,
    editor: Option<EditorPaint>,
}

/// The paint of an editor's text at one serial.
#[derive(Clone, Debug)]
struct EditorPaint {
    no: u32,
    serial: u32,
    paint: Arc<Paint>,
}

impl Paints {
    /// Takes a paint. `editor` is the one that is open.
    pub(in crate::app) fn take(&mut self, id: Id, paint: Arc<Paint>, editor: Option<&Editor>) {
        match id {
            Id::Content(hash) => {
                self.arrived += 1;
                self.bytes += paint.size();
                if let Some((_, old)) = self.texts.insert(hash, (self.arrived, paint)) {
                    self.bytes -= old.size();
                }
                while self.bytes > MOST && self.texts.len() > 1 {
                    let oldest = self.texts.iter().min_by_key(|(_, (arrived, _))| *arrived);
                    let Some(hash) = oldest.map(|(hash, _)| *hash) else { break };
                    if let Some((_, old)) = self.texts.remove(&hash) {
                        self.bytes -= old.size();
                    }
                }
            }
            Id::Editor(no, serial) => {
                // A paint of a text that was typed over is no use any more: its lines cannot be told apart.
                if editor.is_some_and(|editor| (editor.no, editor.serial) == (no, serial)) {
                    self.editor = Some(EditorPaint { no, serial, paint });
                }
            }
        }
    }

    /// The paint of a text; none when it is not there (yet).
    #[must_use]
    pub fn of(&self, text: &str, language: &Language) -> Option<&Arc<Paint>> {
        match Id::of(text, language) {
            Id::Content(hash) => self.texts.get(&hash).map(|(_, paint)| paint),
            Id::Editor(..) => None,
        }
    }

    /// The paints of the parts of a block; none for those that are not there.
    #[must_use]
    pub fn of_parts(&self, block: &BlockRow) -> Vec<Option<&Arc<Paint>>> {
        let parts = block.parts.iter().take(PARTS).map(|part| {
            let text = block.text.text().get(part.range.clone())?;
            self.of(text, &Language::of_part(block, part))
        });
        parts.collect()
    }

    /// The classes of a row of the editor's text, in bytes of its line. While the paint of the latest change is not there,
    /// lines keep the classes that they had.
    #[must_use]
    pub fn of_row(&self, editor: &Editor, line: usize, row: Range<usize>) -> Vec<(Range<usize>, Class)> {
        let Some(paint) = self.editor.as_ref().filter(|paint| paint.no == editor.no) else {
            return Vec::new();
        };
        let starts = &paint.paint.starts;
        let (now, then) = (editor.document.len(), starts.len());
        let behind = line > editor.cursor.row;
        let line = if behind { (line + then).checked_sub(now) } else { Some(line) };
        let Some(start) = line.and_then(|line| starts.get(line)) else { return Vec::new() };
        let spans = paint.paint.within(start + row.start..start + row.end);
        spans.map(|(span, class)| (span.start - start..span.end - start, class)).collect()
    }
}

impl Paint {
    /// What it takes, in bytes of text; roughly.
    fn size(&self) -> usize {
        let pieces = self.sheet.as_ref().map_or(0, |sheet| sheet.pieces.len() + sheet.lines.len());
        (self.spans.len() + pieces + 8) * 32
    }
}

/// The texts that the screen shows and that have no paint yet, those on the screen first. `seen` is what the last frame
/// showed: bytes of the block of the request, or lines of the editor.
#[must_use]
pub fn wants(state: &State, seen: &Range<usize>) -> Vec<Want> {
    // What is typed for a conversation stands below the panes, which are read meanwhile.
    if let Some(editor) = state.editor.as_ref().filter(|editor| editor.typing.is_none()) {
        return editor_wants(state, editor, seen).into_iter().collect();
    }
    let Some(block) = state.block().filter(|_| matches!(state.view, View::Main | View::Bytes)) else {
        return Vec::new();
    };
    let mut wants: Vec<Want> = Vec::new();
    for part in block.parts.iter().take(PARTS) {
        let Some(text) = block.text.text().get(part.range.clone()).filter(|text| !text.is_empty()) else {
            continue;
        };
        let language = Language::of_part(block, part);
        let visible = seen.start.clamp(part.range.start, part.range.end) - part.range.start
            ..seen.end.clamp(part.range.start, part.range.end) - part.range.start;
        let done = state.paints.of(text, &language).map(|paint| paint.done);
        if done.is_none_or(|done| done < visible.end) {
            let id = Id::of(text, &language);
            let text = Text::Whole(block.text.text().clone());
            let want = Want { id, text, range: part.range.clone(), language, visible };
            wants.push(want);
        }
    }
    wants.sort_by_key(|want| want.visible.is_empty());
    wants
}

fn editor_wants(state: &State, editor: &Editor, seen: &Range<usize>) -> Option<Want> {
    let known = state.paints.editor.as_ref();
    let known = known.filter(|paint| (paint.no, paint.serial) == (editor.no, editor.serial));
    if let Some(known) = known {
        let end = known.paint.starts.get(seen.end).copied().unwrap_or(usize::MAX);
        if known.paint.done >= end || end == usize::MAX && known.paint.done > 0 && known.whole(editor) {
            return None;
        }
    }
    // A file is a template where a layer says so.
    let layers = &state.snapshot.layers.rows;
    let template =
        layers.iter().any(|row| row.source.as_ref().is_some_and(|source| source.file == editor.file));
    Some(Want {
        id: Id::Editor(editor.no, editor.serial),
        range: 0..0,
        // Shared with the editor, which goes on typing: a text may be long, and this is done at every key.
        text: Text::Lines(editor.document.clone()),
        language: Language::of_file(&editor.file, template),
        visible: seen.clone(),
    })
}

impl EditorPaint {
    /// True when the paint is of every line.
    fn whole(&self, editor: &Editor) -> bool {
        let last = editor.document.end();
        self.paint.starts.last().is_some_and(|start| self.paint.done >= start + last.byte)
    }
}
