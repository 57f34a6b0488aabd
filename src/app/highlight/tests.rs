//! What texts are made of, how they are laid out, and how the worker goes about it.

use std::cell::Cell;

use proptest::prelude::*;

use super::worker::Painter;
use super::*;

fn want(text: &str, language: Language, visible: Range<usize>) -> Want {
    let id = Id::of(text, &language);
    Want { id, text: Text::Whole(text.into()), range: 0..text.len(), language, visible }
}

/// Every paint of a text, in the order in which they came.
fn paints(painter: &mut Painter, want: &Want) -> Vec<Arc<Paint>> {
    let mut all = Vec::new();
    painter.work(std::slice::from_ref(want), &|| false, &mut |_, paint| all.push(paint));
    all
}

fn paint(text: &str, language: Language) -> Arc<Paint> {
    paints(&mut Painter::default(), &want(text, language, 0..text.len())).pop().expect("a paint")
}

/// The classes as `Class:text`.
fn classes(text: &str, language: Language) -> Vec<String> {
    paint(text, language)
        .spans
        .iter()
        .map(|(range, class)| format!("{class:?}:{}", text[range.clone()].trim()))
        .collect()
}

/// The lines of a sheet as they are shown.
fn laid(text: &str, language: Language) -> Vec<String> {
    let paint = paint(text, language);
    let sheet = paint.sheet.as_ref().expect("it can be laid out");
    (0..sheet.lines.len())
        .map(|line| {
            let shown = sheet.pieces_of(line).iter().map(|piece| match &piece.own {
                Some(own) => own,
                None => &text[piece.source.clone()],
            });
            shown.collect::<String>().trim_end().to_owned()
        })
        .collect()
}

fn yaml(template: bool) -> Language {
    Language::Other { token: "yaml".into(), template }
}

#[test]
fn markdown_and_tags() {
    let text =
        "# 标题 *a*\n\n<rules 级别='x'>\n- **bold** and `code`\n> said\n[link](https://x.y)\n</rules>\n---\n";
    let found = classes(text, Language::PROMPT);
    for want in [
        "Title:标题",
        "Emphasis:a",
        "Tag:<rules 级别='x'>",
        "Tag:</rules>",
        "Strong:bold",
        "Code:code",
        "Quote:said",
        "Link:link",
        "Mark:](https://x.y)",
        "Mark:---",
    ] {
        assert!(found.contains(&want.to_owned()), "{want} in {found:?}");
    }
    assert!(!found.iter().any(|found| found.starts_with("Heading")), "{found:?}");
}

#[test]
fn a_template_shows_what_it_writes_values_for() {
    let text = "# In {{ cwd }}\n{% if x %}\n`{{ code }}`{# why #}\n";
    let found = classes(text, Language::Prompt { template: true });
    for want in ["Placeholder:{{ cwd }}", "Keyword:{% if x %}", "Placeholder:{{ code }}", "Comment:{# why #}"]
    {
        assert!(found.contains(&want.to_owned()), "{want} in {found:?}");
    }
    let found = classes(text, Language::PROMPT);
    assert!(!found.iter().any(|found| found.starts_with("Placeholder")), "{found:?}");
}

#[test]
fn json_and_yaml() {
    let found = classes("{\"a\": [1, true, \"b\\\"c\"]}", Language::Json);
    for want in ["Key:\"a\"", "Number:1", "Keyword:true", "String:\"b\\\"c\"", "Mark:{"] {
        assert!(found.contains(&want.to_owned()), "{want} in {found:?}");
    }
    let text = "# why\nname: \"x\" # y\nfrom: { text: \"in {{ cwd }}\" }\nn: 12\n";
    let found = classes(text, yaml(true));
    for want in ["Comment:# why", "Key:name", "String:\"x\"", "Placeholder:{{ cwd }}", "Number:12"] {
        assert!(found.contains(&want.to_owned()), "{want} in {found:?}");
    }
}

