//! The one function that cuts a text to a limit.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Builder, Made, Origin, Traced, count};
use crate::core::bench::{Boundary, Cap, CapUnit};

/// What stands for a character that a cut at a byte went through.
const BROKEN: &str = "\u{fffd}";

/// What a limit leaves of a text: its first bytes, perhaps the sign for a broken character, and the mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept<'a> {
    /// How many bytes stay; a character boundary.
    pub end: usize,
    /// True when U+FFFD follows them, for a character that was cut through.
    pub broken: bool,
    /// What is written where text was cut; shortened if it has to fit inside a limit that is smaller still.
    pub mark: &'a str,
    /// How many characters were taken away.
    pub lost: usize,
}

impl Kept<'_> {
    /// What follows the bytes that stay.
    fn tail(&self) -> impl Iterator<Item = &str> {
        let broken = if self.broken { BROKEN } else { "" };
        [broken, self.mark].into_iter().filter(|text| !text.is_empty())
    }
}

/// What stays of a text under a limit; none if all of it stays. A limit on items cuts no text: whole items are left
/// out where the list is still one.
#[must_use]
pub fn keep<'a>(text: &str, cap: &'a Cap) -> Option<Kept<'a>> {
    let limit = cap.limit;
    let exceeds = match cap.unit {
        CapUnit::Chars => text.len() > limit && text.char_indices().nth(limit).is_some(),
        CapUnit::Bytes => text.len() > limit,
        CapUnit::Lines => count::lines(text) > limit,
        CapUnit::Items => false,
    };
    if !exceeds {
        return None;
    }
    let mut mark = &*cap.mark;
    let mut room = limit;
    if cap.mark_inside {
        mark = &mark[..offset(mark, limit, cap.unit)];
        room -= match cap.unit {
            CapUnit::Chars => count::chars(mark),
            CapUnit::Lines => count::lines(mark),
            CapUnit::Bytes | CapUnit::Items => mark.len(),
        };
    }
    let mut end = offset(text, room, cap.unit);
    // Only a limit in bytes can fall into a character.
    let broken = cap.boundary == Boundary::RawLossy && cap.unit == CapUnit::Bytes && end < room;
    if cap.boundary == Boundary::Line && cap.unit != CapUnit::Lines {
        end = text[..end].rfind('\n').map_or(0, |at| at + 1);
    }
    Some(Kept { end, broken, mark, lost: count::chars(&text[end..]) })
}

/// The byte offset behind the first `amount` units of a text, on a character boundary, or its length.
fn offset(text: &str, amount: usize, unit: CapUnit) -> usize {
    match unit {
        CapUnit::Chars => text.char_indices().nth(amount).map_or(text.len(), |(at, _)| at),
        CapUnit::Lines => match amount.checked_sub(1) {
            None => 0,
            Some(last) => text.match_indices('\n').nth(last).map_or(text.len(), |(at, _)| at + 1),
        },
        CapUnit::Bytes | CapUnit::Items => {
            let mut at = amount.min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        }
    }
}

/// A text under a limit, and how many characters were taken away.
#[must_use]
pub fn plain<'a>(text: &'a str, cap: &Cap) -> (Cow<'a, str>, usize) {
    match keep(text, cap) {
        None => (Cow::Borrowed(text), 0),
        Some(kept) => {
            let mut out = text[..kept.end].to_owned();
            out.extend(kept.tail());
            (out.into(), kept.lost)
        }
    }
}

