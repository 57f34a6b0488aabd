//! Where a text can be cut in two so that the tokens of both halves together are the tokens of the whole.
//!
//! Both encodings first split a text with a pattern and then merge bytes inside each piece only. A cut is exact where
//! the pattern ends a piece whatever stands on either side, or where no token of the vocabulary reaches across. The
//! patterns (`tiktoken_ext/openai_public.py` of OpenAI's tiktoken) give these places:
//!
//! - after a line end, when the whitespace that follows it holds no further line end and the next character is not
//!   `/`, which o200k takes into the piece of the line end before it;
//! - before a space or tab that follows anything but whitespace: no piece has a space behind another character;
//! - before an ASCII digit that follows an ASCII letter: letters and digits never share a piece;
//! - before Chinese or Japanese punctuation that follows an ideograph, a kana or a Hangul syllable;
//! - between two of those, when no token joins them (see [`Joints`]) and the case rules of o200k cannot tell a run
//!   that begins there from one that goes on.
//!
//! All of this is a claim about other people's patterns, so the tests compare it with the tokenizer on random texts.

use super::joints::Joints;

/// What stands at a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// A line starts here.
    Line,
    /// Anything else.
    Inside,
}

/// How a byte takes part in the rules.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Other,
    Letter,
    Digit,
    Blank,
    LineFeed,
    /// The first byte of characters from U+3000 to U+DFFF and of some punctuation.
    Wide,
}

const CLASS: [Class; 256] = {
    let mut table = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b' ' | b'\t' => Class::Blank,
            b'\n' => Class::LineFeed,
            0xE3..=0xED => Class::Wide,
            _ => Class::Other,
        };
        byte += 1;
    }
    table
};

/// Calls `at` with every place where `text` can be cut, in order, until it answers false; never with the text's start
/// or end.
pub(super) fn cuts(text: &str, joints: &Joints, mut at: impl FnMut(usize, Cut) -> bool) {
    let bytes = text.as_bytes();
    let mut i = 0;
    loop {
        i = next_special(bytes, i);
        let Some(&byte) = bytes.get(i) else { return };
        match CLASS[byte as usize] {
            Class::Other | Class::Letter => i += 1,
            Class::Digit => {
                if i > 0 && CLASS[bytes[i - 1] as usize] == Class::Letter && !at(i, Cut::Inside) {
                    return;
                }
                i += run_of(Class::Digit, &bytes[i..]);
            }
            Class::Blank => {
                if i > 0 && ends_solid(text, i) && !at(i, Cut::Inside) {
                    return;
                }
                i += run_of(Class::Blank, &bytes[i..]);
            }
            Class::LineFeed => {
                i += 1;
                if starts_line(text, i) && !at(i, Cut::Line) {
                    return;
                }
            }
            Class::Wide => match run(text, i, joints, &mut at) {
                Some(end) => i = end,
                None => return,
            },
        }
    }
}

/// How many bytes of a class `bytes` begins with.
fn run_of(class: Class, bytes: &[u8]) -> usize {
    bytes.iter().take_while(|&&byte| CLASS[byte as usize] == class).count()
}

/// The first byte from `from` on that may matter to a rule: a blank or control character, a digit, or the first byte
/// of a character from U+0800 on. The length of `bytes` if there is none.
fn next_special(bytes: &[u8], mut from: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES * 0x80;
    // Eight bytes at a time, of which the lowest that is marked counts: in those above it, the subtraction may have
    // borrowed and marked a byte too many.
    while let Some(eight) = bytes.get(from..).and_then(|rest| rest.first_chunk()) {
        let word = u64::from_le_bytes(*eight);
        let blank = word.wrapping_sub(ONES * 0x21) & !word;
        let zero_to_nine = word ^ (ONES * 0x30);
        let digit = zero_to_nine.wrapping_sub(ONES * 10) & !zero_to_nine;
        let long = word & (word << 1) & (word << 2);
        let marked = (blank | digit | long) & HIGH;
        if marked != 0 {
            return from + marked.trailing_zeros() as usize / 8;
        }
        from += 8;
    }
    let special = |byte: u8| byte <= b' ' || byte.is_ascii_digit() || byte >= 0xE0;
    bytes[from..].iter().position(|&byte| special(byte)).map_or(bytes.len(), |at| from + at)
}