#[test]
fn fences_are_read_in_their_language() {
    let text = "```yaml\nkey: 12\n```\n\n```json\n{\"a\": 1}\n```\n\n```nobody-knows\nkey: 12\n```\n";
    let mut painter = Painter::default();
    let all = paints(&mut painter, &want(text, Language::PROMPT, 0..text.len()));
    assert_eq!(
        all.iter().map(|paint| paint.done).collect::<Vec<_>>(),
        [0, text.len()],
        "first without, then with"
    );
    let found = classes(text, Language::PROMPT);
    for want in ["Key:key", "Number:12", "Key:\"a\"", "Code:key: 12"] {
        assert!(found.contains(&want.to_owned()), "{want} in {found:?}");
    }
}

#[test]
fn a_page_is_laid_out_for_reading() {
    let text = "\
# Rules
Read **first**, then `write`.

- one
  - two, [here](a.md)
    goes on
1. three

> quoted
> still

| name | 大小 |
|:--|--:|
| `a` | 1 |
| 目录 | 1024 |

```rust
fn x() {}
```
<end>
***
";
    assert_eq!(
        laid(text, Language::PROMPT),
        [
            "Rules",
            "Read first, then write.",
            "",
            "• one",
            "  • two, here(a.md)",
            "    goes on",
            "1. three",
            "",
            "| quoted",
            "| still",
            "",
            " name │ 大小",
            "──────┼──────",
            " a    │    1",
            " 目录 │ 1024",
            "",
            "  rust",
            "  fn x() {}",
            "<end>",
            "────────────────────────",
        ]
    );
}

#[test]
fn cells_beyond_the_head_are_not_lost() {
    let text = "| a |\n|---|\n| 1 | 规则 |\n";
    assert_eq!(laid(text, Language::PROMPT)[2], " 1  | 规则 |");
}

#[test]
fn json_is_laid_out_one_entry_a_line() {
    let text = r#"{"path":"api","list":[1,{"a":[]}],"none":{}}"#;
    assert_eq!(
        laid(text, Language::Json),
        [
            "{",
            "  \"path\": \"api\",",
            "  \"list\": [",
            "    1,",
            "    {",
            "      \"a\": []",
            "    }",
            "  ],",
            "  \"none\": {}",
            "}"
        ]
    );
    for broken in ["{\"a\": [}", "{\"a\": 1", "]", "{a}", ""] {
        assert_eq!(paint(broken, Language::Json).sheet, None, "{broken}");
    }
}

/// A YAML file of so many lines, none like another.
fn long_yaml(lines: usize) -> String {
    (0..lines).map(|line| format!("key_{line}: \"value {line}\" # {line}\n")).collect()
}

#[test]
fn a_far_screen_gets_a_guess_and_what_was_read_is_not_read_again() {
    let text = long_yaml(1200);
    let line = |number: usize| text.split_inclusive('\n').take(number).map(str::len).sum::<usize>();
    let mut painter = Painter::default();
    let all = paints(&mut painter, &want(&text, yaml(false), line(900)..line(940)));
    assert_eq!(all.len(), 2, "a guess, then the truth");
    assert_eq!(all[0].done, 0);
    let seen = |paint: &Paint| paint.within(line(900)..line(940)).collect::<Vec<_>>();
    assert!(!seen(&all[0]).is_empty());
    assert_eq!(seen(&all[0]), seen(&all[1]));
    assert!(all[1].done > line(940) && all[1].done < text.len(), "not further than it is looked at");

    let whole = paint(&text, yaml(false));
    assert_eq!(whole.done, text.len());
    // A changed line in the middle is read from the last reader in front of it on, and comes to the same as all of it.
    let edited = text.replacen("\"value 905\"", "[1, 2]", 1);
    let all = paints(&mut painter, &want(&edited, yaml(false), line(900)..line(940)));
    assert_eq!(all.len(), 1, "near enough for no guess");
    let whole = paint(&edited, yaml(false));
    assert_eq!(seen(&all[0]), seen(&whole));
    assert_eq!(all[0].spans[..], whole.spans[..all[0].spans.len()]);
}

#[test]
fn a_newer_wish_ends_an_older_one() {
    let text = long_yaml(400);
    let asked = Cell::new(0);
    let newer = || {
        asked.set(asked.get() + 1);
        asked.get() > 3
    };
    let mut painter = Painter::default();
    let mut count = 0;
    let other = want("# x\n", Language::PROMPT, 0..4);
    painter.work(&[want(&text, yaml(false), 0..text.len()), other], &newer, &mut |_, _| count += 1);
    assert_eq!(count, 0);
    // What was read until then is not lost, and the next time it is finished.
    let all = paints(&mut painter, &want(&text, yaml(false), 0..text.len()));
    assert_eq!(all.last(), Some(&paint(&text, yaml(false))));
}

