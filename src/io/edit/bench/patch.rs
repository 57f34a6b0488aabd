//! Single changes of a YAML file: what is spliced into its text, and the same change of its tree.

use std::ops::Range;
use std::sync::Arc;

use super::tree::{Form, Located, Pair, Refusal, Step, Tree};
use super::value::{self, laid, written, written_as};
use crate::io::edit::text::Splice;
use crate::io::syntax::node::{Kind, Node, Style};

/// What is written in front of a condition that is switched off.
const OFF: &str = "false and (";

/// One change.
#[derive(Clone, Debug)]
pub(super) enum Change<'a> {
    /// A value is set. Maps on the way that are not there are made. A key that is not there comes in front of the first
    /// key in `before` that is, else last.
    Set { path: Vec<Step<'a>>, value: Node, before: Vec<&'a str> },
    /// The same for a list that is to be read by people: an item a line, where it stands in no brackets.
    Lay { path: Vec<Step<'a>>, value: Node, before: Vec<&'a str> },
    /// An entry of a map, or an item of a sequence, goes.
    Remove { path: Vec<Step<'a>> },
    /// An item of a sequence moves to another index; what is between moves up or down.
    Move { path: Vec<Step<'a>>, from: usize, to: usize },
    /// A condition is made to fail and keeps its text.
    Off { path: Vec<Step<'a>> },
    /// The same undone.
    On { path: Vec<Step<'a>> },
}

/// How a new value is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// On one line.
    Line,
    /// On lines of its own, where it stands in no brackets.
    Lines,
}

impl Layout {
    /// A value behind the colon of a key in `column`.
    fn behind_colon(self, value: &Node, in_flow: bool, column: usize, eol: &str) -> String {
        match self {
            Layout::Lines if !in_flow => laid(value, column, eol),
            _ => format!(" {}", written(value, in_flow)),
        }
    }
}

/// The condition that was switched off, if it was with [`Change::Off`], without line ends behind it.
pub(super) fn switched_off(when: &str) -> Option<&str> {
    when.trim_end_matches('\n').strip_prefix(OFF)?.strip_suffix(')')
}

/// The line ends behind a condition that is written over several lines.
fn line_ends(when: &str) -> &str {
    &when[when.trim_end_matches('\n').len()..]
}

impl Change<'_> {
    /// What has to be spliced into the text. `eol` is the file's line end.
    pub(super) fn splices(&self, tree: &Tree<'_>, eol: &str) -> Result<Vec<Splice>, Refusal> {
        match self {
            Change::Set { path, value, before } => {
                set(tree, path, value, before, (Layout::Line, eol)).map(|one| vec![one])
            }
            Change::Lay { path, value, before } => {
                set(tree, path, value, before, (Layout::Lines, eol)).map(|one| vec![one])
            }
            Change::Remove { path } => remove(tree, path).map(|one| vec![one]),
            Change::Move { path, from, to } => move_item(tree, path, *from, *to),
            Change::Off { path } => {
                let inner = inner(tree, path)?;
                let at = |at: usize, new: &str| Splice { range: at..at, new: new.to_owned() };
                Ok(vec![at(inner.start, OFF), at(inner.end, ")")])
            }
            Change::On { path } => {
                let inner = inner(tree, path)?;
                let text = &tree.text[inner.clone()];
                if switched_off(text).is_none() {
                    return Err(format!(
                        "the condition in line {} is written over several lines",
                        tree.line_number(inner.start)
                    ));
                }
                let cut = |range: Range<usize>| Splice { range, new: String::new() };
                Ok(vec![cut(inner.start..inner.start + OFF.len()), cut(inner.end - 1..inner.end)])
            }
        }
    }

    /// The same change of a tree.
    pub(super) fn apply(&self, root: &mut Arc<Node>) -> Result<(), Refusal> {
        match self {
            Change::Set { path, value, before } | Change::Lay { path, value, before } => {
                put(root, path, value, before)
            }
            Change::Remove { path } => {
                let (last, parent) = split(path)?;
                match (&mut reach(root, parent)?.kind, last) {
                    (Kind::Map(entries), Step::Key(key)) => entries.retain(|entry| *entry.key != *key),
                    (Kind::Seq(items), Step::Index(index)) if index < items.len() => {
                        items.remove(index);
                    }
                    _ => return Err(nowhere()),
                }
                Ok(())
            }
            Change::Move { path, from, to } => match &mut reach(root, path)?.kind {
                Kind::Seq(items) if (*from).max(*to) < items.len() => {
                    let item = items.remove(*from);
                    items.insert(*to, item);
                    Ok(())
                }
                _ => Err(nowhere()),
            },
            Change::Off { path } => {
                let when = reach(root, path)?;
                let ends = line_ends(&when.text);
                *when = value::text(&format!("{OFF}{}){ends}", when.text.trim_end_matches('\n')));
                Ok(())
            }
            Change::On { path } => {
                let when = reach(root, path)?;
                let text = switched_off(&when.text).ok_or_else(nowhere)?;
                let text = format!("{text}{}", line_ends(&when.text));
                *when = if when.style == Style::Plain { value::plain(&text) } else { value::text(&text) };
                Ok(())
            }
        }
    }
}

fn nowhere() -> Refusal {
    "there is nothing like this in the bench".to_owned()
}

fn split<'p, 'a>(path: &'p [Step<'a>]) -> Result<(Step<'a>, &'p [Step<'a>]), Refusal> {
    path.split_last().map(|(last, parent)| (*last, parent)).ok_or_else(nowhere)
}

fn reach<'n>(root: &'n mut Arc<Node>, path: &[Step<'_>]) -> Result<&'n mut Node, Refusal> {
    path.iter().try_fold(Arc::make_mut(root), |node, step| {
        let next = match (&mut node.kind, step) {
            (Kind::Map(entries), Step::Key(key)) => {
                entries.iter_mut().find(|entry| *entry.key == **key).map(|entry| &mut entry.value)
            }
            (Kind::Seq(items), Step::Index(index)) => items.get_mut(*index),
            _ => None,
        };
        next.map(Arc::make_mut).ok_or_else(nowhere)
    })
}

/// Where a new key goes among those that are there.
fn place_of<'k>(keys: impl Iterator<Item = &'k str>, before: &[&str]) -> usize {
    let keys: Vec<&str> = keys.collect();
    keys.iter().position(|key| before.contains(key)).unwrap_or(keys.len())
}

/// The value with the maps around it that the rest of the path asks for.
fn wrapped(rest: &[Step<'_>], value: &Node) -> Result<Node, Refusal> {
    rest.iter().rev().try_fold(value.clone(), |inner, step| match step {
        Step::Key(key) => Ok(value::map([(*key, inner)])),
        Step::Index(_) => Err(nowhere()),
    })
}

fn put(root: &mut Arc<Node>, path: &[Step<'_>], value: &Node, before: &[&str]) -> Result<(), Refusal> {
    let Some((step, rest)) = path.split_first() else {
        *root = Arc::new(value.clone());
        return Ok(());
    };
    let node = Arc::make_mut(root);
    match (&mut node.kind, step) {
        (Kind::Map(entries), Step::Key(key)) => {
            if let Some(entry) = entries.iter_mut().find(|entry| *entry.key == **key) {
                return put(&mut entry.value, rest, value, before);
            }
            let before = if rest.is_empty() { before } else { &[] };
            let at = place_of(entries.iter().map(|entry| &*entry.key), before);
            entries.insert(at, value::entry(*key, Arc::new(wrapped(rest, value)?)));
            Ok(())
        }
        (Kind::Seq(items), Step::Index(index)) if *index < items.len() => {
            put(&mut items[*index], rest, value, before)
        }
        (Kind::Seq(items), Step::Index(index)) if *index == items.len() && rest.is_empty() => {
            items.push(Arc::new(value.clone()));
            Ok(())
        }
        (Kind::Null, Step::Key(_)) => {
            *node = wrapped(path, value)?;
            Ok(())
        }
        _ => Err(nowhere()),
    }
}

fn set(
    tree: &Tree<'_>,
    path: &[Step<'_>],
    value: &Node,
    before: &[&str],
    (layout, eol): (Layout, &str),
) -> Result<Splice, Refusal> {
    let mut node = &tree.root;
    let mut in_flow = false;
    // The entry or item that holds `node`.
    let mut holder: Option<&Pair> = None;
    for (depth, step) in path.iter().enumerate() {
        match (&node.form, step) {
            (Form::Map { flow, entries }, Step::Key(key)) => {
                in_flow |= flow;
                match entries.iter().find(|pair| pair.key == *key) {
                    Some(pair) => (node, holder) = (&pair.value, Some(pair)),
                    None => {
                        let rest = &path[depth + 1..];
                        let before = if rest.is_empty() { before } else { &[] };
                        let value = wrapped(rest, value)?;
                        return insert(tree, node, (key, &value), before, in_flow, (layout, eol));
                    }
                }
            }
            (Form::Seq { flow, items }, Step::Index(index)) => {
                in_flow |= flow;
                match items.get(*index) {
                    Some(item) => (node, holder) = (item, None),
                    None => return append(tree, node, value, eol),
                }
            }
            (Form::Empty, Step::Key(_)) => {
                let value = wrapped(&path[depth..], value)?;
                return replace(tree, node, holder, &value, in_flow, (layout, eol));
            }
            (Form::Alias, _) => {
                let line = tree.line_number(node.span.start);
                return Err(format!("line {line} uses what is written elsewhere (`*`); edit it there"));
            }
            _ => return Err(nowhere()),
        }
    }
    replace(tree, node, holder, value, in_flow, (layout, eol))
}

/// A new text for a value.
fn replace(
    tree: &Tree<'_>,
    node: &Located,
    holder: Option<&Pair>,
    value: &Node,
    in_flow: bool,
    (layout, eol): (Layout, &str),
) -> Result<Splice, Refusal> {
    let whole = |start: usize, new: String| -> Result<Splice, Refusal> {
        let range = start..tree.end(node)?;
        match tree.comment_in(&range) {
            Some(comment) => {
                Err(format!("the comment in line {} would be lost", tree.line_number(comment.start)))
            }
            None => Ok(Splice { range, new }),
        }
    };
    if let (Layout::Lines, false, Some(pair)) = (layout, in_flow, holder) {
        let column = tree.column(pair.at.start);
        return whole(tree.behind_colon(pair)?, layout.behind_colon(value, in_flow, column, eol));
    }
    match &node.form {
        Form::Scalar(style @ (Style::Plain | Style::Single | Style::Double)) => {
            whole(node.span.start, written_as(value, *style, in_flow))
        }
        Form::Alias | Form::Seq { flow: true, .. } => whole(node.span.start, written(value, in_flow)),
        // A pair in brackets is a map without braces: its end is that of its sequence.
        Form::Map { flow: true, .. } if tree.text[node.span.start..].starts_with('{') => {
            whole(node.span.start, written(value, in_flow))
        }
        form => {
            let Some(pair) = holder else { return Err(nowhere()) };
            let colon = tree.behind_colon(pair)?;
            match form {
                Form::Empty => {
                    Ok(Splice { range: colon..colon, new: format!(" {}", written(value, in_flow)) })
                }
                Form::Scalar(_) => {
                    let header = tree.block_header(node, colon)?;
                    whole(header, written(value, in_flow))
                }
                _ if in_flow => Err(nowhere()),
                _ => {
                    let new = format!(" {}", written(value, in_flow));
                    whole(colon, new)
                }
            }
        }
    }
}

/// A new entry, in the way in which its map is written.
fn insert(
    tree: &Tree<'_>,
    map: &Located,
    (key, value): (&str, &Node),
    before: &[&str],
    in_flow: bool,
    (layout, eol): (Layout, &str),
) -> Result<Splice, Refusal> {
    let entries = map.entries();
    // In a map of lines all keys stand in one column.
    let column = entries.first().map_or(0, |first| tree.column(first.at.start));
    let new = format!("{key}:{}", layout.behind_colon(value, in_flow, column, eol));
    let index = place_of(entries.iter().map(|pair| &*pair.key), before);
    let at = |at: usize, new: String| Ok(Splice { range: at..at, new });
    if matches!(map.form, Form::Map { flow: true, .. }) {
        if !tree.text[map.span.start..].starts_with('{') {
            return Err(nowhere());
        }
        return match (entries.get(index), entries.last()) {
            (Some(next), _) => at(next.at.start, format!("{new}, ")),
            (None, Some(last)) => at(tree.pair_end(last)?, format!(", {new}")),
            (None, None) => {
                let inside = map.span.start + 1..map.span.end - 1;
                match tree.comment_in(&inside) {
                    Some(_) => Err(nowhere()),
                    None => Ok(Splice { range: inside, new: format!(" {new} ") }),
                }
            }
        };
    }
    // Behind the line of the entry before it, so that comments stay with what they stand above.
    match index.checked_sub(1).and_then(|last| entries.get(last)) {
        Some(last) => {
            let column = tree.column(last.at.start);
            let end = with_comments(tree, tree.line_end(tree.pair_end(last)?), column);
            at(end, format!("{eol}{}{new}", " ".repeat(column)))
        }
        None => {
            let Some(first) = entries.first() else { return Err(nowhere()) };
            let indent = " ".repeat(tree.column(first.at.start));
            at(first.at.start, format!("{new}{eol}{indent}"))
        }
    }
}

/// A new last item, in the way in which its sequence is written.
fn append(tree: &Tree<'_>, seq: &Located, value: &Node, eol: &str) -> Result<Splice, Refusal> {
    let last = seq.items().last();
    if matches!(seq.form, Form::Seq { flow: true, .. }) {
        let new = written(value, true);
        return match last {
            Some(last) => {
                let end = tree.end(last)?;
                Ok(Splice { range: end..end, new: format!(", {new}") })
            }
            None => {
                let inside = seq.span.start + 1..seq.span.end - 1;
                match tree.comment_in(&inside) {
                    Some(_) => Err(nowhere()),
                    None => Ok(Splice { range: inside, new: format!(" {new} ") }),
                }
            }
        };
    }
    let Some(last) = last else { return Err(nowhere()) };
    let column = tree.column(dash(tree, last)?);
    let end = with_comments(tree, tree.line_end(tree.end(last)?), column);
    let new = format!("{eol}{}- {}", " ".repeat(column), written(value, false));
    Ok(Splice { range: end..end, new })
}

/// How deep the comment stands that is all there is in a line.
fn lone_comment(line: &str) -> Option<usize> {
    let spaces = line.len() - line.trim_start_matches(' ').len();
    line[spaces..].starts_with('#').then_some(spaces)
}

/// The end of the last of the comment lines below a line's `end` that stand deeper than `column`; they belong to it.
fn with_comments(tree: &Tree<'_>, mut end: usize, column: usize) -> usize {
    while let Some(next) = tree.next_line(end) {
        let below = tree.line_end(next);
        if lone_comment(&tree.text[next..below]).is_none_or(|spaces| spaces <= column) {
            break;
        }
        end = below;
    }
    end
}

/// Where the dash of a block item stands.
fn dash(tree: &Tree<'_>, item: &Located) -> Result<usize, Refusal> {
    let before = tree.text[..item.span.start].trim_end_matches(' ');
    if before.ends_with('-') && tree.line_start(item.span.start) < before.len() {
        return Ok(before.len() - 1);
    }
    Err(format!("line {} is written in a way that is not edited here", tree.line_number(item.span.start)))
}

fn remove(tree: &Tree<'_>, path: &[Step<'_>]) -> Result<Splice, Refusal> {
    let (last, parent) = split(path)?;
    let holder = tree.at(parent).ok_or_else(nowhere)?;
    // The start and end of each entry or item.
    let (flow, spans, index) = match (&holder.form, last) {
        (Form::Map { flow, entries }, Step::Key(key)) => {
            let spans: Result<Vec<_>, Refusal> =
                entries.iter().map(|pair| Ok(pair.at.start..tree.pair_end(pair)?)).collect();
            (*flow, spans?, entries.iter().position(|pair| pair.key == key).ok_or_else(nowhere)?)
        }
        (Form::Seq { flow, items }, Step::Index(index)) if index < items.len() => {
            let start = |item: &Located| if *flow { Ok(item.span.start) } else { dash(tree, item) };
            let spans: Result<Vec<_>, Refusal> =
                items.iter().map(|item| Ok(start(item)?..tree.end(item)?)).collect();
            (*flow, spans?, index)
        }
        _ => return Err(nowhere()),
    };
    let own = spans[index].clone();
    let range = if flow {
        match (index.checked_sub(1), spans.get(index + 1)) {
            (Some(before), _) => spans[before].end..own.end,
            (None, Some(next)) => own.start..next.start,
            (None, None) => holder.span.start + 1..holder.span.end - 1,
        }
    } else {
        let line = tree.line_start(own.start);
        if spans.len() == 1 || !tree.text[line..own.start].trim().is_empty() {
            return Err(format!("line {} holds more than this", tree.line_number(own.start)));
        }
        let end = tree.line_end(own.end);
        match (tree.next_line(end), line) {
            (Some(next), _) => line..next,
            (None, 0) => line..end,
            // The last line of a file without a line end: the one before it becomes the last.
            (None, line) => {
                let before = tree.text[..line].strip_suffix("\r\n").map_or(line - 1, str::len);
                before..end
            }
        }
    };
    match tree.comment_in(&range) {
        Some(comment) => {
            Err(format!("the comment in line {} would be lost", tree.line_number(comment.start)))
        }
        None => Ok(Splice { range, new: String::new() }),
    }
}

/// Every item takes the place of another; what stands between the places stays.
fn move_item(tree: &Tree<'_>, path: &[Step<'_>], from: usize, to: usize) -> Result<Vec<Splice>, Refusal> {
    let holder = tree.at(path).ok_or_else(nowhere)?;
    let Form::Seq { flow, items } = &holder.form else { return Err(nowhere()) };
    if from.max(to) >= items.len() {
        return Err(nowhere());
    }
    let (low, high) = (from.min(to), from.max(to));
    let mut ranges: Vec<Range<usize>> = Vec::with_capacity(high - low + 1);
    for index in low..=high {
        ranges.push(if *flow {
            items[index].span.start..tree.end(&items[index])?
        } else {
            block_item(tree, items, index)?
        });
    }
    let mut order: Vec<usize> = (0..ranges.len()).collect();
    let moved = order.remove(from - low);
    order.insert(to - low, moved);
    let text = |index: usize| tree.text[ranges[index].clone()].to_owned();
    Ok(ranges
        .iter()
        .zip(order)
        .map(|(range, index)| Splice { range: range.clone(), new: text(index) })
        .collect())
}

/// The lines of a block item, without the last line end: the comment lines right above it that stand as deep as its dash,
/// and those below it that stand deeper.
fn block_item(tree: &Tree<'_>, items: &[Located], index: usize) -> Result<Range<usize>, Refusal> {
    let dash = dash(tree, &items[index])?;
    let mut start = tree.line_start(dash);
    if !tree.text[start..dash].trim().is_empty() {
        return Err(format!("line {} holds more than this", tree.line_number(dash)));
    }
    let depth = dash - start;
    while start > 0 {
        let end = tree.text[..start].strip_suffix("\r\n").map_or(start - 1, str::len);
        let above = tree.line_start(end);
        if lone_comment(&tree.text[above..end]) != Some(depth) {
            break;
        }
        start = above;
    }
    let end = with_comments(tree, tree.line_end(tree.end(&items[index])?), depth);
    Ok(start..end)
}

/// The text of a scalar between its quotes; of one that has lines of its own, from the first of them to the last.
fn inner(tree: &Tree<'_>, path: &[Step<'_>]) -> Result<Range<usize>, Refusal> {
    let node = tree.at(path).ok_or_else(nowhere)?;
    match node.form {
        Form::Scalar(Style::Plain) => Ok(node.span.clone()),
        Form::Scalar(Style::Single | Style::Double) => Ok(node.span.start + 1..node.span.end - 1),
        Form::Scalar(_) => Ok(node.span.start..tree.end(node)?),
        _ => Err(nowhere()),
    }
}
