//! The fields of a log's line that an audit looks at, as byte ranges: what is equal to a line before is jumped over.
//!
//! In a log whose every line holds the whole conversation, a line is the one before it and a little more. So a list of
//! messages is first compared as raw bytes with those of the lines that are remembered; only what stands behind the last
//! message that both have is scanned. That is right whatever the two lines are: a list, map or text in JSON ends where
//! it ends, so equal bytes from its first to its last are an equal value.

use std::ops::Range;

use super::scan::Scan;
use crate::core::diff::common_prefix;
use crate::core::wire::lossless::Mistake;

/// The maps that are looked into. Everything else is one field.
const INTO: &[&str] = &[
    "",
    "request",
    "request.body",
    "request.params",
    "body",
    "params",
    "response",
    "response.body",
    "metadata",
    "kwargs",
    "data",
    "model_parameters",
];

/// Lists of messages: remembered item by item.
const LISTS: &[&str] = &["messages", "input"];

/// Values shorter than this are scanned faster than they are looked up.
const WORTH: usize = 64;

/// A field of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its keys from the top, with dots between them: `request.body.model`.
    pub path: String,
    /// The byte range of its value.
    pub range: Range<usize>,
    /// Where it is a list of messages: its items.
    pub items: Vec<Range<usize>>,
    /// The remembered line (by its place among those that were given) whose value begins with the same bytes.
    pub same: Option<usize>,
    /// How many leading items are byte for byte those of that line; none where the whole value is.
    pub same_items: Option<usize>,
}

/// The fields of a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields(pub Vec<Field>);

impl Fields {
    /// The field with these keys; the last one, as most programs have it.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&Field> {
        self.0.iter().rev().find(|field| field.path == path)
    }

    /// The field with this key in the map with these keys; at the top where there are none.
    #[must_use]
    pub fn under(&self, prefix: &str, key: &str) -> Option<&Field> {
        let is = |path: &str| match prefix {
            "" => path == key,
            _ => path.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('.')) == Some(key),
        };
        self.0.iter().rev().find(|field| is(&field.path))
    }

    /// True where there is such a map, or such a field.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        self.0.iter().any(|field| {
            field.path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }
}

/// A line that was read before.
#[derive(Clone, Copy)]
pub(super) struct Known<'k> {
    /// Its bytes.
    pub line: &'k [u8],
    /// Its fields.
    pub fields: &'k Fields,
}

/// Finds the fields of a line. `known` are lines that it may have much in common with, the likeliest first.
///
/// # Errors
///
/// At the first byte that cannot be JSON.
pub(super) fn walk(line: &[u8], known: &[Known<'_>]) -> Result<Fields, Mistake> {
    let mut walker = Walker { scan: Scan::new(line), known, fields: Vec::new() };
    walker.scan.space();
    walker.value(&mut String::new(), 0)?;
    walker.scan.end()?;
    Ok(Fields(walker.fields))
}

struct Walker<'l, 'k> {
    scan: Scan<'l>,
    known: &'k [Known<'k>],
    fields: Vec<Field>,
}

impl Walker<'_, '_> {
    fn value(&mut self, path: &mut String, depth: usize) -> Result<(), Mistake> {
        let name = path.rsplit('.').next().unwrap_or_default();
        match self.scan.peek() {
            Some(b'{') if INTO.contains(&path.as_str()) => self.map(path, depth),
            Some(b'[') if LISTS.contains(&name) => self.list(path, depth),
            _ => {
                let start = self.scan.at;
                let same = self.equal(path);
                let range = match same {
                    Some((_, len)) => {
                        self.scan.at += len;
                        start..self.scan.at
                    }
                    None => self.scan.value(depth)?,
                };
                self.push(path, range, same.map(|(line, _)| line));
                Ok(())
            }
        }
    }

    fn push(&mut self, path: &str, range: Range<usize>, same: Option<usize>) {
        self.fields.push(Field { path: path.to_owned(), range, items: Vec::new(), same, same_items: None });
    }

    fn map(&mut self, path: &mut String, depth: usize) -> Result<(), Mistake> {
        let start = self.scan.at;
        let before = self.fields.len();
        self.scan.at += 1;
        self.scan.space();
        if self.scan.peek() == Some(b'}') {
            self.scan.at += 1;
        } else {
            loop {
                let key = self.scan.key()?;
                let len = path.len();
                if len > 0 {
                    path.push('.');
                }
                path.push_str(&decoded(&self.scan.line[key]));
                self.value(path, depth + 1)?;
                path.truncate(len);
                self.scan.space();
                match self.scan.peek() {
                    Some(b',') => {
                        self.scan.at += 1;
                        self.scan.space();
                    }
                    Some(b'}') => {
                        self.scan.at += 1;
                        break;
                    }
                    _ => return Err(self.scan.mistake("`,` or `}` was expected")),
                }
            }
        }
        // The map itself stands behind its members: they are found first where it is asked for.
        let field = Field {
            path: path.clone(),
            range: start..self.scan.at,
            items: Vec::new(),
            same: None,
            same_items: None,
        };
        self.fields.insert(before, field);
        Ok(())
    }