#[test]
fn the_thread_answers_and_ends() {
    let (sender, answers) = std::sync::mpsc::channel();
    let handle = worker::Handle::start(move |id, paint| drop(sender.send((id, paint)))).expect("a thread");
    let want = want("# x\n", Language::PROMPT, 0..4);
    handle.ask(vec![want.clone()]);
    let (id, paint) = answers.recv().expect("an answer");
    assert_eq!((id, paint.done), (want.id, 4));
    drop(handle);
    assert!(answers.recv().is_err(), "the thread has ended, and with it the sender");
}

fn prompt() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "#{1,3} [a-z字]{0,6}",
        "( {0,4}[-*+]|[0-9]\\.) [a-z*`字 ]{0,12}",
        "> ?[a-z*_`]{0,8}",
        "\\|[a-z字 *`|]{0,12}\\|",
        "\\|:?-{1,3}:?\\|-{1,3}\\|",
        "(```|~~~)[a-z]{0,4}",
        "</?[a-z字]{1,4}( a=\"b\")?>",
        "[\\PC]{0,20}",
        "\\[[a-z]{0,3}\\]\\([a-z字 ]{0,4}\\)",
        "    [a-z]{0,4}",
        "---",
        "",
    ];
    prop::collection::vec((line, prop_oneof![Just("\n"), Just("\r\n")]), 0..14)
        .prop_map(|lines| lines.into_iter().flat_map(|(line, end)| [line, end.to_owned()]).collect())
}

proptest! {
    #[test]
    fn spans_are_in_order_and_lines_tile_the_text(text in prompt(), template: bool) {
        let paint = paint(&text, Language::Prompt { template });
        let mut at = 0;
        for (range, _) in &paint.spans {
            prop_assert!(range.start >= at && range.start < range.end && range.end <= text.len());
            prop_assert!(text.get(range.clone()).is_some(), "on characters");
            at = range.end;
        }
        let sheet = paint.sheet.as_ref().expect("no line is too long");
        let mut before = None;
        let mut bytes = vec![0; text.len()];
        for (number, line) in sheet.lines.iter().enumerate() {
            prop_assert!(before.is_none_or(|before| before < line.start) && text.is_char_boundary(line.start));
            before = Some(line.start);
            let own = line.start..sheet.end_of(number, text.len());
            for piece in sheet.pieces_of(number) {
                prop_assert!(piece.source.start >= own.start && piece.source.end <= own.end, "{:?}", piece);
                prop_assert!(text.get(piece.source.clone()).is_some());
                if piece.own.is_none() {
                    bytes[piece.source.clone()].iter_mut().for_each(|count| *count += 1);
                }
            }
        }
        prop_assert!(bytes.iter().all(|count| *count <= 1), "no byte is shown twice");
        prop_assert_eq!(sheet.lines.first().map(|line| line.start), (!text.is_empty()).then_some(0));
        // What is no ASCII sign is no markup, so all of it is shown, outside of fences' ends.
        for (at, c) in text.char_indices().filter(|(_, c)| *c == '字') {
            prop_assert_eq!(bytes[at], 1, "{:?} at {} is gone", c, at);
        }
    }

    #[test]
    fn json_pages_show_every_token(text in "[{}\\[\\]\",:0-9a-z\\\\字 \n-]{0,30}") {
        let paint = paint(&text, Language::Json);
        let Some(sheet) = &paint.sheet else { return Ok(()) };
        let mut shown = String::new();
        let mut before = None;
        for (number, line) in sheet.lines.iter().enumerate() {
            prop_assert!(before.is_none_or(|before| before < line.start));
            before = Some(line.start);
            for piece in sheet.pieces_of(number).iter().filter(|piece| piece.own.is_none()) {
                shown.push_str(&text[piece.source.clone()]);
            }
        }
        let ink = |text: &str| text.chars().filter(|c| !c.is_ascii_whitespace()).collect::<String>();
        prop_assert_eq!(ink(&shown), ink(&text));
    }
}
