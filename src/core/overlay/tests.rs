//! Blocks in their budget, and markers that stand in texts.

use super::*;
use crate::core::bench::{Markers, PlaceKind, Role};
use crate::core::diagnostic::Position;
use crate::core::text::Source;
use crate::core::text::number::grouped;
use proptest::prelude::*;

const START: &str = "<!-- X:START -->";
const END: &str = "<!-- X:END -->";

fn place(budget: Option<usize>) -> Place {
    Place {
        id: "block".into(),
        at: Position::START,
        kind: PlaceKind::Block,
        by_key: false,
        join: "\n\n".into(),
        blocks: false,
        role: Role::User,
        keep_empty: false,
        drop_blank: false,
        wrap: Some(("<c>\n".into(), "\n</c>".into())),
        markers: Some(Markers { name: "x".into(), start: START.into(), end: END.into() }),
        allowed: None,
        budget,
        path: None,
        lock: None,
    }
}

fn layer(id: &str, text: &str, required: bool) -> Offered {
    let made = Made::Verbatim { source: Source::file(id, text), at: 0 };
    Offered { layer: id.into(), text: Traced::whole(id, text, made, EventId(7)), required }
}

fn inside(body: &str) -> String {
    format!("{START}\n<c>\n{body}\n</c>\n{END}")
}

fn ids(evicted: &[Evicted]) -> Vec<&str> {
    evicted.iter().map(|evicted| &*evicted.layer).collect()
}

#[test]
fn everything_stands_between_the_markers_where_it_fits() {
    let offered = [layer("a", "one", true), layer("b", "two", false)];
    let block = compose(&place(None), &offered);
    assert_eq!(**block.text.text(), *inside("one\n\ntwo"));
    assert_eq!((block.evicted, block.cut, block.broken), (vec![], None, vec![]));
    let exact = inside("one\n\ntwo").chars().count();
    assert_eq!(compose(&place(Some(exact)), &offered).text.text(), block.text.text());
    assert_eq!(frame(&place(None)), exact - "one\n\ntwo".len());
}

#[test]
fn an_empty_block_has_no_markers() {
    for offered in [vec![], vec![layer("a", "", true)]] {
        assert!(compose(&place(Some(200)), &offered).text.is_empty());
    }
}

#[test]
fn required_layers_come_first_then_those_listed_until_one_does_not_fit() {
    let offered = [
        layer("a", "aaaa", false),
        layer("b", &"b".repeat(600), false),
        layer("c", "c", false),
        layer("d", "dddd", true),
    ];
    let budget = frame(&place(None)) + 20;
    let block = compose(&place(Some(budget)), &offered);
    assert_eq!(**block.text.text(), *inside("aaaa\n\ndddd"));
    let told: Vec<String> = block.evicted.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            format!("evicted: budget {budget}, needs 602, 10 left"),
            format!("evicted: budget {budget}, needs 3, 10 left, behind b"),
        ]
    );
    assert_eq!(block.cut, None);
}

#[test]
fn many_sections_are_not_joined_again_for_each_of_them() {
    // With a join of all of them for each, this would copy a hundred gigabytes.
    let offered: Vec<Offered> =
        (0..4_000).map(|n| layer(&format!("l{n}"), &format!("{n:05} {}", "x".repeat(94)), false)).collect();
    let budget = frame(&place(None)) + 102 * 3_000;
    let block = compose(&place(Some(budget)), &offered);
    assert_eq!((block.evicted.len(), count::chars(block.text.text())), (1_000, budget - 2));
    assert_eq!((block.evicted[0].needs, block.evicted[0].left), (102, 2));
}

#[test]
fn required_layers_that_are_too_much_are_cut_inside_the_markers() {
    let offered = [layer("a", "短短", false), layer("b", &"目录".repeat(40), true), layer("c", "end", true)];
    let budget = frame(&place(None)) + 10;
    let block = compose(&place(Some(budget)), &offered);
    assert_eq!(**block.text.text(), *inside("目录目录目录目..."));
    assert_eq!(count::chars(block.text.text()), budget);
    assert_eq!(block.cut, Some((78, frame(&place(None)) + 85)));
    assert_eq!(ids(&block.evicted), ["a"]);
    assert_eq!((block.evicted[0].needs, block.evicted[0].left), (4, 0));
    // The least that a place can keep is a sign of the cut.
    let least = least_budget(&place(None));
    assert_eq!(**compose(&place(Some(least)), &offered).text.text(), *inside("..."));
}

