//! Exact counts that follow an edit: only the lines that changed are counted again.

use std::collections::VecDeque;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use super::Measure;
use super::encoding::{Encoding, Tables};
use super::memo::{Memo, Words};
use super::split::{self, Cut};
use crate::core::diff::{common_prefix, common_suffix};

/// Shorter texts (in bytes) are counted whole: that takes a few microseconds.
const SMALL: usize = 2048;

/// A line longer than this (in bytes) is counted in several chunks where it can be cut.
const LONG_LINE: usize = 256;

/// How much text is remembered with its counts, in bytes and in texts. Enough for all blocks of a request that an
/// edit touches; the texts themselves are shared with whoever holds them.
const REMEMBERED_BYTES: usize = 8 << 20;
const REMEMBERED_TEXTS: usize = 64;

/// Counts tokens exactly and remembers what it counted, in bounded memory (about half a megabyte, 27 MB of tables for
/// each encoding, and a fifth of the remembered texts).
///
/// Three memories work together. Short pieces (words) are remembered by their bytes, so that common ones are looked
/// up. Small texts and chunks are remembered by their 128-bit hash. Larger texts are remembered as prefix sums over
/// their lines: a text that resembles one of them takes over the sums before and behind what differs.
pub struct LineCounter {
    encoding: Encoding,
    words: Words,
    chunks: Memo,
    /// The newest at the back.
    texts: VecDeque<Counted>,
    held: usize,
}

/// A text with its counts.
struct Counted {
    text: Arc<str>,
    /// One for each chunk; the last stands at the end of the text.
    marks: Vec<Mark>,
}

/// The end of a chunk, a place where the text can be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    /// Its byte offset.
    end: u32,
    /// The tokens from the start of the text to there.
    total: u32,
}

impl LineCounter {
    /// A counter that loads its encoding when it counts for the first time.
    #[must_use]
    pub fn new(encoding: Encoding) -> LineCounter {
        LineCounter { encoding, words: Words::new(), chunks: Memo::new(14), texts: VecDeque::new(), held: 0 }
    }

    /// What it counts in.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The marks of a text.
    fn marks(&mut self, text: &Arc<str>) -> &[Mark] {
        let known = self.texts.iter().rposition(|old| Arc::ptr_eq(&old.text, text));
        let found = match known {
            Some(index) => Some(Common { index, prefix: text.len(), suffix: 0 }),
            None => self.alike(text),
        };
        let tables = self.encoding.tables();
        let same = found.as_ref().filter(|common| {
            common.prefix == text.len() && self.texts[common.index].text.len() == text.len()
        });
        let marks = if let Some(old) = same.and_then(|common| self.texts.remove(common.index)) {
            // It is kept under the new pointer, which is the one that will be asked for again.
            self.held -= old.text.len();
            old.marks
        } else if let Some(common) = found {
            let alike = Alike::new(&self.texts[common.index], &common, text, tables);
            alike.marks(text, tables, &mut self.words, &mut self.chunks)
        } else {
            fresh_marks(text, tables, &mut self.words)
        };
        let counted = Counted { text: text.clone(), marks };
        self.held += counted.text.len();
        self.texts.push_back(counted);
        while self.texts.len() > REMEMBERED_TEXTS || self.texts.len() > 2 && self.held > REMEMBERED_BYTES {
            if let Some(oldest) = self.texts.pop_front() {
                self.held -= oldest.text.len();
            }
        }
        self.texts.back().map_or(&[], |counted| &counted.marks)
    }

    /// The remembered text that has most in common with a new one; none if that is too little to be of use. The
    /// newest that is nearly the same will do.
    fn alike(&self, text: &str) -> Option<Common> {
        let mut best = None;
        let mut most = text.len() / 8;
        for (index, old) in self.texts.iter().enumerate().rev() {
            let (a, b) = (old.text.as_bytes(), text.as_bytes());
            let prefix = common_prefix(a, b);
            let suffix = common_suffix(&a[prefix..], &b[prefix..]);
            if prefix + suffix > most {
                most = prefix + suffix;
                best = Some(Common { index, prefix, suffix });
            }
            if most > text.len() / 8 * 7 {
                break;
            }
        }
        best
    }

