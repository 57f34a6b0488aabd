//! Random texts that are full of what the patterns of the encodings treat specially.

use proptest::prelude::*;

#[rustfmt::skip]
const ATOMS: &[&str] = &[
    "a", "Ab", "the", "HELLO", "word", "Word", "s", "'s", "'", "'LL", "_", "Z", " ", " ", "  ", "\t", "\n",
    "\n", "\n\n", "\r\n", "\r", "\u{b}", "/", "//", "#", "<", "-", "1", "12", "1234", ".", ",", ";", "(", ")",
    "\"", "`", "{", "}", "$", "+", "=", "<|endoftext|>", "\0", "🙂", "👍🏽", "\u{200d}", "。", "，", "、", "！", "（",
    "“", "”", "…", "—", "＿", "\u{3000}", "我", "们", "我们", "今天", "京", "東京", "世界", "界", "彩", "的", "〇", "々", "カ",
    "タ", "カタカナ", "ー", "ひ", "ｱ", "한국", "어", "Ａ", "ａ", "１", "é", "É", "ñ", "ſ", "д", "Д", "\u{301}", "\u{a0}",
    "\u{85}", "\u{2028}", "²", "Ⅷ", "ก", "ำ", "𠀀",
];

/// A text of at most `atoms` pieces.
pub(super) fn text(atoms: usize) -> impl Strategy<Value = String> {
    let any = prop_oneof![
        10 => prop::sample::select(ATOMS).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => prop::char::range('\u{4e00}', '\u{9fff}').prop_map(String::from),
        1 => prop::char::range('\u{3000}', '\u{30ff}').prop_map(String::from),
        1 => prop::char::range('\u{ff00}', '\u{ffef}').prop_map(String::from),
        1 => prop::char::range('\u{ac00}', '\u{d7a3}').prop_map(String::from),
    ];
    prop::collection::vec(any, 0..=atoms).prop_map(|pieces| pieces.concat())
}