/// True when [`cuts`] finds the place `at`. It looks no further around than it has to.
pub(super) fn is_cut(text: &str, at: usize, joints: &Joints) -> bool {
    let bytes = text.as_bytes();
    if at == 0 || at >= bytes.len() {
        return false;
    }
    if bytes[at - 1] == b'\n' {
        return starts_line(text, at);
    }
    match CLASS[bytes[at] as usize] {
        Class::Digit => CLASS[bytes[at - 1] as usize] == Class::Letter,
        Class::Blank => ends_solid(text, at),
        _ => {
            let Some(left) = caseless_before(text, at) else { return false };
            if wide_mark(bytes, at) {
                return true;
            }
            let Some(right) = wide(bytes, at).filter(|&c| is_caseless(c)) else { return false };
            let (mut start, mut end) = (at - 3, at + 3);
            while caseless_before(text, start).is_some() {
                start -= 3;
            }
            while wide(bytes, end).is_some_and(is_caseless) {
                end += 3;
            }
            !joints.joins(left, right) && run_is_plain(text, start, end)
        }
    }
}

/// The letter without case that ends at `end`.
fn caseless_before(text: &str, end: usize) -> Option<u32> {
    let start = end.checked_sub(3).filter(|&start| text.is_char_boundary(start))?;
    wide(text.as_bytes(), start).filter(|&c| is_caseless(c))
}

/// True when the character before `end` is not whitespace.
fn ends_solid(text: &str, end: usize) -> bool {
    match text.as_bytes()[end - 1] {
        byte @ 0..=0x7F => !(byte == b' ' || (9..=13).contains(&byte)),
        _ => text[..end].chars().next_back().is_some_and(|c| !c.is_whitespace()),
    }
}

/// True when a text can be cut at `start`, which stands behind a line feed.
fn starts_line(text: &str, start: usize) -> bool {
    let indent = start + run_of(Class::Blank, &text.as_bytes()[start..]);
    match text.as_bytes().get(indent) {
        None | Some(b'\n' | b'\r') => false,
        Some(b'/') => indent > start,
        Some(byte) if byte.is_ascii_graphic() => true,
        // Other whitespace, which is rare, goes on like blanks.
        _ => text[indent..]
            .chars()
            .find(|&c| matches!(c, '\n' | '\r') || !c.is_whitespace())
            .is_some_and(|c| !matches!(c, '\n' | '\r')),
    }
}

/// Handles the run of letters without case that starts at `start`, if there is one; returns where to go on, or none
/// when `at` wants no more.
fn run(text: &str, start: usize, joints: &Joints, at: &mut impl FnMut(usize, Cut) -> bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let first = decode(bytes, start);
    let mut end = start + 3;
    if !is_caseless(first) {
        return Some(end);
    }
    while wide(bytes, end).is_some_and(is_caseless) {
        end += 3;
    }
    if run_is_plain(text, start, end) {
        let mut left = first;
        for i in (start + 3..end).step_by(3) {
            let right = decode(bytes, i);
            if !joints.joins(left, right) && !at(i, Cut::Inside) {
                return None;
            }
            left = right;
        }
    }
    if wide_mark(bytes, end) && !at(end, Cut::Inside) {
        return None;
    }
    Some(end)
}

/// True when a run of letters without case can be cut at all. o200k ends a word before an upper-case letter only if
/// the word has a lower-case one, and the run passes that on; so what stands on one of its sides must be known.
fn run_is_plain(text: &str, start: usize, end: usize) -> bool {
    follows_plainly(text.as_bytes(), end) || start == 0 || precedes_plainly(text, start)
}

/// True when what stands at `end` (or nothing) is certainly no letter and no mark.
fn follows_plainly(bytes: &[u8], end: usize) -> bool {
    match bytes.get(end) {
        None => true,
        Some(byte) if byte.is_ascii() => !byte.is_ascii_uppercase(),
        Some(_) => wide_mark(bytes, end),
    }
}

/// True when the character before `start` is certainly no letter and no mark.
fn precedes_plainly(text: &str, start: usize) -> bool {
    let bytes = text.as_bytes();
    match bytes[start - 1] {
        byte @ 0..=0x7F => !byte.is_ascii_alphabetic(),
        _ => start >= 3 && text.is_char_boundary(start - 3) && wide_mark(bytes, start - 3),
    }
}