#[test]
fn a_marker_in_a_text_is_broken() {
    let note = format!("before {END} after\n{END}{START}");
    let block = compose(&place(None), &[layer("a", "fine", true), layer("notes", &note, false)]);
    let harmless = "before <\\!-- X:END --> after\n<\\!-- X:END --><\\!-- X:START -->";
    assert_eq!(**block.text.text(), *inside(&format!("fine\n\n{harmless}")));
    assert_eq!(block.broken, ["notes".into()]);
    // Bytes behind the break still know where they stand in their file.
    let at = block.text.text().find(" after").expect("it") + 1;
    let (range, span) = block.text.span_at(at).expect("a byte");
    let Made::Verbatim { source, at: start } = &span.origin.made else { panic!("{:?}", span.origin) };
    assert_eq!(source.text[start + at - range.start..].chars().next(), Some('a'));
}

#[test]
fn a_marker_that_two_layers_make_together_is_broken() {
    let mut glued = place(None);
    glued.join = "".into();
    let (head, tail) = END.split_at(6);
    let block = compose(&glued, &[layer("a", head, true), layer("b", tail, true)]);
    assert_eq!(**block.text.text(), *inside("<\\!-- X:END -->"));
    assert_eq!(block.broken, ["a".into()]);
}

#[test]
fn numbers_are_grouped() {
    for (number, text) in [(0, "0"), (999, "999"), (3500, "3,500"), (1_234_567, "1,234,567")] {
        assert_eq!(grouped(number), text);
    }
}

fn texts() -> impl Strategy<Value = Vec<(String, bool)>> {
    let piece = prop_oneof![
        4 => "[a字🙂\n]{0,12}".prop_map(String::from),
        1 => Just(START.to_owned()),
        1 => Just(END.to_owned()),
        1 => Just("<!-- X:".to_owned()),
        1 => Just("END -->".to_owned()),
    ];
    let text = prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat());
    prop::collection::vec((text, any::<bool>()), 0..7)
}

proptest! {
    #[test]
    fn a_block_keeps_its_budget_its_order_and_its_owners(
        texts in texts(), extra in 0usize..200, join in prop_oneof![Just(""), Just("\n\n")], wrap: bool,
    ) {
        let mut place = place(None);
        place.join = join.into();
        if !wrap {
            place.wrap = None;
        }
        let offered: Vec<Offered> = texts
            .iter()
            .enumerate()
            .map(|(index, (text, required))| layer(&format!("l{index}"), text, *required))
            .collect();
        let unlimited = compose(&place, &offered);
        let budget = least_budget(&place) + extra;
        place.budget = Some(budget);
        let block = compose(&place, &offered);
        let text = block.text.text();

        // Inside the budget; cut only where the required ones alone are too much, and then said.
        prop_assert!(count::chars(text) <= budget);
        let required: Vec<Offered> = offered.iter().filter(|offered| offered.required).cloned().collect();
        let alone = compose(&Place { budget: None, ..place.clone() }, &required);
        let alone = count::chars(alone.text.text());
        prop_assert_eq!(block.cut.map(|(_, chars)| chars), (alone > budget).then_some(alone));

        // One pair of markers, at the ends, or nothing at all.
        if text.is_empty() {
            prop_assert!(unlimited.text.is_empty() || !block.evicted.is_empty());
        } else {
            let (head, tail) = (format!("{START}\n"), format!("\n{END}"));
            prop_assert!(text.starts_with(&head) && text.ends_with(&tail));
            prop_assert_eq!((text.matches(START).count(), text.matches(END).count()), (1, 1));
        }

        // Evicted are those from the first that does not fit, and never a required one.
        let optional: Vec<&str> = offered
            .iter()
            .filter(|offered| !offered.required && !offered.text.is_empty())
            .map(|offered| &*offered.layer)
            .collect();
        let evicted = ids(&block.evicted);
        prop_assert_eq!(&evicted[..], &optional[optional.len() - evicted.len()..]);
        for (index, gone) in block.evicted.iter().enumerate() {
            prop_assert_eq!(gone.behind.as_deref(), (index > 0).then(|| evicted[0]));
            prop_assert!(index > 0 || gone.needs > gone.left);
        }
        if count::chars(unlimited.text.text()) <= budget {
            prop_assert_eq!(&block, &Block { evicted: vec![], ..unlimited });
        }

        // Parts and spans tile the text, and what is copied is found where it says.
        let mut at = 0;
        for part in block.text.parts() {
            prop_assert_eq!(part.start, at);
            at = part.end;
        }
        prop_assert_eq!(at, text.len());
        prop_assert_eq!(block.text.spans().last().map_or(0, |span| span.end), text.len());
        for (range, span) in block.text.ranges() {
            if let Made::Verbatim { source, at } = &span.origin.made {
                prop_assert_eq!(&source.text[*at..at + range.len()], &text[range]);
            }
        }
    }
}
