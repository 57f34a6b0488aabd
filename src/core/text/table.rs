//! Tables as text: columns as wide as their widest cell, for reading and for Markdown.

use super::hidden;
use super::width::width;

/// Lines of cells: two spaces between columns, numbers to the right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// For each column: true to align to the right.
    right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with a heading; a heading that starts with `>` aligns its column to the right.
    #[must_use]
    pub fn new(heading: &[&str]) -> Table {
        let right = heading.iter().map(|cell| cell.starts_with('>')).collect();
        let heading = heading.iter().map(|cell| cell.trim_start_matches('>').to_owned()).collect();
        Table { right, rows: vec![heading] }
    }

    /// Adds a row. It has as many cells as the heading.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// True while there is only the heading.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.len() < 2
    }

    /// The lines, without spaces at their ends.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        // A name must not steer the terminal, and not begin a row either.
        let cell = |cell: &String| hidden::escaped(cell).replace('\n', "\\u{a}");
        let rows: Vec<Vec<String>> = self.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
        let widths = widths(&rows, self.right.len());
        let line = |row: &Vec<String>| {
            let cells: Vec<String> =
                row.iter().enumerate().map(|(at, cell)| padded(cell, widths[at], self.right[at])).collect();
            cells.join("  ").trim_end().to_owned()
        };
        rows.iter().map(line).collect()
    }

    /// The lines with a line end behind each.
    #[must_use]
    pub fn text(&self) -> String {
        self.lines().into_iter().map(|line| line + "\n").collect()
    }

    /// The table in Markdown (GitHub's), with a line end behind each line. Cells are escaped: whatever stands in one
    /// stays in it.
    #[must_use]
    pub fn markdown(&self) -> String {
        let rows: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(|cell| inline(cell)).collect()).collect();
        // A rule needs three dashes, or two and a colon.
        let widths: Vec<usize> =
            widths(&rows, self.right.len()).into_iter().map(|width| width.max(3)).collect();
        let mut out = String::new();
        for (index, row) in rows.iter().enumerate() {
            out.push('|');
            for (at, cell) in row.iter().enumerate() {
                out.push_str(&format!(" {} |", padded(cell, widths[at], self.right[at])));
            }
            out.push('\n');
            if index == 0 {
                out.push('|');
                for (at, &right) in self.right.iter().enumerate() {
                    let dashes = "-".repeat(widths[at] - usize::from(right));
                    out.push_str(&format!(" {dashes}{} |", if right { ":" } else { "" }));
                }
                out.push('\n');
            }
        }
        out
    }
}

fn widths(rows: &[Vec<String>], columns: usize) -> Vec<usize> {
    (0..columns)
        .map(|column| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max().unwrap_or(0)
        })
        .collect()
}

fn padded(cell: &str, cells: usize, right: bool) -> String {
    let pad = " ".repeat(cells.saturating_sub(width(cell)));
    if right { pad + cell } else { cell.to_owned() + &pad }
}

/// A text as Markdown shows it at the start of a line or inside of one: one line, in which no character means anything
/// else than itself.
#[must_use]
pub fn escaped(text: &str) -> String {
    let text = inline(text);
    // At the start of a line these begin headings, lists and rules; behind a number, a dot or a bracket begins a list.
    if text.starts_with(['#', '-', '+', '=']) {
        return format!("\\{text}");
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 && text[digits..].starts_with(['.', ')']) {
        return format!("{}\\{}", &text[..digits], &text[digits..]);
    }
    text
}

/// A text inside of a line: nothing in it marks anything.
fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '[' | ']' | '|' | '~' | '$' => {
                out.push('\\');
                out.push(c);
            }
            // Inside a word it marks nothing.
            '_' if !inside_word(text, at) => out.push_str("\\_"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

fn inside_word(text: &str, at: usize) -> bool {
    let part = |c: char| c.is_alphanumeric();
    text[..at].chars().next_back().is_some_and(part) && text[at + 1..].chars().next().is_some_and(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_whatever_their_width() {
        let mut table = Table::new(&["layer", ">chars", "note"]);
        table.row(["渠道".into(), "842".into(), String::new()]);
        table.row(["00_base".into(), "5,604".into(), "old".into()]);
        assert_eq!(table.text(), "layer    chars  note\n渠道       842\n00_base  5,604  old\n");
    }

    #[test]
    fn markdown_lines_up_too_and_no_cell_breaks_it() {
        let mut table = Table::new(&["layer", ">n"]);
        table.row(["a|b `c` <i>\n_d_".into(), "1".into()]);
        table.row(["渠道".into(), "1,234".into()]);
        let want = "| layer                      |     n |\n\
                    | -------------------------- | ----: |\n\
                    | a\\|b \\`c\\` &lt;i&gt; \\_d\\_ |     1 |\n\
                    | 渠道                       | 1,234 |\n";
        let got = table.markdown();
        assert_eq!(got, want);
        for line in got.lines() {
            assert_eq!(line.replace("\\|", "").matches('|').count(), 3, "{line}");
            assert_eq!(width(line), width(got.lines().next().unwrap_or_default()), "{line}");
        }
    }

    #[test]
    fn what_begins_a_block_or_marks_text_is_escaped() {
        for (text, want) in [
            ("# a", "\\# a"),
            ("- a-b", "\\- a-b"),
            ("1. a", "1\\. a"),
            ("10 a", "10 a"),
            ("system_prompt", "system_prompt"),
            ("_x_", "\\_x\\_"),
            ("a\u{1b}[1m", "a\u{fffd}\\[1m"),
            ("![x](y) & z", "!\\[x\\](y) &amp; z"),
        ] {
            assert_eq!(escaped(text), want);
        }
    }
}
