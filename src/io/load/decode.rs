//! Bytes of a file to text, and what had to be done to get there.

use std::sync::Arc;

use encoding_rs::{DecoderResult, Encoding, GB18030, UTF_8, UTF_16BE, UTF_16LE};

use crate::core::fact::FileText;
use crate::core::text::number::grouped;

/// The most bytes of a file that are read: 4 MiB. What a model could be sent is a small part of it.
pub const MAX_BYTES: usize = 4 << 20;

/// How the bytes of a file stand for characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    /// UTF-8; `bom` is the number of bytes of a byte order mark in front of the text, here and below.
    Utf8 { bom: usize },
    /// UTF-16, its units with the high byte first where `big`.
    Utf16 { big: bool, bom: usize },
    /// GB18030, and GBK in it.
    Gb18030,
}

/// A text with notes about how it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) text: String,
    pub(crate) notes: Vec<Arc<str>>,
    pub(crate) coding: Coding,
}

/// Decodes the bytes of a file. At most [`MAX_BYTES`] are used; what is cut falls between characters.
pub(crate) fn decode(bytes: &[u8]) -> Decoded {
    decode_at_most(bytes, MAX_BYTES)
}

/// As [`decode`], with another limit.
pub(super) fn decode_at_most(bytes: &[u8], most: usize) -> Decoded {
    let cut = bytes.len() > most;
    let bytes = &bytes[..bytes.len().min(most)];
    let mut notes = Vec::new();
    let utf16 = |big| if big { UTF_16BE } else { UTF_16LE };
    let (text, coding) = if let Some(rest) = bytes.strip_prefix(b"\xEF\xBB\xBF") {
        notes.push(FileText::BOM_REMOVED.into());
        utf8_or_other(rest, 3, cut, &mut notes)
    } else if let Some(rest) = bytes.strip_prefix(b"\xFF\xFE") {
        (other(UTF_16LE, rest, cut, &mut notes), Coding::Utf16 { big: false, bom: 2 })
    } else if let Some(rest) = bytes.strip_prefix(b"\xFE\xFF") {
        (other(UTF_16BE, rest, cut, &mut notes), Coding::Utf16 { big: true, bom: 2 })
    } else if let Some(big) = looks_like_utf16(bytes, cut) {
        (other(utf16(big), bytes, cut, &mut notes), Coding::Utf16 { big, bom: 0 })
    } else {
        utf8_or_other(bytes, 0, cut, &mut notes)
    };
    if cut {
        notes.push(match most {
            MAX_BYTES => format!("cut at {} MiB", MAX_BYTES >> 20).into(),
            most => format!("cut at {} bytes", grouped(most)).into(),
        });
    }
    Decoded { text, notes, coding }
}

fn utf8_or_other(bytes: &[u8], bom: usize, cut: bool, notes: &mut Vec<Arc<str>>) -> (String, Coding) {
    let utf8 = Coding::Utf8 { bom };
    match std::str::from_utf8(bytes) {
        Ok(text) => return (text.to_owned(), utf8),
        // The end of a file that was cut may stand in the middle of a character.
        Err(error) if cut && error.error_len().is_none() => {
            return (String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned(), utf8);
        }
        Err(_) => {}
    }
    // UTF-8 with a few broken bytes reads "cleanly" as GB18030, but as other characters. A text in GB18030 has almost
    // no valid sequences of UTF-8 in it, so what the valid ones outnumber are mistakes.
    let (valid, broken) = count_utf8(bytes);
    if broken >= valid
        && let Some(text) = clean(GB18030, bytes, cut)
    {
        notes.push("GB18030".into());
        return (text, Coding::Gb18030);
    }
    (lossy(UTF_8, bytes, cut, "UTF-8", notes), utf8)
}

fn other(encoding: &'static Encoding, bytes: &[u8], cut: bool, notes: &mut Vec<Arc<str>>) -> String {
    notes.push(encoding.name().into());
    match clean(encoding, bytes, cut) {
        Some(text) => text,
        None => lossy(encoding, bytes, cut, encoding.name(), notes),
    }
}

/// Every other byte zero is what Latin letters, digits and line ends look like in UTF-16. True for the high byte first.
fn looks_like_utf16(bytes: &[u8], cut: bool) -> Option<bool> {
    let sample = &bytes[..bytes.len().min(4096) & !1];
    if bytes.len() % 2 == 1 && !cut || sample.len() < 4 {
        return None;
    }
    let zeros = |odd: usize| sample.iter().skip(odd).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    let enough = sample.len() / 2 / 5;
    let (encoding, big) = match (even, odd) {
        (0, odd) if odd > enough.max(1) => (UTF_16LE, false),
        (even, 0) if even > enough.max(1) => (UTF_16BE, true),
        _ => return None,
    };
    clean(encoding, bytes, true).map(|_| big)
}

