//! Pieces of JSON with holes: one description by which a piece is read and written.

use super::lossless::{Json, Kind, quote};

/// What stands in a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hole {
    /// Who says a message.
    Role,
    /// What a message or a result holds.
    Content,
    /// The calls beside the content of a message.
    Calls,
    /// A text.
    Text,
    /// The id of a call.
    Id,
    /// The name of a tool.
    Name,
    /// What a tool is for.
    Description,
    /// The JSON Schema of its arguments.
    Schema,
    /// The arguments of a call.
    Arguments,
    /// A cache mark.
    Mark,
    /// The address of an image, or a `data:` URL.
    Url,
    /// The kind of data of an image: `image/png`.
    MediaType,
    /// The data of an image, in base64.
    Data,
}

const HOLES: usize = Hole::Data as usize + 1;

/// Whether a member has to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// It is always there.
    Must,
    /// It is written, but may be missing where it is read.
    Said,
    /// It may be missing, or `null`; it is written when there is something to fill it with.
    May,
    /// Where it is there and not `false`, the value is something else. It is never written.
    Not,
}

/// A member of a map.
pub(super) struct Field {
    /// Its key; where programs differ, all of them, the one that is written first.
    pub keys: &'static [&'static str],
    pub need: Need,
    pub is: Pattern,
}

/// A piece of JSON with holes. Members that it does not name may stand beside those that it does.
pub(super) enum Pattern {
    /// Just this text.
    Word(&'static str),
    /// Any text.
    Text(Hole),
    /// Any value.
    Any(Hole),
    /// A map.
    Map(&'static [Field]),
}

/// A member that is always there.
pub(super) const fn must(keys: &'static [&'static str], is: Pattern) -> Field {
    Field { keys, need: Need::Must, is }
}

/// A member that is always written.
pub(super) const fn said(keys: &'static [&'static str], is: Pattern) -> Field {
    Field { keys, need: Need::Said, is }
}

/// A member that may be there.
pub(super) const fn may(keys: &'static [&'static str], is: Pattern) -> Field {
    Field { keys, need: Need::May, is }
}

/// A member that must not be there.
pub(super) const fn not(keys: &'static [&'static str]) -> Field {
    Field { keys, need: Need::Not, is: Pattern::Any(Hole::Content) }
}

/// What was found in the holes.
#[derive(Debug, Default)]
pub(super) struct Found<'j>([Option<&'j Json>; HOLES]);

impl<'j> Found<'j> {
    pub(super) fn get(&self, hole: Hole) -> Option<&'j Json> {
        self.0[hole as usize]
    }

    /// The text in a hole; empty where there is none.
    pub(super) fn text(&self, hole: Hole) -> &'j str {
        self.get(hole).and_then(|json| json.as_text()).map_or("", |text| text)
    }
}

/// What a hole is filled with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fill<'a> {
    /// A text, to be quoted.
    Text(&'a str),
    /// JSON, as it is.
    Json(&'a str),
}

impl Pattern {
    /// What stands in the holes of a value; none where the value is something else.
    pub(super) fn read<'j>(&self, json: &'j Json) -> Option<Found<'j>> {
        let mut found = Found::default();
        self.fit(json, &mut found).then_some(found)
    }

    fn fit<'j>(&self, json: &'j Json, found: &mut Found<'j>) -> bool {
        match self {
            Pattern::Word(word) => json.as_text().is_some_and(|text| **text == **word),
            Pattern::Text(hole) => {
                found.0[*hole as usize] = Some(json);
                json.as_text().is_some()
            }
            Pattern::Any(hole) => {
                found.0[*hole as usize] = Some(json);
                true
            }
            Pattern::Map(fields) => {
                matches!(json.kind, Kind::Map(_))
                    && fields.iter().all(|field| {
                        let value = field.keys.iter().find_map(|key| json.get(key));
                        match (value, field.need) {
                            (Some(value), Need::Not) => matches!(value.kind, Kind::Null | Kind::Bool(false)),
                            (Some(value), Need::May) => value.is_null() || field.is.fit(value, found),
                            (Some(value), _) => field.is.fit(value, found),
                            (None, need) => need != Need::Must,
                        }
                    })
            }
        }
    }

    /// Writes it, with its holes filled.
    pub(super) fn write<'a>(&self, fill: &dyn Fn(Hole) -> Option<Fill<'a>>, out: &mut String) {
        match self {
            Pattern::Word(word) => quote(word, out),
            Pattern::Text(hole) | Pattern::Any(hole) => match fill(*hole) {
                Some(Fill::Text(text)) => quote(text, out),
                Some(Fill::Json(json)) => out.push_str(json),
                None => out.push_str("null"),
            },
            Pattern::Map(fields) => {
                out.push('{');
                let mut first = true;
                for field in *fields {
                    let there = match field.need {
                        Need::Must | Need::Said => true,
                        Need::May => field.is.filled(fill),
                        Need::Not => false,
                    };
                    if !there {
                        continue;
                    }
                    if !std::mem::take(&mut first) {
                        out.push(',');
                    }
                    quote(field.keys[0], out);
                    out.push(':');
                    field.is.write(fill, out);
                }
                out.push('}');
            }
        }
    }

    /// True when one of its holes is filled.
    fn filled<'a>(&self, fill: &dyn Fn(Hole) -> Option<Fill<'a>>) -> bool {
        match self {
            Pattern::Word(_) => false,
            Pattern::Text(hole) | Pattern::Any(hole) => fill(*hole).is_some(),
            Pattern::Map(fields) => fields.iter().any(|field| field.is.filled(fill)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static CALL: Pattern = Pattern::Map(&[
        said(&["type"], Pattern::Word("function")),
        must(&["id", "call_id"], Pattern::Text(Hole::Id)),
        must(
            &["function"],
            Pattern::Map(&[
                must(&["name"], Pattern::Text(Hole::Name)),
                may(&["arguments"], Pattern::Any(Hole::Arguments)),
                not(&["draft"]),
            ]),
        ),
    ]);

    #[test]
    fn what_is_written_is_read() {
        let mut out = String::new();
        let fill = |hole| match hole {
            Hole::Id => Some(Fill::Text("1")),
            Hole::Name => Some(Fill::Text("Re\"ad")),
            Hole::Arguments => Some(Fill::Json("{}")),
            _ => None,
        };
        CALL.write(&fill, &mut out);
        assert_eq!(out, r#"{"type":"function","id":"1","function":{"name":"Re\"ad","arguments":{}}}"#);
        let json = Json::parse(&out).expect("it is JSON");
        let found = CALL.read(&json).expect("it fits");
        assert_eq!((found.text(Hole::Id), found.text(Hole::Name)), ("1", "Re\"ad"));
        assert!(found.get(Hole::Arguments).is_some() && found.get(Hole::Mark).is_none());
    }

    #[test]
    fn what_else_stands_there_is_no_matter_and_what_is_missing_is() {
        let reads = |text: &str| CALL.read(&Json::parse(text).expect("it is JSON")).is_some();
        assert!(reads(r#"{"function":{"x":1,"name":"a","arguments":null},"call_id":"1"}"#));
        assert!(reads(r#"{"id":"1","function":{"name":"a","draft":false}}"#));
        assert!(!reads(r#"{"id":"1","function":{"name":"a","draft":true}}"#));
        assert!(!reads(r#"{"type":"custom","id":"1","function":{"name":"a"}}"#));
        assert!(!reads(r#"{"id":"1","function":{}}"#));
        assert!(!reads(r#"{"id":1,"function":{"name":"a"}}"#));
        assert!(!reads("[]"));
    }
}
