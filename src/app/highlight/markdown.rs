//! Markdown with tags, as prompts are written: what its bytes are, and how it is laid out for reading.
//!
//! Lines stay lines: a model reads the line ends of a prompt, so that what is laid out keeps them, and each row knows its
//! bytes. What goes away is markup; what comes is indentation, bullets and the columns of tables.

use std::ops::Range;

use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag};

use super::sheet::{LONGEST, Sheet};
use super::signs::{self, only_tags};
use super::{Canvas, Class, Language};
use crate::app::cells;

/// The cells that code is indented.
const CODE_INDENT: usize = 2;
/// The cells of a rule.
const RULE: usize = 24;

/// What was read of a text.
pub(super) struct Marked {
    /// The classes of its bytes.
    pub(super) canvas: Canvas,
    /// The texts of code blocks whose language is named.
    pub(super) fences: Vec<(Range<usize>, Language)>,
    /// True for bytes that are only markup.
    markup: Vec<bool>,
    lines: Vec<Source>,
    tables: Vec<Table>,
}

/// A line of the source.
#[derive(Clone, Debug)]
struct Source {
    start: usize,
    /// The byte behind its last one; the line feed is not part of it.
    end: usize,
    kind: Kind,
    /// How many quotes it stands in.
    quotes: usize,
    /// The cells of the lists around it.
    indent: usize,
    /// The marker of the item that begins in it.
    marker: Option<Range<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    /// The first line of a fence.
    Opens,
    /// The last line of a fence.
    Closes,
    /// Code, from this byte on.
    Code(usize),
    /// A row of this table.
    Row(usize),
    /// The line of dashes in this table.
    Dashes(usize),
    Rule,
}

#[derive(Clone, Debug, Default)]
struct Table {
    align: Vec<Alignment>,
    /// The cells of each row, with its line.
    rows: Vec<(usize, Vec<Range<usize>>)>,
}

/// Something that was begun and not ended yet, and how far its content has been seen.
struct Open<'t> {
    tag: Tag<'t>,
    end: usize,
    seen: usize,
}

/// Reads a text. `template` marks what a template writes values for.
pub(super) fn read(text: &str, template: bool) -> Marked {
    let masked = masked(text);
    let mut marked = Marked {
        canvas: Canvas::new(text.len()),
        fences: Vec::new(),
        markup: vec![false; text.len()],
        lines: source_lines(text),
        tables: Vec::new(),
    };
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut open: Vec<Open<'_>> = Vec::new();
    for (event, range) in Parser::new_ext(&masked, options).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                marked.gap(&mut open, text, &range);
                marked.start(&tag, &range, text, &open);
                open.push(Open { tag, end: range.end, seen: range.start });
            }
            Event::End(_) => {
                if let Some(last) = open.last() {
                    let end = last.end;
                    marked.gap(&mut open, text, &(end..end));
                }
                open.pop();
            }
            leaf => {
                marked.gap(&mut open, text, &range);
                marked.leaf(&leaf, &range, text, &open);
            }
        }
    }
    for range in signs::tags(text) {
        if marked.canvas.at(range.start) != Some(Class::Code) {
            marked.markup[range.clone()].fill(false);
            marked.canvas.put(range, Class::Tag);
        }
    }
    if template {
        put_template(&mut marked.canvas, text);
    }
    marked
}

/// Gives what a template writes values for its classes.
pub(super) fn put_template(canvas: &mut Canvas, text: &str) {
    for piece in signs::pieces(text) {
        match piece {
            signs::Piece::Placeholder(range) => canvas.put(range, Class::Placeholder),
            signs::Piece::Statement(range) => canvas.put(range, Class::Keyword),
            signs::Piece::Comment(range) => canvas.put(range, Class::Comment),
        }
    }
}

/// The text with lines of nothing but tags emptied: in Markdown they would begin a block of HTML that goes on to the next
/// empty line, but in a prompt what stands between them is Markdown.
fn masked(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains('<') {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if only_tags(line) {
            let own = line.trim_end_matches(['\n', '\r']);
            out.extend(std::iter::repeat_n(' ', own.len()));
            out.push_str(&line[own.len()..]);
        } else {
            out.push_str(line);
        }
    }
    out.into()
}

fn source_lines(text: &str) -> Vec<Source> {
    let mut start = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        let own = line.trim_end_matches(['\n', '\r']);
        let at = start;
        start += line.len();
        Source { start: at, end: at + own.len(), kind: Kind::Text, quotes: 0, indent: 0, marker: None }
    });
    lines.collect()
}

impl Marked {
    /// The line that holds a byte.
    fn line(&self, byte: usize) -> usize {
        self.lines.partition_point(|line| line.start <= byte).saturating_sub(1)
    }