/// The character at `at`, if its first byte says that it is one of three bytes from U+3000 on.
fn wide(bytes: &[u8], at: usize) -> Option<u32> {
    matches!(bytes.get(at), Some(0xE3..=0xED)).then(|| decode(bytes, at))
}

/// The character of three bytes at `at`.
fn decode(bytes: &[u8], at: usize) -> u32 {
    (u32::from(bytes[at]) & 0xF) << 12
        | (u32::from(bytes[at + 1]) & 0x3F) << 6
        | u32::from(bytes[at + 2]) & 0x3F
}

/// Letters without case of three bytes each, which both encodings take as letters of either case: ideographs, kana,
/// Hangul syllables.
pub(super) fn is_caseless(c: u32) -> bool {
    matches!(c, 0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0xAC00..=0xD7A3
        | 0x3041..=0x3096 | 0x30A1..=0x30FA | 0x30FC..=0x30FE)
}

/// True when punctuation of Chinese or Japanese text stands at `at`.
fn wide_mark(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at), Some(0xE2..=0xEF))
        && matches!(decode(bytes, at), 0x2014 | 0x2018..=0x201D | 0x2026 | 0x3001 | 0x3002 | 0x3008..=0x3011
            | 0xFF01..=0xFF0F | 0xFF1A..=0xFF20 | 0xFF3B..=0xFF3E | 0xFF5B..=0xFF65)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::tokens::Encoding;
    use crate::core::tokens::random::text;
    use proptest::prelude::*;

    fn places(text: &str, encoding: Encoding) -> Vec<(usize, Cut)> {
        let mut places = Vec::new();
        cuts(text, &encoding.tables().joints, |at, cut| {
            places.push((at, cut));
            true
        });
        places
    }

    fn pieces(text: &str) -> Vec<&str> {
        let mut pieces = Vec::new();
        let mut start = 0;
        for (at, _) in places(text, Encoding::Cl100k) {
            pieces.push(&text[start..at]);
            start = at;
        }
        pieces.push(&text[start..]);
        pieces
    }

    #[test]
    fn lines_words_and_clauses_come_apart() {
        assert_eq!(pieces("one two\n  three\n\nfour"), ["one", " two\n", "  three\n\n", "four"]);
        assert_eq!(pieces("path/\n/x\n\u{3000}\u{3000}y"), ["path/\n/x\n", "\u{3000}\u{3000}y"]);
        assert_eq!(pieces("ab12 \t\n \t"), ["ab", "12", " \t\n \t"]);
        assert_eq!(pieces("魑魅，魍魉"), ["魑", "魅", "，魍", "魉"]);
    }

    #[test]
    fn a_run_between_cases_stays_whole() {
        // o200k takes `界World` as one word, but not in `a世界World`, where the word began in lower case.
        assert_eq!(pieces("a魑魅World"), ["a魑魅World"]);
        assert_eq!(pieces("(魑魅World"), ["(魑", "魅World"]);
        assert_eq!(pieces("a魑魅(World"), ["a魑", "魅(World"]);
    }

    #[test]
    fn only_line_starts_are_lines() {
        let found = places("a b\n c\n", Encoding::Cl100k);
        assert_eq!(found, [(1, Cut::Inside), (4, Cut::Line)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn tokens_of_the_parts_are_tokens_of_the_whole(text in text(14)) {
            for encoding in [Encoding::O200k, Encoding::Cl100k] {
                let tables = encoding.tables();
                let (mut ids, mut start) = (Vec::new(), 0);
                for (at, _) in places(&text, encoding) {
                    ids.extend(tables.ids(&text[start..at]));
                    start = at;
                }
                ids.extend(tables.ids(&text[start..]));
                prop_assert_eq!(ids, tables.ids(&text), "{}", encoding);
            }
        }

        #[test]
        fn a_place_is_told_from_its_surroundings(text in text(14)) {
            for encoding in [Encoding::O200k, Encoding::Cl100k] {
                let found: Vec<usize> = places(&text, encoding).into_iter().map(|(at, _)| at).collect();
                let told: Vec<usize> = (0..=text.len())
                    .filter(|&at| text.is_char_boundary(at) && is_cut(&text, at, &encoding.tables().joints))
                    .collect();
                prop_assert_eq!(found, told);
            }
        }
    }
}