    /// The last mark at or before `byte` and the end of the chunk behind it. Small texts are one chunk.
    fn around(&mut self, text: &Arc<str>, byte: usize) -> (Mark, usize) {
        if text.len() < SMALL {
            return (Mark::START, text.len());
        }
        let marks = self.marks(text);
        let next = marks.partition_point(|mark| mark.end as usize <= byte);
        let before = next.checked_sub(1).map_or(Mark::START, |index| marks[index]);
        (before, marks.get(next).map_or(text.len(), |mark| mark.end as usize))
    }
}

impl Measure for LineCounter {
    fn tokens(&mut self, text: &Arc<str>) -> u32 {
        if text.len() >= SMALL {
            return self.marks(text).last().map_or(0, |mark| mark.total);
        }
        let tables = self.encoding.tables();
        self.chunks.count(xxh3_128(text.as_bytes()), || tables.count(text, &mut self.words))
    }

    fn tokens_before(&mut self, text: &Arc<str>, byte: usize) -> u32 {
        if byte >= text.len() {
            return self.tokens(text);
        }
        let (from, end) = self.around(text, byte);
        let start = from.end as usize;
        from.total + self.encoding.tables().count_before(&text[start..end], byte - start, &mut self.words)
    }

    fn shared(&mut self, a: &Arc<str>, b: &Arc<str>) -> u32 {
        let same = common_prefix(a.as_bytes(), b.as_bytes());
        if same == a.len() && same == b.len() {
            return self.tokens(a);
        }
        // From the last chunk end that both texts have before the difference, token by token. A token that both have
        // ends before the difference, so the chunks that reach to it are enough.
        let (mut a_mark, a_end) = self.around(a, same);
        let (mut b_mark, b_end) = self.around(b, same);
        while a_mark.end != b_mark.end {
            let byte = a_mark.end.min(b_mark.end) as usize;
            a_mark = self.around(a, byte).0;
            b_mark = self.around(b, byte).0;
        }
        let from = a_mark;
        let start = from.end as usize;
        let tables = self.encoding.tables();
        let (a_ids, b_ids) = (tables.ids(&a[start..a_end]), tables.ids(&b[start..b_end]));
        from.total + a_ids.iter().zip(&b_ids).take_while(|(x, y)| x == y).count() as u32
    }
}

impl Mark {
    const START: Mark = Mark { end: 0, total: 0 };
}

/// The marks of a text, counted from the start.
fn fresh_marks(text: &str, tables: &Tables, words: &mut Words) -> Vec<Mark> {
    let mut marks = Vec::with_capacity(text.len() / 48);
    let (mut start, mut chunk, mut total) = (0, 0, 0);
    split::cuts(text, &tables.joints, |at, cut| {
        total += tables.count_piece(text, start, at, words);
        start = at;
        if ends_chunk(at - chunk, cut) {
            chunk = at;
            marks.push(Mark { end: at as u32, total });
        }
        true
    });
    total += tables.count_piece(text, start, text.len(), words);
    marks.push(Mark { end: text.len() as u32, total });
    marks
}

/// True when a chunk of `len` bytes ends at this cut.
fn ends_chunk(len: usize, cut: Cut) -> bool {
    cut == Cut::Line || len >= LONG_LINE
}

/// What a remembered text has in common with a new one.
struct Common {
    /// Its index.
    index: usize,
    /// Leading bytes that are the same.
    prefix: usize,
    /// Trailing bytes, behind the prefix in both, that are the same.
    suffix: usize,
}

/// A remembered text that another one resembles.
struct Alike<'a> {
    old: &'a Counted,
    /// The number of its marks that hold in the new text, too.
    kept: usize,
    /// The number of trailing bytes that both have in common, behind the last of those marks.
    suffix: usize,
}

