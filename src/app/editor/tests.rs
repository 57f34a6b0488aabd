//! Keys change the text as a plain model says, whatever its size, and undoing gives back every step.

use proptest::prelude::*;

use super::*;

fn editor(text: &str, at: Place) -> Editor {
    let disk = Arc::new(Original::of(text.as_bytes()).expect("text"));
    Editor::new(&Opened {
        no: 1,
        purpose: Purpose::Here,
        file: "a.md".into(),
        path: Path::new("/a.md").into(),
        at,
        layer: None,
        disk,
        draft: None,
        saved: None,
        kept: None,
        problem: None,
    })
}

fn text(editor: &Editor) -> String {
    (0..editor.document.len()).map(|row| editor.document.line(row)).collect::<Vec<_>>().join("\n")
}

fn press(editor: &mut Editor, keys: &str) {
    for key in keys.split(' ') {
        match key {
            "undo" => assert!(editor.undo()),
            "redo" => assert!(editor.redo()),
            "cut" => drop(editor.cut()),
            "put" => drop(editor.put_in()),
            "all" => editor.select_all(),
            key => drop(editor.key(Key::parse(key).expect("a key"), 20, 5)),
        }
    }
}

#[test]
fn undo_goes_by_words() {
    let mut editor = editor("", Place::default());
    press(&mut editor, "o n e space t w o enter x backspace backspace");
    assert_eq!(text(&editor), "one two");
    let mut seen = Vec::new();
    while editor.undo() {
        seen.push(text(&editor));
    }
    assert_eq!(seen, ["one two\n", "one two\nx", "one two\n", "one two", "one", ""].map(str::to_owned));
    while editor.redo() {}
    assert_eq!((text(&editor).as_str(), editor.modified), ("one two", true));
}

#[test]
fn a_paste_is_one_step_whatever_is_in_it() {
    let mut editor = editor("ab\ncd", Place { row: 0, byte: 1 });
    editor.paste("1\r\n2\t\u{1b}[31m\r3");
    assert_eq!(text(&editor), "a1\n2\t[31m\n3b\ncd");
    assert_eq!(editor.cursor, Place { row: 2, byte: 1 });
    press(&mut editor, "undo");
    assert_eq!(
        (text(&editor).as_str(), editor.cursor, editor.modified),
        ("ab\ncd", Place { row: 0, byte: 1 }, false)
    );
}

#[test]
fn the_cursor_keeps_its_column_over_wrapped_and_short_lines() {
    let mut editor = editor("0123456789 0123456789 0123\n\n你好你好你好你好", Place { row: 0, byte: 25 });
    press(&mut editor, "up up down down");
    assert_eq!(editor.cursor, Place { row: 1, byte: 0 });
    press(&mut editor, "down end up down");
    assert_eq!(editor.cursor, Place { row: 2, byte: 24 });
    press(&mut editor, "down down up up up up up up");
    assert_eq!(editor.cursor, Place::default());
}

#[test]
fn graphemes_are_passed_whole() {
    let mut editor = editor("a👨‍👩‍👧e\u{301}", Place::default());
    press(&mut editor, "right right");
    assert_eq!(editor.cursor.byte, 1 + "👨‍👩‍👧".len());
    press(&mut editor, "right left left");
    assert_eq!(editor.cursor.byte, 1);
}

#[test]
fn what_was_cut_can_be_put_elsewhere_far_away() {
    let long = "line\n".repeat(3000) + "end";
    let mut editor = editor(&long, Place { row: 2, byte: 0 });
    press(&mut editor, "ctrl-k ctrl-end put");
    assert!(text(&editor).ends_with("line\nendline"));
    assert_eq!(editor.document.line(2), "");
    assert_eq!(editor.hunks().len(), 2);
}

#[test]
fn finding_goes_round() {
    let text = "one\ntwo One\nthree";
    let mut editor = editor(text, Place { row: 1, byte: 0 });
    let mut find = Find::new("one");
    assert_eq!(find.at(&editor.document, editor.cursor), Some((1, Place { row: 1, byte: 4 })));
    assert_eq!(
        find.step(&editor.document, Place { row: 1, byte: 4 }, true),
        Some((0, Place { row: 0, byte: 0 }))
    );
    assert_eq!(find.step(&editor.document, Place::default(), false), Some((1, Place { row: 1, byte: 4 })));
    editor.find = Some(find);
    press(&mut editor, "home o n e");
    assert_eq!(editor.find.as_mut().expect("a search").hits(&editor.document).len(), 3);
    assert_eq!(Find::new("four").at(&editor.document, Place::default()), None);
}

