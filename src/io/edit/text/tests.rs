//! Edits of files of every kind keep what was not edited.

use proptest::prelude::*;

use super::*;

fn file(text: &str) -> Original {
    Original::of(text.as_bytes()).expect("it can be written back")
}

fn hunk(old: Range<usize>, new: &[&str]) -> Hunk {
    Hunk { old, new: new.iter().map(ToString::to_string).collect() }
}

/// The text after some hunks.
fn edited(text: &str, hunks: &[Hunk]) -> String {
    let original = file(text);
    let bytes = original.apply(&original.splices(hunks)).expect("it is text");
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn lines_end_as_they_did() {
    let crlf = "a\r\nb\r\nc\r\n";
    assert_eq!(edited(crlf, &[hunk(1..2, &["B"])]), "a\r\nB\r\nc\r\n");
    assert_eq!(edited(crlf, &[hunk(1..2, &["b1", "b2"])]), "a\r\nb1\r\nb2\r\nc\r\n");
    assert_eq!(edited(crlf, &[hunk(3..4, &["d", ""])]), "a\r\nb\r\nc\r\nd\r\n");
    assert_eq!(edited(crlf, &[hunk(1..2, &[])]), "a\r\nc\r\n");
    // A file without a line end at its end stays one.
    assert_eq!(edited("a\nb", &[hunk(1..2, &["B"])]), "a\nB");
    assert_eq!(edited("a\nb", &[hunk(2..2, &["c"])]), "a\nb\nc");
    assert_eq!(edited("a\nb", &[hunk(1..2, &[])]), "a");
    assert_eq!(edited("", &[hunk(0..1, &["a", ""])]), "a\n");
    // In a mixed file every line keeps its own end, and a split line keeps it behind its second half.
    let mixed = "a\nb\nc\rd\r\ne";
    assert_eq!(edited(mixed, &[hunk(3..4, &["d1", "d2"])]), "a\nb\nc\rd1\nd2\r\ne");
    assert_eq!(edited(mixed, &[hunk(2..4, &["C", "D"])]), "a\nb\nC\rD\r\ne");
    assert_eq!(edited(mixed, &[hunk(2..4, &["CD"])]), "a\nb\nCD\r\ne");
}

#[test]
fn two_line_ends_never_become_one() {
    assert_eq!(edited("a\rb\nc", &[hunk(1..2, &[""])]), "a\r\n\nc");
    assert_eq!(edited("a\rb\n\nc", &[hunk(1..2, &[])]), "a\r\n\nc");
    assert_eq!(edited("a\n\rb\nc\n", &[hunk(2..3, &["", "x"])]), "a\n\r\r\nx\nc\n");
}

#[test]
fn bytes_that_are_no_characters_stay_and_cannot_be_edited() {
    let bytes = b"one\ncaf\xE9 and \xC3\nthree \xE4\xBD\xA0\n".to_vec();
    let original = Original::of(bytes.clone()).expect("it can be kept");
    assert_eq!(original.about(), "not valid UTF-8");
    let around = original.splices(&[hunk(0..1, &["1"]), hunk(2..3, &["3 你"])]);
    assert_eq!(original.apply(&around), Ok(b"1\ncaf\xE9 and \xC3\n3 \xE4\xBD\xA0\n".to_vec()));
    let inside = original.splices(&[hunk(1..2, &["coffee"])]);
    assert_eq!(original.apply(&inside), Err("line 2 holds bytes that are not UTF-8".to_owned()));
}

#[test]
fn positions_are_found_in_lines_of_every_kind() {
    let original = file("a\r\nbc 你d\re\n");
    // For positions, `bc 你d`, the lone CR and `e` are one line.
    assert_eq!(original.line_at(Position { line: 2, column: 5 }), (1, 6));
    assert_eq!(original.line_at(Position { line: 2, column: 7 }), (2, 0));
    assert_eq!(original.line_at(Position { line: 3, column: 1 }), (3, 0));
    assert_eq!(original.line_at(Position { line: 9, column: 9 }), (3, 0));
    assert_eq!(original.line_of(1), (0, 1));
}

#[test]
fn files_say_what_is_unusual_about_them() {
    for (bytes, about) in [
        (&b"a\nb"[..], ""),
        (b"a\r\nb\r\n", "CRLF"),
        (b"\xEF\xBB\xBFa\rb", "BOM, CR"),
        (b"\xFF\xFEa\0\r\0\n\0", "UTF-16, CRLF"),
        (b"a\r\nb\n", "mixed line ends"),
    ] {
        assert_eq!(Original::of(bytes.to_vec()).expect("text").about(), about);
    }
}

#[test]
fn a_file_that_changed_outside_is_a_conflict_and_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rules.md");
    fs::write(&path, "one\ntwo\n").expect("a file");
    let base = Original::read(&path).expect("text");
    let mine = base.splices(&[hunk(1..2, &["mine"])]);
    fs::write(&path, "one\ntheirs\n").expect("a file");
    let Err(SaveError::Conflict(conflict)) = base.save(&path, &mine) else { panic!("it was saved") };
    assert_eq!(
        (&*conflict.mine, &**conflict.theirs.text(), &**conflict.base.text()),
        ("one\nmine\n", "one\ntheirs\n", "one\ntwo\n")
    );
    assert_eq!(fs::read(&path).expect("there"), b"one\ntheirs\n");

    fs::remove_file(&path).expect("a file");
    let Err(SaveError::Conflict(conflict)) = base.save(&path, &mine) else { panic!("it was saved") };
    assert!(!conflict.theirs.exists());
    let fresh = conflict.theirs.splices(&[hunk(0..1, &["new", ""])]);
    assert!(conflict.theirs.save(&path, &fresh).expect("it is created").exists());
    assert_eq!(fs::read(&path).expect("there"), b"new\n");
}