    /// The lines that a range touches.
    fn lines_of(&self, range: &Range<usize>) -> Range<usize> {
        if range.is_empty() {
            return 0..0;
        }
        self.line(range.start)..(self.line(range.end - 1) + 1).min(self.lines.len())
    }

    /// What stands between the content of what is open, up to `next`, and that is seen with it.
    fn gap(&mut self, open: &mut [Open<'_>], text: &str, next: &Range<usize>) {
        let Some(last) = open.last_mut() else { return };
        let gap = last.seen..next.start.min(last.end);
        last.seen = last.seen.max(next.end);
        if gap.start >= gap.end {
            return;
        }
        let signs = |marked: &mut Marked, range: Range<usize>, hide: bool| {
            for (at, byte) in text.as_bytes()[range.clone()].iter().enumerate() {
                if !byte.is_ascii_whitespace() {
                    marked.canvas.put(range.start + at..range.start + at + 1, Class::Mark);
                }
                if hide && *byte != b'\n' {
                    marked.markup[range.start + at] = true;
                }
            }
        };
        match &last.tag {
            Tag::Link { .. } | Tag::Image { .. } if text[gap.clone()].starts_with("](") => {
                // Where it leads is read as well; that it is a link is seen.
                signs(self, gap.start..gap.start + 1, true);
                signs(self, gap.start + 1..gap.end, false);
            }
            // A link without a text is nothing but markup, and would be gone.
            Tag::Link { .. } | Tag::Image { .. } if gap.len() > 2 => signs(self, gap, false),
            Tag::Strong
            | Tag::Emphasis
            | Tag::Strikethrough
            | Tag::Link { .. }
            | Tag::Image { .. }
            | Tag::Heading { .. }
            | Tag::Paragraph
            | Tag::Item
            | Tag::BlockQuote(_) => signs(self, gap, true),
            Tag::Table(_) | Tag::TableHead | Tag::TableRow => signs(self, gap, false),
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>, range: &Range<usize>, text: &str, open: &[Open<'_>]) {
        match tag {
            Tag::Heading { level: HeadingLevel::H1, .. } => self.canvas.put(range.clone(), Class::Title),
            Tag::Heading { .. } => self.canvas.put(range.clone(), Class::Heading),
            Tag::Emphasis => self.canvas.put(range.clone(), Class::Emphasis),
            Tag::Strong => self.canvas.put(range.clone(), Class::Strong),
            Tag::Strikethrough => self.canvas.put(range.clone(), Class::Comment),
            Tag::Link { .. } | Tag::Image { .. } => self.canvas.put(range.clone(), Class::Link),
            Tag::BlockQuote(_) => {
                self.canvas.put(range.clone(), Class::Quote);
                let quotes = open.iter().filter(|open| matches!(open.tag, Tag::BlockQuote(_))).count() + 1;
                for line in self.lines_of(range) {
                    self.lines[line].quotes = quotes;
                }
            }
            Tag::Item => self.item(range, text, open),
            Tag::CodeBlock(kind) => self.code(kind, range, text),
            Tag::MetadataBlock(_) => {
                self.canvas.put(range.clone(), Class::Mark);
                let lines = self.lines_of(range);
                if lines.len() > 2 {
                    let own = self.lines[lines.start + 1].start..self.lines[lines.end - 1].start;
                    for line in lines.start + 1..lines.end - 1 {
                        self.lines[line].kind = Kind::Code(self.lines[line].start);
                    }
                    self.lines[lines.start].kind = Kind::Opens;
                    self.lines[lines.end - 1].kind = Kind::Closes;
                    self.canvas.put(own.clone(), Class::Code);
                    self.fences.push((own, Language::Other { token: "yaml".into(), template: false }));
                }
            }
            Tag::Table(align) => {
                let table = self.tables.len();
                self.tables.push(Table { align: align.clone(), rows: Vec::new() });
                let first = self.line(range.start);
                if let Some(line) = self.lines.get_mut(first + 1) {
                    line.kind = Kind::Dashes(table);
                }
            }
            Tag::TableHead | Tag::TableRow => {
                let line = self.line(range.start);
                let number = self.tables.len().saturating_sub(1);
                if let Some(table) = self.tables.last_mut() {
                    table.rows.push((line, Vec::new()));
                    self.lines[line].kind = Kind::Row(number);
                }
            }
            Tag::TableCell => {
                let own = &text[range.clone()];
                let own = own.trim_matches('|');
                let start = range.start + text[range.clone()].find(own).unwrap_or(0);
                let cell = start + (own.len() - own.trim_start().len())..start + own.trim_end().len();
                let cell = cell.start.min(cell.end)..cell.end;
                if let Some((_, cells)) = self.tables.last_mut().and_then(|table| table.rows.last_mut()) {
                    cells.push(cell);
                }
            }
            _ => {}
        }
    }

    fn item(&mut self, range: &Range<usize>, text: &str, open: &[Open<'_>]) {
        let own = &text[range.clone()];
        let marker = own.find(char::is_whitespace).unwrap_or(own.len()).min(12);
        let outer = open.iter().rev().find(|open| matches!(open.tag, Tag::Item));
        let outer = outer.map_or(0, |_| self.lines[self.line(range.start)].indent);
        let wide = match own.bytes().next() {
            Some(b'-' | b'*' | b'+') => 2,
            _ => marker + 1,
        };
        for line in self.lines_of(range) {
            self.lines[line].indent = outer + wide;
        }
        let first = self.line(range.start);
        self.lines[first].marker = Some(range.start..range.start + marker);
    }

    fn code(&mut self, kind: &CodeBlockKind<'_>, range: &Range<usize>, text: &str) {
        let lines = self.lines_of(range);
        if lines.is_empty() {
            return;
        }
        self.canvas.put(range.clone(), Class::Code);
        let CodeBlockKind::Fenced(info) = kind else { return };
        let fence = |line: &Source| {
            let own = text[line.start..line.end].trim_start_matches([' ', '\t', '>']);
            own.starts_with("```") || own.starts_with("~~~")
        };
        self.lines[lines.start].kind = Kind::Opens;
        let closed = lines.len() > 1 && fence(&self.lines[lines.end - 1]);
        if closed {
            self.lines[lines.end - 1].kind = Kind::Closes;
        }
        let last = if closed { lines.end - 1 } else { lines.end };
        for line in lines.start + 1..last {
            self.lines[line].kind = Kind::Code(self.lines[line].start);
        }
        for line in [lines.start, lines.end - 1] {
            if matches!(self.lines[line].kind, Kind::Opens | Kind::Closes) {
                self.canvas.put(self.lines[line].start.max(range.start)..self.lines[line].end, Class::Mark);
            }
        }
        if let Some(language) = Language::of_fence(info)
            && last > lines.start + 1
            && self.lines[lines.start].quotes == 0
        {
            self.fences.push((self.lines[lines.start + 1].start..self.lines[last - 1].end, language));
        }
    }

    fn leaf(&mut self, event: &Event<'_>, range: &Range<usize>, text: &str, open: &[Open<'_>]) {
        match event {
            Event::Code(_) => {
                self.canvas.put(range.clone(), Class::Code);
                let own = &text[range.clone()];
                let ticks = own.len() - own.trim_start_matches('`').len();
                if ticks * 2 <= own.len() {
                    for tick in [range.start..range.start + ticks, range.end - ticks..range.end] {
                        self.canvas.put(tick.clone(), Class::Mark);
                        self.markup[tick].fill(true);
                    }
                }
            }
            Event::Rule => {
                self.canvas.put(range.clone(), Class::Mark);
                let line = self.line(range.start);
                self.lines[line].kind = Kind::Rule;
            }
            Event::TaskListMarker(_) => self.canvas.put(range.clone(), Class::Keyword),
            // The text of code, without what indents it in lists and quotes.
            Event::Text(_) if open.last().is_some_and(|open| matches!(open.tag, Tag::CodeBlock(_))) => {
                for line in self.lines_of(range) {
                    let source = &mut self.lines[line];
                    // A line may come in several texts; the first says where it begins.
                    // A line of tags was emptied, so that what is left of its indentation may end inside of a character.
                    let Some(before) = text.get(source.start..range.start.max(source.start)) else {
                        continue;
                    };
                    let first = before.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'>'));
                    if first && !matches!(source.kind, Kind::Opens | Kind::Closes) {
                        source.kind = Kind::Code(source.start.max(range.start).min(source.end));
                    }
                }
            }
            _ => {}
        }
    }

    /// Lays the text out; none where a line is too long for it.
    pub(super) fn sheet(&self, text: &str) -> Option<Sheet> {
        if self.lines.iter().any(|line| line.end - line.start > LONGEST) {
            return None;
        }
        let widths: Vec<Vec<usize>> = self.tables.iter().map(|table| self.widths(table, text)).collect();
        let mut sheet = Sheet::default();
        for (number, line) in self.lines.iter().enumerate() {
            if line.kind == Kind::Closes && !sheet.lines.is_empty() {
                // It is the end of the code in front of it.
                continue;
            }
            sheet.begin(line.start);
            let lead = self.lead(&mut sheet, line, text);
            match line.kind {
                Kind::Text => {
                    let own = &text[line.start..line.end];
                    let first = line.start + own.len() - own.trim_start().len();
                    // Where no list says how far, the text keeps its own indentation.
                    if line.indent == 0 && line.quotes == 0 {
                        sheet.source(line.start..first, &self.canvas, &self.markup);
                    }
                    sheet.source(first..line.end, &self.canvas, &self.markup);
                    sheet.goes_on(lead + if lead == 0 { cells::HANG } else { 0 }, true);
                }
                Kind::Opens | Kind::Closes => {
                    let own = text[line.start..line.end].trim_matches([' ', '\t', '>', '`', '~', '-']);
                    if let Some(at) = text[line.start..line.end].find(own).filter(|_| !own.is_empty()) {
                        let start = line.start + at;
                        sheet.own(start..start, " ".repeat(CODE_INDENT), None);
                        sheet.source(start..start + own.len(), &self.canvas, &[]);
                    }
                }
                Kind::Code(from) => {
                    let from = from.clamp(line.start, line.end);
                    sheet.own(from..from, " ".repeat(CODE_INDENT), None);
                    sheet.source(from..line.end, &self.canvas, &[]);
                    sheet.goes_on(lead + CODE_INDENT + cells::HANG, true);
                }
                Kind::Row(table) => {
                    let row = self.tables[table].rows.iter().find(|(line, _)| *line == number);
                    let cells = row.map_or(&[][..], |(_, cells)| cells);
                    self.row(&mut sheet, (&self.tables[table], &widths[table]), cells, line, text);
                    sheet.goes_on(0, false);
                }
                Kind::Dashes(table) => {
                    let dashes: Vec<String> =
                        widths[table].iter().map(|width| "─".repeat(width + 2)).collect();
                    let dashes = dashes.join("┼");
                    sheet.own(line.start..line.end, dashes, Some(Class::Mark));
                    sheet.goes_on(0, false);
                }
                Kind::Rule => sheet.own(line.start..line.end, "─".repeat(RULE), Some(Class::Mark)),
            }
        }
        Some(sheet)
    }

    /// What stands in front of a line: quotes, the indentation of lists, a bullet. Returns its cells.
    fn lead(&self, sheet: &mut Sheet, line: &Source, text: &str) -> usize {
        let at = line.start..line.start;
        sheet.own(at.clone(), "| ".repeat(line.quotes), Some(Class::Mark));
        let quotes = line.quotes * 2;
        match &line.marker {
            Some(marker) => {
                let own = &text[marker.clone()];
                let shown = if matches!(own, "-" | "*" | "+") { "•" } else { own };
                let wide = cells::width(shown) + 1;
                sheet.own(at, " ".repeat(line.indent.saturating_sub(wide)), None);
                sheet.own(marker.clone(), format!("{shown} "), Some(Class::Mark));
            }
            None => sheet.own(at, " ".repeat(line.indent), None),
        }
        quotes + line.indent
    }

    /// The bytes of a cell that are shown.
    fn shown(&self, cell: &Range<usize>, text: &str) -> String {
        let own = text[cell.clone()].char_indices();
        own.filter(|(at, _)| !self.markup[cell.start + at]).map(|(_, c)| c).collect()
    }

    fn widths(&self, table: &Table, text: &str) -> Vec<usize> {
        let columns = table.rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
        let mut widths = vec![1; columns];
        for (_, cells) in &table.rows {
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cells::width(&self.shown(cell, text)));
            }
        }
        widths
    }

    fn row(
        &self,
        sheet: &mut Sheet,
        (table, widths): (&Table, &[usize]),
        cells: &[Range<usize>],
        line: &Source,
        text: &str,
    ) {
        let head = table.rows.first().is_some_and(|(first, _)| self.lines[*first].start == line.start);
        for (column, width) in widths.iter().enumerate() {
            let cell = cells.get(column).cloned().unwrap_or(line.end..line.end);
            let spare = width.saturating_sub(cells::width(&self.shown(&cell, text)));
            let left = match table.align.get(column) {
                Some(Alignment::Right) => spare,
                Some(Alignment::Center) => spare / 2,
                _ => 0,
            };
            let edge = cell.start..cell.start;
            sheet.own(edge.clone(), if column == 0 { " " } else { "│ " }, Some(Class::Mark));
            sheet.own(edge, " ".repeat(left), None);
            let from = sheet.pieces.len();
            sheet.source(cell.clone(), &self.canvas, &self.markup);
            if head {
                for piece in &mut sheet.pieces[from..] {
                    piece.class = piece.class.or(Some(Class::Strong));
                }
            }
            sheet.own(cell.end..cell.end, " ".repeat(spare - left + 1), None);
        }
        // What a row has beyond the columns of the head is no cell, but a model reads it.
        let shown = cells.last().map_or(line.start, |cell| cell.end);
        let rest = shown.min(line.end)..line.end;
        if text[rest.clone()].bytes().any(|byte| !matches!(byte, b'|' | b' ' | b'\t')) {
            sheet.source(rest, &self.canvas, &self.markup);
        }
    }
}