#[test]
fn taking_theirs_is_a_step_and_keeping_mine_keeps_the_text() {
    let mut editor = editor("a\nb\n", Place::default());
    press(&mut editor, "x");
    let theirs = Arc::new(Original::of(b"a\nb\nc\n".to_vec()).expect("text"));
    editor.rebase(theirs.clone());
    assert_eq!(text(&editor), "xa\nb\n");
    let saved = theirs.apply(&theirs.splices(&editor.hunks())).expect("text");
    assert_eq!(saved, b"xa\nb\n");
    editor.take(theirs);
    assert_eq!((text(&editor).as_str(), editor.modified), ("a\nb\nc\n", false));
    press(&mut editor, "undo");
    assert_eq!((text(&editor).as_str(), editor.modified), ("xa\nb\n", true));
}

#[test]
fn what_is_selected_is_copied_cut_and_replaced_in_one_step() {
    let mut editor = editor("one two\n三四\nfive", Place { row: 0, byte: 4 });
    press(&mut editor, "shift-down shift-end");
    assert_eq!((editor.selected_chars(), editor.copy()), (6, Some("two\n三四")));
    // A step out of it goes to its side, and what is typed takes its place.
    press(&mut editor, "left");
    assert_eq!((editor.selected(), editor.cursor), (None, Place { row: 0, byte: 4 }));
    press(&mut editor, "shift-down shift-end x");
    assert_eq!(text(&editor), "one x\nfive");
    press(&mut editor, "undo");
    assert_eq!(text(&editor), "one two\n三四\nfive");
    // Cut, and put in elsewhere, several times.
    editor.jump(Place { row: 0, byte: 0 });
    press(&mut editor, "ctrl-shift-right");
    assert!(editor.cut());
    assert!(!editor.cut() && editor.copy().is_none(), "nothing is selected");
    press(&mut editor, "ctrl-end");
    assert!(editor.put_in() && editor.put_in());
    assert_eq!(text(&editor), "two\n三四\nfiveone one ");
    // The whole text; deleting it is one step, too.
    editor.select_all();
    press(&mut editor, "backspace");
    assert_eq!((text(&editor).as_str(), editor.document.is_empty()), ("", true));
    press(&mut editor, "undo undo undo undo");
    assert!(!editor.modified);
}

/// What keys do, said plainly: on a list of characters.
struct Model {
    text: Vec<char>,
    at: usize,
    anchor: Option<usize>,
    register: Vec<char>,
}

impl Model {
    fn line_start(&self) -> usize {
        self.text[..self.at].iter().rposition(|c| *c == '\n').map_or(0, |end| end + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.at..].iter().position(|c| *c == '\n').map_or(self.text.len(), |end| self.at + end)
    }

    fn selected(&self) -> Option<(usize, usize)> {
        let anchor = self.anchor?;
        (anchor != self.at).then_some((anchor.min(self.at), anchor.max(self.at)))
    }

    /// Puts characters in the place of what is selected.
    fn put(&mut self, new: &[char]) {
        let (start, end) = self.selected().unwrap_or((self.at, self.at));
        self.text.splice(start..end, new.iter().copied());
        self.at = start + new.len();
        self.anchor = None;
    }

    fn key(&mut self, key: &str) {
        if let Some(motion) = key.strip_prefix("shift-") {
            self.anchor.get_or_insert(self.at);
            self.go(motion);
            return;
        }
        match (key, self.selected()) {
            ("left", Some((start, _))) => self.at = start,
            ("right", Some((_, end))) => self.at = end,
            ("left" | "right" | "home" | "end", _) => self.go(key),
            ("backspace" | "delete", Some(_)) => return self.put(&[]),
            ("backspace", None) if self.at > 0 => {
                self.at -= 1;
                self.text.remove(self.at);
            }
            ("delete", None) if self.at < self.text.len() => drop(self.text.remove(self.at)),
            ("backspace" | "delete", None) => {}
            ("ctrl-k", _) => {
                // To the end of the line, or the line end itself.
                let end = self.line_end();
                let end = if end == self.at { (end + 1).min(self.text.len()) } else { end };
                if end > self.at {
                    self.register = self.text.drain(self.at..end).collect();
                }
            }
            ("cut", Some((start, end))) => {
                self.register = self.text[start..end].to_vec();
                return self.put(&[]);
            }
            ("cut", None) => return,
            ("put", _) => {
                if !self.register.is_empty() {
                    self.put(&self.register.clone());
                }
                return;
            }
            ("all", _) => {
                self.at = self.text.len();
                self.anchor = Some(0);
                return;
            }
            ("enter", _) => return self.put(&['\n']),
            (key, _) => return self.put(&[key.chars().next().expect("a character")]),
        }
        self.anchor = None;
    }