#[test]
fn a_file_that_cannot_be_restored_is_not_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(Original::read(folder.path()), Err("it is not a regular file".to_owned()));
    let mut unpaired = b"\xFF\xFEa\0\n\0".to_vec();
    unpaired.extend([0x00, 0xD8, b'b', 0]);
    assert_eq!(Original::of(unpaired), Err("it cannot be written back as it was read".to_owned()));
    assert_eq!(Original::of(vec![b'x'; MAX_BYTES + 1]), Err("it is larger than 4 MiB".to_owned()));
}

/// Lines with their ends; the last end is not used.
fn contents() -> impl Strategy<Value = Vec<(String, &'static str)>> {
    let line = prop_oneof![
        3 => "[a-c ]{0,4}",
        2 => Just(String::new()),
        2 => "[你好🙂é\t{}#-]{1,5} {0,3}",
    ];
    let one_kind = prop::sample::select(vec!["\n", "\r\n", "\r"]).prop_flat_map({
        let line = line.clone();
        move |end| prop::collection::vec((line.clone(), Just(end)), 1..30)
    });
    let any_kind = prop::collection::vec((line, prop::sample::select(vec!["\n", "\r\n", "\r"])), 1..30);
    prop_oneof![one_kind, any_kind]
}

/// Writes text as a file would have it.
fn encoded(text: &str, coding: usize) -> Vec<u8> {
    let mark = |mark: &[u8], coding: Coding| [mark, &coding.encode(text)].concat();
    match coding {
        0 => text.as_bytes().to_vec(),
        1 => mark(b"\xEF\xBB\xBF", Coding::Utf8 { bom: 3 }),
        2 => mark(b"\xFF\xFE", Coding::Utf16 { big: false, bom: 2 }),
        3 => mark(b"\xFE\xFF", Coding::Utf16 { big: true, bom: 2 }),
        // Bytes that are no UTF-8 in a line of their own, in front.
        _ => mark(b"\xE4\xBD \xFFabc\xC3\n\xE4\xBD\xA0\xE5\xA5\xBD \xE4\xBD\xA0\n", Coding::Utf8 { bom: 0 }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Lines that are not edited have the bytes that they had, line ends between them included.
    #[test]
    fn only_edited_lines_differ_on_disk(
        contents in contents(),
        coding in 0usize..5,
        edits in prop::collection::vec(
            (any::<prop::sample::Index>(), 0usize..3, prop::collection::vec("[a-c你 ]{0,3}", 0..3)), 0..5),
    ) {
        // Without two line ends that would be read as one.
        let mut text = String::new();
        for (at, (line, end)) in contents.iter().enumerate() {
            text.push_str(line);
            if at + 1 < contents.len() {
                let end = if *end == "\n" && text.ends_with('\r') { "\r\n" } else { end };
                text.push_str(end);
            }
        }
        let bytes = encoded(&text, coding);
        let original = Original::of(bytes.clone()).expect("it can be written back");
        // The lines that are no characters are not touched.
        let first = if coding == 4 { 1 } else { 0 };

        // Hunks in order, and for each line of the result where it comes from.
        let mut edits: Vec<Hunk> = edits
            .into_iter()
            .map(|(at, remove, new)| {
                let start = first + at.index(original.len() - first + 1);
                Hunk { old: start..(start + remove).min(original.len()), new }
            })
            .collect();
        edits.sort_by_key(|hunk| hunk.old.start);
        let mut free = 0;
        edits.retain(|hunk| {
            let fits = hunk.old.start >= free;
            free = if fits { hunk.old.end.max(hunk.old.start) } else { free };
            fits
        });
        let mut expected: Vec<(&str, Option<usize>)> = Vec::new();
        let mut at = 0;
        for hunk in &edits {
            expected.extend((at..hunk.old.start).map(|line| (original.line(line), Some(line))));
            expected.extend(hunk.new.iter().map(|line| (&**line, None)));
            at = hunk.old.end;
        }
        expected.extend((at..original.len()).map(|line| (original.line(line), Some(line))));
        if expected.is_empty() {
            expected.push(("", None));
        }

        let saved = original.apply(&original.splices(&edits)).expect("only text was edited");
        let after = Original::of(saved.clone()).expect("it can be written back");
        let lines: Vec<&str> = after.lines().collect();
        prop_assert_eq!(&lines, &expected.iter().map(|(line, _)| *line).collect::<Vec<_>>());
        prop_assert_eq!(after.coding, original.coding);

        // Each run of untouched lines, byte by byte.
        let span = |of: &Original, from: usize, to: usize| {
            let start = of.byte_at(of.lines[from].start).expect("a byte");
            start..of.byte_at(of.lines[to].end).expect("a byte")
        };
        let mut from = 0;
        while from < expected.len() {
            let Some(first) = expected[from].1 else { from += 1; continue };
            let run = expected[from..].iter().enumerate().take_while(|(n, (_, line))| *line == Some(first + n)).count();
            let (new, old) = (span(&after, from, from + run - 1), span(&original, first, first + run - 1));
            prop_assert_eq!(&saved[new.clone()], &bytes[old.clone()]);
            if first == 0 && from == 0 {
                prop_assert_eq!(&saved[..new.end], &bytes[..old.end], "what stands in front of the text");
            }
            from += run;
        }
        if edits.is_empty() {
            prop_assert_eq!(saved, bytes);
        }
    }
}