/// A traced text under a limit, and how many characters were taken away. What is written at the cut belongs to the
/// part that was cut; parts behind it are gone.
#[must_use]
pub fn traced(text: &Traced, cap: &Cap) -> (Traced, usize) {
    let Some(kept) = keep(text.text(), cap) else { return (text.clone(), 0) };
    let mut builder = Builder::default();
    let mut ranges = text.ranges().peekable();
    for part in text.parts() {
        builder.begin(part.id.clone(), part.reads.clone());
        while let Some((range, span)) = ranges.next_if(|(range, _)| range.end <= part.end.min(kept.end)) {
            builder.push(&text.text()[range], span.origin.clone(), span.glue);
        }
        if part.end <= kept.end {
            continue;
        }
        // The cut falls into this part; its next span, which is there because the part is not over, is cut short.
        if let Some((range, span)) = ranges.next() {
            builder.push(&text.text()[range.start..kept.end], span.origin.clone(), span.glue);
            let origin =
                Origin { part: span.origin.part.clone(), made: Made::Literal, cause: span.origin.cause };
            let origin = Arc::new(origin);
            for tail in kept.tail() {
                builder.push(tail, origin.clone(), false);
            }
        }
        break;
    }
    (builder.finish(), kept.lost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::fact::EventId;
    use proptest::prelude::*;

    fn cap(unit: CapUnit, limit: usize, boundary: Boundary, mark: &str, mark_inside: bool) -> Cap {
        Cap { unit, limit, boundary, mark: mark.into(), mark_inside, whole_items: false }
    }

    fn cut(text: &str, cap: &Cap) -> (String, usize) {
        let (text, lost) = plain(text, cap);
        (text.into_owned(), lost)
    }

    #[test]
    fn each_unit_is_counted_as_it_says() {
        use Boundary::{Char, Line, RawLossy};
        use CapUnit::{Bytes, Chars, Items, Lines};
        for (text, cap, want, lost) in [
            ("目录已切换", cap(Chars, 3, Char, "...", false), "目录已...", 2),
            ("目录已切换", cap(Chars, 3, Char, "..", true), "目..", 4),
            ("目录已切换", cap(Chars, 5, Char, "..", true), "目录已切换", 0),
            ("目录已切换", cap(Chars, 2, Char, "longer", true), "lo", 5),
            ("目录", cap(Bytes, 4, Char, "", false), "目", 1),
            ("目录", cap(Bytes, 4, RawLossy, "", false), "目\u{fffd}", 1),
            ("目录", cap(Bytes, 3, RawLossy, "", false), "目", 1),
            ("目录", cap(Bytes, 5, RawLossy, "…", true), "\u{fffd}…", 2),
            ("one\ntwo\nthree", cap(Bytes, 9, Line, "", false), "one\ntwo\n", 5),
            ("one\ntwo\nthree", cap(Chars, 2, Line, "(cut)", false), "(cut)", 13),
            ("1\n2\n3\n", cap(Lines, 2, Char, "\n> more\n", false), "1\n2\n\n> more\n", 2),
            ("1\n2\n3\n", cap(Lines, 3, Char, "\n> more\n", false), "1\n2\n3\n", 0),
            ("1\n2\n3\n4", cap(Lines, 3, Char, "> more", true), "1\n2\n> more", 3),
            ("1\n2\n3", cap(Lines, 0, Char, "x", false), "x", 5),
            ("1\n2\n3", cap(Items, 1, Char, "x", false), "1\n2\n3", 0),
        ] {
            assert_eq!(cut(text, &cap), (want.to_owned(), lost), "{text:?} under {cap:?}");
        }
    }

    /// Three parts: `first`, then a separator and `second` in two spans, then `third`.
    fn parts() -> Traced {
        let mut builder = Builder::default();
        for (id, pieces) in
            [("first", &["目录"][..]), ("second", &["\n\n", "one", "two"]), ("third", &["\n\n", "end"])]
        {
            builder.begin(id.into(), Arc::default());
            for (index, piece) in pieces.iter().enumerate() {
                let made = Made::Fact {
                    key: crate::core::fact::FactKey::named(*piece),
                    rev: Default::default(),
                    placeholder: None,
                };
                let origin = Origin { part: id.into(), made, cause: EventId(index as u32 + 1) };
                builder.push(piece, Arc::new(origin), *piece == "\n\n");
            }
        }
        builder.finish()
    }

    #[test]
    fn the_mark_belongs_to_the_part_that_was_cut() {
        let (text, lost) = traced(&parts(), &cap(CapUnit::Chars, 8, Boundary::Char, "..", false));
        assert_eq!((&**text.text(), lost), ("目录\n\nonet..", 7));
        let ids: Vec<&str> = text.parts().iter().map(|part| &*part.id).collect();
        assert_eq!(ids, ["first", "second"]);
        assert_eq!(&text[&text.parts()[1]], "onet..");
        let mark = text.spans().last().unwrap();
        assert_eq!(
            (&*mark.origin.part, &mark.origin.made, mark.origin.cause),
            ("second", &Made::Literal, EventId(3))
        );
    }

    #[test]
    fn a_part_that_lost_everything_keeps_the_mark() {
        let (text, lost) = traced(&parts(), &cap(CapUnit::Chars, 10, Boundary::Char, "", false));
        assert_eq!((&**text.text(), text.parts().len(), lost), ("目录\n\nonetwo", 3, 5));
        let (text, _) = traced(&parts(), &cap(CapUnit::Chars, 10, Boundary::Char, "(cut)", false));
        let last = text.parts().last().unwrap();
        assert_eq!((&*last.id, &text[last]), ("third", "(cut)"));
    }

    #[test]
    fn a_cut_through_a_separator_leaves_it_a_separator() {
        let (text, _) = traced(&parts(), &cap(CapUnit::Chars, 3, Boundary::Char, "..", false));
        assert_eq!(&**text.text(), "目录\n..");
        assert_eq!(&text[&text.parts()[1]], "..");
    }

    proptest! {
        #[test]
        fn a_cut_text_is_a_prefix_with_its_owners(
            limit in 0usize..20, unit in 0..3usize, boundary in 0..3usize, mark in "[.…]{0,3}", inside: bool,
        ) {
            let unit = [CapUnit::Chars, CapUnit::Bytes, CapUnit::Lines][unit];
            let boundary = [Boundary::Char, Boundary::RawLossy, Boundary::Line][boundary];
            let cap = cap(unit, limit, boundary, &mark, inside);
            let whole = parts();
            let (text, lost) = traced(&whole, &cap);
            let (same, same_lost) = plain(whole.text(), &cap);
            prop_assert_eq!((&**text.text(), lost), (&*same, same_lost));
            if let Some(kept) = keep(whole.text(), &cap) {
                if inside && !kept.broken {
                    let size = match unit {
                        CapUnit::Chars => count::chars(text.text()),
                        CapUnit::Bytes => text.len(),
                        _ => count::lines(text.text()),
                    };
                    prop_assert!(size <= limit);
                }
                for byte in 0..kept.end {
                    prop_assert_eq!(&text.span_at(byte).unwrap().1.origin, &whole.span_at(byte).unwrap().1.origin);
                    prop_assert_eq!(&text.part_at(byte).unwrap().id, &whole.part_at(byte).unwrap().id);
                }
            } else {
                prop_assert_eq!(&text, &whole);
            }
            prop_assert_eq!(text.spans().last().map_or(0, |span| span.end), text.len());
            prop_assert_eq!(text.parts().last().map_or(0, |part| part.end), text.len());
        }
    }
}
