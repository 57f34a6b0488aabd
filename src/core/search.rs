//! Finding texts by words: BM25 over words of alphabetic scripts and pairs of characters of scripts without spaces.
//!
//! The ranking is the crate's; what a word is, and the order of equals, is ours, so that the same texts and the same
//! question give the same answer on every machine.

use bm25::{Document, SearchEngineBuilder, Tokenizer};
use unicode_segmentation::UnicodeSegmentation;

/// A text that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Its place among the texts, from 0.
    pub index: usize,
    /// How well it fits: more is better; only comparable within one search.
    pub score: f32,
}

/// The `top` texts that fit the question best, the best first; equals in their own order. Texts that have no word of the
/// question are never found.
#[must_use]
pub fn search<'t>(texts: impl IntoIterator<Item = &'t str>, question: &str, top: usize) -> Vec<Hit> {
    let documents: Vec<Document<usize>> =
        texts.into_iter().enumerate().map(|(id, text)| Document::new(id, text)).collect();
    if documents.is_empty() || top == 0 {
        return Vec::new();
    }
    let engine =
        SearchEngineBuilder::<usize, u32, Words>::with_tokenizer_and_documents(Words, documents).build();
    let mut hits: Vec<Hit> = engine
        .search(question, None)
        .into_iter()
        .map(|found| Hit { index: found.document.id, score: found.score })
        .collect();
    // The crate goes through a hash map: equals come in any order.
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
    hits.truncate(top);
    hits
}

/// Words in lower case; ideographs and kana in pairs, and alone where they stand alone.
struct Words;

impl Tokenizer for Words {
    fn tokenize(&self, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        // The character before, where it belongs to a script without spaces and touches the next one.
        let mut before: Option<(usize, char)> = None;
        let mut paired = false;
        for (at, word) in text.unicode_word_indices() {
            let mut chars = word.chars();
            let single = chars.next().filter(|c| chars.next().is_none() && unspaced(*c));
            let touching = before.filter(|(end, _)| *end == at);
            if let (None, Some((_, alone)), false) = (touching.and(single), before, paired) {
                words.push(alone.to_string());
            }
            match single {
                Some(c) => {
                    paired = touching.is_some();
                    if let Some((_, first)) = touching {
                        words.push(format!("{first}{c}"));
                    }
                    before = Some((at + word.len(), c));
                }
                None => {
                    words.push(word.to_lowercase());
                    before = None;
                    paired = false;
                }
            }
        }
        if let (Some((_, alone)), false) = (before, paired) {
            words.push(alone.to_string());
        }
        words
    }
}

/// Scripts that are written without spaces between words: Han, Hiragana, Katakana.
fn unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(texts: &[&str], question: &str, top: usize) -> Vec<usize> {
        search(texts.iter().copied(), question, top).into_iter().map(|hit| hit.index).collect()
    }

    #[test]
    fn words_are_words_and_pairs_of_ideographs() {
        assert_eq!(Words.tokenize("上季度Sales额 3.5 b"), ["上季", "季度", "sales", "额", "3.5", "b"]);
        assert_eq!(Words.tokenize("我, 你好"), ["我", "你好"]);
        assert_eq!(Words.tokenize("  "), Vec::<String>::new());
    }

    #[test]
    fn the_best_comes_first_and_equals_in_their_order() {
        let texts = [
            "退款要在七天内处理",
            "上季度销售额增长",
            "销售额与退款：销售额",
            "nothing of it",
            "上季度销售额增长",
        ];
        assert_eq!(found(&texts, "销售额", 9)[0], 2);
        assert_eq!(found(&texts, "上季度", 9), [1, 4]);
        assert_eq!(found(&texts, "NOTHING", 9), [3]);
        assert_eq!(found(&texts, "quartz", 9), [0; 0]);
        assert_eq!(found(&texts, "销售额", 1).len(), 1);
        assert_eq!(found(&[], "销售额", 1), [0; 0]);
        for _ in 0..20 {
            assert_eq!(found(&texts, "上季度", 9), [1, 4], "the same order each time");
        }
    }
}