/// The text, if every byte of it belongs to a character. With `cut`, the last character may be incomplete.
fn clean(encoding: &'static Encoding, bytes: &[u8], cut: bool) -> Option<String> {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let capacity = decoder.max_utf8_buffer_length_without_replacement(bytes.len())?;
    let mut text = String::with_capacity(capacity);
    match decoder.decode_to_string_without_replacement(bytes, &mut text, !cut).0 {
        DecoderResult::InputEmpty => Some(text),
        _ => None,
    }
}

fn lossy(
    encoding: &'static Encoding,
    bytes: &[u8],
    cut: bool,
    name: &str,
    notes: &mut Vec<Arc<str>>,
) -> String {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut text =
        String::with_capacity(decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(bytes.len() * 3));
    let _ = decoder.decode_to_string(bytes, &mut text, !cut);
    let broken = text.matches('\u{FFFD}').count();
    notes.push(format!("not valid {name}: {broken} characters replaced").into());
    text
}

/// The number of valid sequences of more than one byte, and of invalid ones.
fn count_utf8(bytes: &[u8]) -> (usize, usize) {
    bytes.utf8_chunks().fold((0, 0), |(valid, broken), chunk| {
        let more = chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        (valid + more, broken + usize::from(!chunk.invalid().is_empty()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# 项目规则\r\n\r\n使用 four spaces，不要用 tab。\n";

    fn of(bytes: &[u8]) -> (String, Vec<String>) {
        let decoded = decode(bytes);
        (decoded.text, decoded.notes.iter().map(ToString::to_string).collect())
    }

    fn utf16(text: &str, big: bool, bom: bool) -> Vec<u8> {
        let units = bom.then_some(0xFEFF).into_iter().chain(text.encode_utf16());
        units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
    }

    #[test]
    fn encodings_are_recognised() {
        assert_eq!(of(TEXT.as_bytes()), (TEXT.to_owned(), vec![]));
        let bom = format!("\u{FEFF}{TEXT}");
        assert_eq!(of(bom.as_bytes()), (TEXT.to_owned(), vec!["BOM removed".to_owned()]));
        assert_eq!(of(&utf16(TEXT, false, true)), (TEXT.to_owned(), vec!["UTF-16LE".to_owned()]));
        assert_eq!(of(&utf16(TEXT, true, true)), (TEXT.to_owned(), vec!["UTF-16BE".to_owned()]));
        assert_eq!(of(&utf16(TEXT, false, false)), (TEXT.to_owned(), vec!["UTF-16LE".to_owned()]));
        assert_eq!(of(&utf16(TEXT, true, false)), (TEXT.to_owned(), vec!["UTF-16BE".to_owned()]));
        let gb = GB18030.encode(TEXT).0;
        assert_eq!(of(&gb), (TEXT.to_owned(), vec!["GB18030".to_owned()]));
        assert_eq!(of(b""), (String::new(), vec![]));
    }

    #[test]
    fn broken_utf8_stays_utf8() {
        let mut bytes = TEXT.as_bytes().to_vec();
        bytes.remove(4);
        let (text, notes) = of(&bytes);
        assert!(text.contains("使用 four spaces"), "{text}");
        assert_eq!(notes.len(), 1);
        assert!(notes[0].starts_with("not valid UTF-8: "), "{notes:?}");
    }

    #[test]
    fn what_is_no_text_is_read_with_replacements() {
        let (text, notes) = of(b"\x89PNG\r\n\x1a\n\xff\xff\x80 caf\xe9 \x80");
        assert!(text.contains("PNG"));
        assert!(notes[0].contains("characters replaced"), "{notes:?}");
    }

    #[test]
    fn a_bench_can_set_a_smaller_limit() {
        let of = |bytes: &[u8], most| {
            let decoded = decode_at_most(bytes, most);
            (decoded.text, decoded.notes.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        let text = "字".repeat(2_000);
        assert_eq!(of(text.as_bytes(), 6_000), (text.clone(), vec![]));
        assert_eq!(of(text.as_bytes(), 5_999), ("字".repeat(1_999), vec!["cut at 5,999 bytes".to_owned()]));
        assert_eq!(of(&utf16("abcdef", false, false), 7).0, "abc");
    }

    #[test]
    fn a_cut_falls_between_characters() {
        let mut long = "x".repeat(MAX_BYTES - 1);
        long.push_str("你好");
        let (text, notes) = of(long.as_bytes());
        assert_eq!((text.len(), notes), (MAX_BYTES - 1, vec!["cut at 4 MiB".to_owned()]));
        let wide = utf16(&"🙂".repeat(MAX_BYTES / 4 + 1), false, true);
        let (text, notes) = of(&wide);
        assert!(text.chars().all(|c| c == '🙂'));
        assert_eq!(notes, ["UTF-16LE", "cut at 4 MiB"]);
        let mut gb = vec![b'x'; MAX_BYTES - 1];
        gb.extend_from_slice(&GB18030.encode("你好").0);
        gb[0] = 0xC4;
        gb[1] = 0xE3;
        let (text, notes) = of(&gb);
        assert!(text.starts_with('你') && text.ends_with('x'));
        assert_eq!(notes, ["GB18030", "cut at 4 MiB"]);
    }
}
