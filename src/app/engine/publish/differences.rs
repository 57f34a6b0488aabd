//! Two requests side by side.

use std::ops::Range;
use std::sync::Arc;

use super::is_injector;
use super::request::{author_in, title};
use crate::app::diff::{DiffBlock, DiffPart, DiffRun, DiffText};
use crate::core::diff::lines::{hunks, of_texts};
use crate::core::diff::pairs::pairs;
use crate::core::run::Session;
use crate::core::wire::{Block, Request};

/// The blocks of two requests, aligned: equal or changed ones side by side, others alone.
#[must_use]
pub fn blocks(session: &Session, old: &Request, new: &Request) -> Vec<DiffBlock> {
    // Tools and system blocks are known by their names, blocks of messages by their message; a text can stand twice in one.
    let keys = |request: &Request| -> Vec<String> {
        let mut seen = std::collections::BTreeMap::new();
        let key = |block: &Arc<Block>| {
            let key = format!("{:?} {:?} {}", block.kind, block.message, block.name);
            let count: &mut usize = seen.entry(key.clone()).or_default();
            *count += 1;
            format!("{key} {count}")
        };
        request.blocks.iter().map(key).collect()
    };
    let (old_keys, new_keys) = (keys(old), keys(new));
    let (old_keys, new_keys): (Vec<&str>, Vec<&str>) =
        (old_keys.iter().map(String::as_str).collect(), new_keys.iter().map(String::as_str).collect());
    let mut out = Vec::new();
    let (mut i, mut j) = (0, 0);
    let end = crate::core::diff::lines::LineHunk {
        old: old_keys.len()..old_keys.len(),
        new: new_keys.len()..new_keys.len(),
    };
    for hunk in hunks(&old_keys, &new_keys).into_iter().chain([end]) {
        while i < hunk.old.start {
            out.push(block(session, Some(&old.blocks[i]), Some(&new.blocks[j])));
            (i, j) = (i + 1, j + 1);
        }
        out.extend(old.blocks[hunk.old.clone()].iter().map(|old| block(session, Some(old), None)));
        out.extend(new.blocks[hunk.new.clone()].iter().map(|new| block(session, None, Some(new))));
        (i, j) = (hunk.old.end, hunk.new.end);
    }
    out
}

fn block(session: &Session, old: Option<&Arc<Block>>, new: Option<&Arc<Block>>) -> DiffBlock {
    let title = new.or(old).map(|block| title(block)).unwrap_or_default().into();
    let text = |block: Option<&Arc<Block>>| block.map(|block| text(session, block));
    let (left, right) = (text(old), text(new));
    let runs = match (&left, &right) {
        (Some(left), Some(right)) => runs(left, right),
        (Some(only), None) => {
            let line = |line| crate::core::diff::pairs::Pair { old: Some((line, Vec::new())), new: None };
            vec![DiffRun::Changed((0..only.lines.len()).map(line).collect())]
        }
        (None, Some(only)) => {
            let line = |line| crate::core::diff::pairs::Pair { old: None, new: Some((line, Vec::new())) };
            vec![DiffRun::Changed((0..only.lines.len()).map(line).collect())]
        }
        (None, None) => Vec::new(),
    };
    DiffBlock { title, old: left, new: right, runs }
}

fn text(session: &Session, block: &Block) -> DiffText {
    let text = block.text.text().clone();
    let parts = block.text.parts().iter().map(|part| DiffPart {
        author: author_in(session, block, &part.id),
        layer: session.bench().layer(&part.id).map(|layer| layer.id.clone()),
        injected: is_injector(session.bench(), &part.id),
        end: part.end,
    });
    let lines: Arc<[Range<usize>]> = lines(&text).into();
    DiffText { lines, parts: parts.collect(), message: block.message, ends: text.ends_with('\n'), text }
}

/// The lines of a text as byte ranges.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        let own = start..start + line.strip_suffix('\n').unwrap_or(line).len();
        start += line.len();
        own
    });
    lines.collect()
}

/// What is equal in two texts and what is not.
fn runs(old: &DiffText, new: &DiffText) -> Vec<DiffRun> {
    let mut out = Vec::new();
    let same = |old: usize, new: usize, len: usize| (len > 0).then_some(DiffRun::Same { old, new, len });
    if old.text == new.text {
        out.extend(same(0, 0, old.lines.len()));
        return out;
    }
    fn own(text: &DiffText, lines: Range<usize>) -> Vec<&str> {
        text.lines[lines].iter().map(|line| &text.text[line.clone()]).collect()
    }
    let (mut i, mut j) = (0, 0);
    for hunk in of_texts(&old.text, &new.text) {
        out.extend(same(i, j, hunk.old.start - i));
        let mut found = pairs(&own(old, hunk.old.clone()), &own(new, hunk.new.clone()));
        for pair in &mut found {
            pair.old.iter_mut().for_each(|(line, _)| *line += hunk.old.start);
            pair.new.iter_mut().for_each(|(line, _)| *line += hunk.new.start);
        }
        out.push(DiffRun::Changed(found));
        (i, j) = (hunk.old.end, hunk.new.end);
    }
    let rest = old.lines.len() - i;
    // The line feed at the end is all that differs: the last line stands for it.
    if old.ends != new.ends && rest > 0 {
        out.extend(same(i, j, rest - 1));
        let (old_last, new_last) = (old.lines.len() - 1, new.lines.len() - 1);
        out.push(DiffRun::Changed(vec![crate::core::diff::pairs::Pair {
            old: Some((old_last, Vec::new())),
            new: Some((new_last, Vec::new())),
        }]));
    } else {
        out.extend(same(i, j, rest));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str) -> DiffText {
        let part = DiffPart { author: "x".into(), layer: None, injected: false, end: text.len() };
        DiffText {
            text: text.into(),
            lines: lines(text).into(),
            parts: [part].into(),
            message: None,
            ends: text.ends_with('\n'),
        }
    }

    /// The runs as `=3` for equal lines and `-1+1` for others.
    fn shown(old: &str, new: &str) -> Vec<String> {
        runs(&made(old), &made(new))
            .into_iter()
            .map(|run| match run {
                DiffRun::Same { len, .. } => format!("={len}"),
                DiffRun::Changed(pairs) => {
                    let old = pairs.iter().filter(|pair| pair.old.is_some()).count();
                    let new = pairs.iter().filter(|pair| pair.new.is_some()).count();
                    format!("-{old}+{new}")
                }
            })
            .collect()
    }

    #[test]
    fn runs_tile_both_texts() {
        for (old, new, want) in [
            ("a\nb\nc\n", "a\nB\nc\n", vec!["=1", "-1+1", "=1"]),
            ("a\n", "a\n", vec!["=1"]),
            ("a\nb", "a\nb\n", vec!["=1", "-1+1"]),
            ("", "a", vec!["-0+1"]),
            ("a\n\n\nb", "a\nb", vec!["=1", "-2+0", "=1"]),
            ("", "", vec![]),
        ] {
            assert_eq!(shown(old, new), want, "{old:?} {new:?}");
        }
    }
}
