//! Characters that a reader does not see: controls, what turns the direction of text, what takes no room, and spaces that
//! are not the space. A model reads them all the same.
//!
//! Names are those of the Unicode character database.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

use super::width::turns_direction;

/// The name of a character that is not seen, or looks like a plain space without being one; none for all others. Line
/// feed, tab and the ideographic space have their place in texts and are not among them.
#[must_use]
pub fn name(c: char) -> Option<&'static str> {
    Some(match c {
        '\n' | '\t' => return None,
        '\0' => "null",
        '\u{7}' => "bell",
        '\u{8}' => "backspace",
        '\u{b}' => "line tabulation",
        '\u{c}' => "form feed",
        '\r' => "carriage return",
        '\u{1b}' => "escape",
        '\u{7f}' => "delete",
        '\u{85}' => "next line",
        '\u{a0}' => "no-break space",
        '\u{ad}' => "soft hyphen",
        '\u{34f}' => "combining grapheme joiner",
        '\u{61c}' => "arabic letter mark",
        '\u{115f}' => "hangul choseong filler",
        '\u{1160}' => "hangul jungseong filler",
        '\u{17b4}' | '\u{17b5}' => "khmer inherent vowel",
        '\u{180e}' => "mongolian vowel separator",
        '\u{2000}'..='\u{200a}' => "space of another width",
        '\u{200b}' => "zero width space",
        '\u{200c}' => "zero width non-joiner",
        '\u{200d}' => "zero width joiner",
        '\u{200e}' => "left-to-right mark",
        '\u{200f}' => "right-to-left mark",
        '\u{2028}' => "line separator",
        '\u{2029}' => "paragraph separator",
        '\u{202a}' => "left-to-right embedding",
        '\u{202b}' => "right-to-left embedding",
        '\u{202c}' => "pop directional formatting",
        '\u{202d}' => "left-to-right override",
        '\u{202e}' => "right-to-left override",
        '\u{202f}' => "narrow no-break space",
        '\u{205f}' => "medium mathematical space",
        '\u{2060}' => "word joiner",
        '\u{2061}'..='\u{2064}' => "invisible operator",
        '\u{2066}' => "left-to-right isolate",
        '\u{2067}' => "right-to-left isolate",
        '\u{2068}' => "first strong isolate",
        '\u{2069}' => "pop directional isolate",
        '\u{206a}'..='\u{206f}' => "deprecated format character",
        '\u{2800}' => "braille pattern blank",
        '\u{3164}' => "hangul filler",
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => "variation selector",
        '\u{feff}' => "byte order mark",
        '\u{ffa0}' => "halfwidth hangul filler",
        '\u{fff9}'..='\u{fffb}' => "interlinear annotation",
        '\u{e0000}'..='\u{e007f}' => "tag character",
        c if c.is_control() => "control character",
        _ => return None,
    })
}

/// True for a byte with which such a character, or a line feed or tab, may begin.
fn may_begin(byte: u8) -> bool {
    byte < 0x20 && byte != b'\n' && byte != b'\t'
        || matches!(byte, 0x7f | 0xc2 | 0xcd | 0xd8 | 0xe1 | 0xe2 | 0xe3 | 0xef | 0xf3)
}

/// The hidden characters of a text with their byte offsets. Left out are those that do what they are there for: the
/// carriage return of a line end, and what joins or varies the characters of one emoji.
pub fn find(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += bytes[at..].iter().position(|byte| may_begin(*byte))?;
            let c = text[at..].chars().next()?;
            let here = at;
            at += c.len_utf8();
            if name(c).is_some() && !has_its_use(text, here, c) {
                return Some((here, c));
            }
        }
    })
}

fn has_its_use(text: &str, at: usize, c: char) -> bool {
    match c {
        '\r' => text[at + 1..].starts_with('\n'),
        // One grapheme of two cells, as a family of three is.
        '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0020}'..='\u{e007f}' => {
            let mut from = at.saturating_sub(64);
            while !text.is_char_boundary(from) {
                from += 1;
            }
            let mut to = (at + 64).min(text.len());
            while !text.is_char_boundary(to) {
                to -= 1;
            }
            let mut around = text[from..to].grapheme_indices(true);
            around.any(|(start, grapheme)| {
                let range = from + start..from + start + grapheme.len();
                range.contains(&at) && range.start < at && super::width::width(grapheme) == 2
            })
        }
        _ => false,
    }
}

/// The text with every character that would steer a terminal written as an escape, `\u{1b}`: control characters but line
/// ends and tabs, and what turns the direction of text.
#[must_use]
pub fn escaped(text: &str) -> Cow<'_, str> {
    let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || turns_direction(c);
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if steers(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, &'static str)> {
        find(text).map(|(at, c)| (at, name(c).expect("it has a name"))).collect()
    }

    #[test]
    fn what_is_not_seen_is_found_and_named() {
        for (text, want) in [
            ("a\u{202e}b\u{200b}", vec![(1, "right-to-left override"), (5, "zero width space")]),
            ("\u{feff}# Title\r\n\tx", vec![(0, "byte order mark")]),
            ("a\rb", vec![(1, "carriage return")]),
            ("\u{1b}[2J\u{7}\u{1}", vec![(0, "escape"), (4, "bell"), (5, "control character")]),
            ("a\u{a0}b 目录\u{3000}x", vec![(1, "no-break space")]),
            ("👨\u{200d}👩\u{200d}👧 ❤\u{fe0f} x\u{200d}y", vec![(27, "zero width joiner")]),
            ("hidden\u{e0041}\u{e0042}", vec![(6, "tag character"), (10, "tag character")]),
            ("环境变化: /home/shop — “quoted” ✓", vec![]),
        ] {
            assert_eq!(found(text), want, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_hidden_character_is_missed(text in "[a-z\\p{Cf}\\p{Cc}\\p{Zs}\u{2028}字🙂\u{fe0f}\u{e0041}]{0,30}") {
            let seen: Vec<usize> = find(&text).map(|(at, _)| at).collect();
            for (at, c) in text.char_indices() {
                let want = name(c).is_some() && !has_its_use(&text, at, c);
                proptest::prop_assert_eq!(seen.contains(&at), want, "{:?} at {}", c, at);
            }
        }
    }

    #[test]
    fn what_steers_a_terminal_is_escaped_and_nothing_else() {
        let plain = "a\tb\nc \u{e9} \u{4f60}\u{597d} \u{1f600}";
        assert!(matches!(escaped(plain), Cow::Borrowed(text) if text == plain));
        assert_eq!(escaped("\u{1b}[1m\u{7f}\u{9b}\u{202e}\r"), "\\u{1b}[1m\\u{7f}\\u{9b}\\u{202e}\\u{d}");
    }
}