impl<'a> Alike<'a> {
    fn new(old: &'a Counted, common: &Common, text: &str, tables: &Tables) -> Alike<'a> {
        let mut kept = old.marks.partition_point(|mark| mark.end as usize <= common.prefix);
        // Whether a text can be cut at a place depends on what follows, which may have changed; and the end of the
        // old text, where its last mark stands, is no cut of its own.
        while kept > 0
            && (old.marks[kept - 1].end as usize) < text.len()
            && !split::is_cut(text, old.marks[kept - 1].end as usize, &tables.joints)
        {
            kept -= 1;
        }
        Alike { old, kept, suffix: common.suffix }
    }

    /// The marks of the new text: those before and behind what differs are taken over.
    fn marks(&self, text: &str, tables: &Tables, words: &mut Words, chunks: &mut Memo) -> Vec<Mark> {
        let (old, len) = (&self.old.marks, text.len());
        let mut marks = Vec::with_capacity(old.len() + 16);
        marks.extend_from_slice(&old[..self.kept]);
        let from = marks.last().copied().unwrap_or(Mark::START);
        let base = from.end as usize;
        if base == len {
            return marks;
        }
        let (mut chunk, mut total) = (base, from.total);
        // Where the new text is cut at a mark of the old one, in what both have at their end.
        let mut resumed = None;
        let mut next = self.kept;
        split::cuts(&text[base..], &tables.joints, |at, cut| {
            let at = base + at;
            if !ends_chunk(at - chunk, cut) {
                return true;
            }
            total += chunk_tokens(&text[chunk..at], tables, words, chunks);
            chunk = at;
            marks.push(Mark { end: at as u32, total });
            if len - at <= self.suffix {
                let in_old = (self.old.text.len() - (len - at)) as u32;
                while old[next].end < in_old {
                    next += 1;
                }
                if old[next].end == in_old && next + 1 < old.len() {
                    resumed = Some(next);
                }
            }
            resumed.is_none()
        });
        match resumed {
            Some(at) => {
                // Both differences may be negative: wrapping arithmetic adds them either way.
                let moved = (chunk as u32).wrapping_sub(old[at].end);
                let more = total.wrapping_sub(old[at].total);
                marks.extend(old[at + 1..].iter().map(|mark| Mark {
                    end: mark.end.wrapping_add(moved),
                    total: mark.total.wrapping_add(more),
                }));
            }
            None => {
                total += chunk_tokens(&text[chunk..], tables, words, chunks);
                marks.push(Mark { end: len as u32, total });
            }
        }
        marks
    }
}

/// The tokens of a chunk, remembered: when two places of a text change, what lies between them stays as it was.
fn chunk_tokens(chunk: &str, tables: &Tables, words: &mut Words, chunks: &mut Memo) -> u32 {
    chunks.count(xxh3_128(chunk.as_bytes()), || tables.count(chunk, words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::tokens::random::text;
    use proptest::prelude::*;

    /// Lines of all kinds, long enough to be remembered.
    fn long_text() -> impl Strategy<Value = String> {
        prop::collection::vec(text(9), 120..400).prop_map(|lines| lines.join("\n"))
    }

    /// The token ids of a text, and where each ends.
    fn tokens(encoding: Encoding, text: &str) -> (Vec<u32>, Vec<usize>) {
        let ids = encoding.tables().ids(text);
        let bpe = tiktoken::get_encoding(encoding.name()).unwrap();
        let ends = ids
            .iter()
            .scan(0, |at, id| {
                *at += bpe.decode(&[*id]).len();
                Some(*at)
            })
            .collect();
        (ids, ends)
    }

    fn boundary(text: &str, share: f64) -> usize {
        let mut at = (text.len() as f64 * share) as usize;
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    #[test]
    fn an_edit_counts_the_edited_line_only() {
        let line = "The quick brown fox, 第七章，jumps over `code`.\n";
        let text: Arc<str> = line.repeat(5000).into();
        let mut counter = LineCounter::new(Encoding::O200k);
        let before = counter.tokens(&text);
        let tables = counter.encoding.tables();
        // What is remembered is replaced, so that anything but taking it over would show.
        counter.texts[0].marks.iter_mut().for_each(|mark| mark.total += 7);
        let edited: Arc<str> =
            format!("{}new {}", &text[..line.len() * 2000], &text[line.len() * 2000..]).into();
        let after = counter.tokens(&edited);
        assert_eq!(after - 7, tables.ids(&edited).len() as u32);
        assert_eq!(after - 7, before + 1);
    }

    #[test]
    fn a_long_line_is_counted_in_chunks() {
        for piece in ["{\"key\": 1, ", "deadbeef01", "他们在上海，", "我们今天去学校学习"] {
            let text: Arc<str> = piece.repeat(20_000 / piece.len()).into();
            let mut counter = LineCounter::new(Encoding::O200k);
            assert_eq!(counter.tokens(&text) as usize, counter.encoding.tables().ids(&text).len());
            assert!(counter.texts[0].marks.len() > 40, "{piece}: {}", counter.texts[0].marks.len());
        }
    }

    #[test]
    fn memory_is_bounded() {
        let mut counter = LineCounter::new(Encoding::Cl100k);
        for n in 0..200 {
            counter.tokens(&format!("{n} {}", "some words on a line\n".repeat(5000)).into());
        }
        assert!(counter.held <= REMEMBERED_BYTES);
        assert_eq!(counter.held, counter.texts.iter().map(|counted| counted.text.len()).sum::<usize>());
        let huge: Arc<str> = "x \n".repeat(REMEMBERED_BYTES).into();
        counter.tokens(&huge);
        assert_eq!(counter.texts.len(), 2);
        for n in 0..200 {
            counter.tokens(&format!("{n} {}", "x\n".repeat(2000)).into());
        }
        assert_eq!(counter.texts.len(), REMEMBERED_TEXTS);
    }

    #[test]
    fn equal_texts_are_remembered_once() {
        let mut counter = LineCounter::new(Encoding::Cl100k);
        for _ in 0..3 {
            counter.tokens(&"line\n".repeat(1000).into());
        }
        assert_eq!(counter.texts.len(), 1);
    }

    #[test]
    fn the_empty_text_has_no_tokens() {
        let mut counter = LineCounter::new(Encoding::Cl100k);
        let (empty, some): (Arc<str>, Arc<str>) = ("".into(), "some".into());
        assert_eq!((counter.tokens(&empty), counter.tokens_before(&empty, 0)), (0, 0));
        assert_eq!((counter.shared(&empty, &some), counter.shared(&some, &some)), (0, 1));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn counts_after_edits_are_counts_from_scratch(
            start in long_text(),
            edits in prop::collection::vec((0.0..1.0f64, 0.0..0.02f64, text(6), any::<bool>()), 1..8),
        ) {
            for encoding in [Encoding::O200k, Encoding::Cl100k] {
                let mut counter = LineCounter::new(encoding);
                let mut text = start.clone();
                prop_assert_eq!(counter.tokens(&text.as_str().into()) as usize, tokens(encoding, &text).0.len());
                for (at, len, new, both) in &edits {
                    let from = boundary(&text, *at);
                    let to = boundary(&text, (at + len).min(1.0)).max(from);
                    text.replace_range(from..to, new);
                    if *both {
                        text.insert_str(boundary(&text, at / 2.0), new);
                    }
                    let arc: Arc<str> = text.as_str().into();
                    prop_assert_eq!(counter.tokens(&arc) as usize, tokens(encoding, &text).0.len());
                }
            }
        }

        #[test]
        fn tokens_before_counts_the_ends_of_tokens(text in prop_oneof![text(40), long_text()]) {
            for encoding in [Encoding::O200k, Encoding::Cl100k] {
                let mut counter = LineCounter::new(encoding);
                let arc: Arc<str> = text.as_str().into();
                let (ids, ends) = tokens(encoding, &text);
                for byte in (0..=text.len() + 1).step_by(1 + text.len() / 300) {
                    let told = ends.partition_point(|&end| end <= byte);
                    prop_assert_eq!(counter.tokens_before(&arc, byte) as usize, told, "{} of {}", byte, text.len());
                }
                prop_assert_eq!(counter.tokens_before(&arc, text.len()) as usize, ids.len());
            }
        }

        #[test]
        fn shared_tokens_are_the_common_ids(
            head in prop_oneof![text(20), long_text()],
            a in prop_oneof![text(6), long_text()],
            b in prop_oneof![text(6), long_text()],
        ) {
            for encoding in [Encoding::O200k, Encoding::Cl100k] {
                let mut counter = LineCounter::new(encoding);
                let (a, b): (Arc<str>, Arc<str>) = (format!("{head}{a}").into(), format!("{head}{b}").into());
                let (x, y) = (tokens(encoding, &a).0, tokens(encoding, &b).0);
                let common = x.iter().zip(&y).take_while(|(x, y)| x == y).count();
                prop_assert_eq!(counter.shared(&a, &b) as usize, common);
                prop_assert_eq!(counter.shared(&b, &a) as usize, common);
                prop_assert_eq!(counter.shared(&a, &a) as usize, x.len());
            }
        }
    }
}