    fn go(&mut self, motion: &str) {
        self.at = match motion {
            "left" => self.at.saturating_sub(1),
            "right" => (self.at + 1).min(self.text.len()),
            "home" => self.line_start(),
            _ => self.line_end(),
        };
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// In a text of any size, of short lines or long ones, keys do what they do in a plain list of characters.
    #[test]
    fn keys_do_what_a_list_of_characters_does(
        line in "[ab 你]{0,6}", count in 1usize..4000, ends in any::<bool>(), start in any::<prop::sample::Index>(),
        keys in prop::collection::vec(prop::sample::select(vec![
            "a", "你", "backspace", "backspace", "delete", "left", "left", "right", "right", "enter", "home", "end", "ctrl-k",
            "shift-left", "shift-right", "shift-home", "shift-end", "cut", "put", "all",
        ]), 0..40),
    ) {
        let whole = vec![line; count].join(if ends { "\n" } else { "" });
        let text_of: Vec<char> = whole.chars().collect();
        let at = start.index(text_of.len() + 1);
        let mut model = Model { text: text_of, at, anchor: None, register: Vec::new() };
        let before: String = model.text[..at].iter().collect();
        let place = Place {
            row: before.matches('\n').count(),
            byte: before.len() - before.rfind('\n').map_or(0, |end| end + 1),
        };
        let mut editor = editor(&whole, place);
        for key in &keys {
            model.key(key);
            press(&mut editor, key);
        }
        prop_assert_eq!(text(&editor), model.text.iter().collect::<String>());
        let chars = |range: std::ops::Range<usize>| model.text[range].iter().collect::<String>();
        let selected = model.selected().map(|(start, end)| chars(start..end));
        prop_assert_eq!(editor.selected_chars(), selected.as_ref().map_or(0, |text| text.chars().count()));
        let before = chars(0..model.at);
        prop_assert_eq!(editor.cursor.row, before.matches('\n').count());
        prop_assert_eq!(editor.cursor.byte, before.len() - before.rfind('\n').map_or(0, |end| end + 1));
        let saved = editor.base.apply(&editor.base.splices(&editor.hunks())).expect("text");
        prop_assert_eq!(String::from_utf8(saved).expect("UTF-8"), chars(0..model.text.len()));
        while editor.undo() {}
        prop_assert_eq!(text(&editor), whole);
        prop_assert!(!editor.modified);
        editor.settle(20, 5);
        let rows = Rows::new(&editor.document, 20);
        prop_assert!(rows.from(editor.top).take(5).any(|row| row == rows.of(editor.cursor)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Whatever keys do to a file of any kind: what is saved has the lines that are on the screen, what stands in front of
    /// the first change and behind the last one keeps its bytes, and taking everything back leaves the file as it was.
    #[test]
    fn keys_change_the_lines_they_change_and_no_others(
        lines in prop::collection::vec(("[ab你]{0,3}", prop::sample::select(vec!["\n", "\r\n", "\r"])), 1..12),
        bom: bool, mixed: bool, ends: bool, start in any::<prop::sample::Index>(),
        keys in prop::collection::vec(prop::sample::select(vec![
            "x", "你", "backspace", "delete", "enter", "left", "right", "up", "down", "home", "end", "ctrl-k", "ctrl-w",
            "shift-left", "shift-down", "shift-end", "cut", "put", "all", "tab", "ctrl-home", "ctrl-end",
        ]), 0..16),
    ) {
        let one = lines[0].1;
        let mut whole = String::from(if bom { "\u{feff}" } else { "" });
        for (at, (line, end)) in lines.iter().enumerate() {
            whole.push_str(line);
            if at + 1 < lines.len() || ends {
                let end = if mixed { end } else { one };
                // Two line ends are not to be one.
                whole.push_str(if end == "\n" && whole.ends_with('\r') { "\r\n" } else { end });
            }
        }
        let row = start.index(lines.len());
        let mut editor = editor(&whole, Place { row, byte: 0 });
        for key in keys {
            press(&mut editor, key);
        }
        let base = editor.base.clone();
        let saved = base.apply(&base.splices(&editor.hunks())).expect("text");
        prop_assert_eq!(base.with(&editor.hunks()), text(&editor));
        let after = Original::of(saved.clone()).expect("text");
        let (old, new): (Vec<&str>, Vec<&str>) = (base.lines().collect(), after.lines().collect());
        prop_assert_eq!(&new, &editor.document.lines().collect::<Vec<_>>());
        prop_assert_eq!(editor.modified, saved != **base.bytes());
        if new == old {
            prop_assert_eq!(&saved, &**base.bytes());
        }
        while editor.undo() {}
        prop_assert!(!editor.modified && editor.hunks().is_empty());
        if mixed {
            // Of equal lines with other ends it cannot be told here which one is left.
            return Ok(());
        }
        // The lines that both begin with, and those that both end with, byte for byte.
        let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let bytes = |of: &Original, lines: usize| of.lines().take(lines).map(str::len).sum::<usize>();
        let same = |a: &[u8], b: &[u8]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
        prop_assert!(same(&saved, base.bytes()) >= bytes(&base, head), "{:?} -> {:?}", whole, saved);
        let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
        let back = |bytes: &[u8]| bytes.iter().rev().copied().collect::<Vec<_>>();
        let last: usize = old.iter().rev().take(tail).map(|line| line.len()).sum();
        prop_assert!(same(&back(&saved), &back(base.bytes())) >= last, "{:?} -> {:?}", whole, saved);
    }
}