    fn list(&mut self, path: &str, depth: usize) -> Result<(), Mistake> {
        let start = self.scan.at;
        let mut items: Vec<Range<usize>> = Vec::new();
        let shared = self.common(path);
        let mut behind_item = false;
        if let Some((line, count)) = shared
            && let Some(old) = self.known[line].fields.get(path)
        {
            let shift = |item: &Range<usize>| {
                item.start - old.range.start + start..item.end - old.range.start + start
            };
            items.extend(old.items[..count].iter().map(shift));
            self.scan.at = items.last().map_or(start, |item| item.end);
            behind_item = true;
        } else {
            self.scan.at += 1;
            self.scan.space();
            if self.scan.peek() == Some(b']') {
                self.scan.at += 1;
                self.push(path, start..self.scan.at, None);
                return Ok(());
            }
        }
        loop {
            if !std::mem::take(&mut behind_item) {
                self.scan.space();
                items.push(self.scan.value(depth + 1)?);
            }
            self.scan.space();
            match self.scan.peek() {
                Some(b',') => self.scan.at += 1,
                Some(b']') => {
                    self.scan.at += 1;
                    break;
                }
                _ => return Err(self.scan.mistake("`,` or `]` was expected")),
            }
        }
        self.fields.push(Field {
            path: path.to_owned(),
            range: start..self.scan.at,
            items,
            same: shared.map(|(line, _)| line),
            same_items: shared.map(|(_, count)| count),
        });
        Ok(())
    }

    /// A remembered line whose value under these keys is the one that stands here, and its length.
    fn equal(&self, path: &str) -> Option<(usize, usize)> {
        let rest = &self.scan.line[self.scan.at..];
        if !matches!(rest.first(), Some(b'{' | b'[' | b'"')) {
            return None;
        }
        self.known.iter().enumerate().find_map(|(index, known)| {
            let old = &known.line[known.fields.get(path)?.range.clone()];
            (old.len() >= WORTH && rest.starts_with(old)).then_some((index, old.len()))
        })
    }

    /// The remembered line with which the list here has the most leading items in common, and how many.
    fn common(&self, path: &str) -> Option<(usize, usize)> {
        let rest = &self.scan.line[self.scan.at..];
        let mut best = None;
        for (index, known) in self.known.iter().enumerate() {
            let Some(field) = known.fields.get(path).filter(|field| !field.items.is_empty()) else {
                continue;
            };
            let old = &known.line[field.range.clone()];
            let common = common_prefix(old, rest);
            let ends = |item: &Range<usize>| item.end - field.range.start <= common;
            let mut count = field.items.partition_point(ends);
            // A number or word may go on where the other ends; nobody sends such messages.
            while count > 0 && !matches!(known.line[field.items[count - 1].start], b'{' | b'[' | b'"') {
                count -= 1;
            }
            if count > best.map_or(0, |(_, best)| best) {
                best = Some((index, count));
            }
            if count == field.items.len() {
                break;
            }
        }
        best
    }
}

/// A key without its escapes.
fn decoded(key: &[u8]) -> String {
    let text = String::from_utf8_lossy(key);
    if !text.contains('\\') {
        return text.into_owned();
    }
    serde_json::from_str(&format!("\"{text}\"")).unwrap_or_else(|_| text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text<'l>(line: &'l str, fields: &Fields, path: &str) -> &'l str {
        &line[fields.get(path).unwrap_or_else(|| panic!("{path}")).range.clone()]
    }

    #[test]
    fn fields_are_found_wherever_they_stand() {
        let line = r#"{"request":{"body":{"model":"m","messages":[{"a":1}, {"b":2}],"tools":[]}},"t":1.5,"response":null}"#;
        let fields = walk(line.as_bytes(), &[]).expect("JSON");
        assert_eq!(text(line, &fields, "request.body.model"), "\"m\"");
        assert_eq!(text(line, &fields, "t"), "1.5");
        assert_eq!(text(line, &fields, "response"), "null");
        let messages = fields.get("request.body.messages").expect("there");
        let items: Vec<&str> = messages.items.iter().map(|item| &line[item.clone()]).collect();
        assert_eq!(items, ["{\"a\":1}", "{\"b\":2}"]);
        assert!(fields.has("request") && fields.has("request.body") && !fields.has("req"));
    }

    #[test]
    fn what_a_line_before_holds_is_jumped_over() {
        let long = "x".repeat(100);
        let first = format!(r#"{{"t":1,"system":"{long}","messages":[{{"a":"{long}"}},{{"b":"{long}"}}]}}"#);
        let second = format!(
            r#"{{"t":2,"system":"{long}","messages":[{{"a":"{long}"}},{{"b":"{long}"}},{{"c":3}}],"z":0}}"#
        );
        let known = walk(first.as_bytes(), &[]).expect("JSON");
        let remembered = [Known { line: first.as_bytes(), fields: &known }];
        let fields = walk(second.as_bytes(), &remembered).expect("JSON");
        let messages = fields.get("messages").expect("there");
        assert_eq!((messages.same, messages.same_items, messages.items.len()), (Some(0), Some(2), 3));
        assert_eq!(fields.get("system").expect("there").same, Some(0));
        // The same ranges as without help.
        let plain = walk(second.as_bytes(), &[]).expect("JSON");
        let ranges = |fields: &Fields| {
            fields.0.iter().map(|f| (f.path.clone(), f.range.clone(), f.items.clone())).collect::<Vec<_>>()
        };
        assert_eq!(ranges(&fields), ranges(&plain));
        // What only begins alike is no equal value.
        let other = format!(r#"{{"system":"{long}x","messages":[{{"a":"{long}y"}}]}}"#);
        let fields = walk(other.as_bytes(), &remembered).expect("JSON");
        assert_eq!(fields.get("system").expect("there").same, None);
        assert_eq!(fields.get("messages").expect("there").same_items, None);
    }

    #[test]
    fn numbers_in_a_list_are_no_shared_messages() {
        let first = r#"{"messages":[12,34]}"#;
        let known = walk(first.as_bytes(), &[]).expect("JSON");
        let remembered = [Known { line: first.as_bytes(), fields: &known }];
        let fields = walk(br#"{"messages":[12,345]}"#, &remembered).expect("JSON");
        assert_eq!(fields.get("messages").expect("there").items, [13..15, 16..19]);
    }
}
