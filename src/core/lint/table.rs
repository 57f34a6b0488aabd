//! The lints as data: what each looks for, why that is worth a look, and how loud it is.

use serde::Serialize;

use crate::core::diagnostic::Severity;

/// The lints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lint {
    /// A layer or a place is larger than its author allows it.
    Budget,
    /// Two layers say the same.
    Duplicate,
    /// Two layers name different working directories or days.
    Contradiction,
    /// Text that changes stands in front of text that does not.
    VolatileFirst,
    /// A cache mark behind text that is never sent again.
    DeadMark,
    /// What a mark covers, or the whole request, is too short to be stored.
    BelowMinimum,
    /// More cache marks than the provider takes.
    TooManyMarks,
    /// A tool call does not stand right in front of its result.
    SplitToolCall,
    /// The message that the model answers holds nothing that anybody said.
    InjectedTurn,
    /// Two layers of which nothing but the order of the list says which comes first.
    EqualPriority,
    /// Layers stand in another order than they run in.
    KeyOrder,
    /// Text behind a fence or a comment that another layer left open.
    Unclosed,
}

/// What is known of a lint besides its code.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The lint.
    pub lint: Lint,
    /// Its word on command lines, in benches and in JSON.
    pub word: &'static str,
    /// What it finds, as the end of "finds ...".
    pub what: &'static str,
    /// Why that matters.
    pub why: &'static str,
    /// What puts it right.
    pub fix: &'static str,
    /// How loud a finding is: a note is told and does not fail a check.
    pub level: Severity,
}

const fn row(
    lint: Lint,
    word: &'static str,
    level: Severity,
    what: &'static str,
    why: &'static str,
    fix: &'static str,
) -> Row {
    Row { lint, word, what, why, fix, level }
}

/// All lints, in the order in which they are declared.
pub static TABLE: [Row; 12] = [
    row(
        Lint::Budget,
        "budget",
        Severity::Warning,
        "a layer or a place that is larger than its `budget`",
        "prompts grow by lines that nobody counts",
        "shorten it, cut it with `cap`, or allow it more",
    ),
    row(
        Lint::Duplicate,
        "duplicate",
        Severity::Warning,
        "a paragraph that two layers say: the same file by two roads, a link, a generated copy",
        "it is paid for twice in every request, and one copy grows old",
        "leave one of the two out",
    ),
    row(
        Lint::Contradiction,
        "contradiction",
        Severity::Warning,
        "two layers that name different working directories or days",
        "the model acts on whichever it reads last",
        "make the layer again when the fact changes, or take the line out",
    ),
    row(
        Lint::VolatileFirst,
        "volatile_first",
        Severity::Warning,
        "text or tools that changed, or text that tells the time, in front of text that did not",
        "caches hold prefixes: everything behind the change is paid again",
        "move it behind what stays, or make it less often",
    ),
    row(
        Lint::DeadMark,
        "dead_mark",
        Severity::Warning,
        "a cache mark behind text that is taken out again before the next request",
        "what was written for it costs more than plain input and is never read",
        "let the mark stand behind what is replayed",
    ),
    row(
        Lint::BelowMinimum,
        "below_minimum",
        Severity::Note,
        "a mark, or a whole run, that stays below the minimum of the model's cache",
        "nothing is stored, and nobody says so",
        "let the mark stand further behind, or expect to pay in full",
    ),
    row(
        Lint::TooManyMarks,
        "too_many_marks",
        Severity::Error,
        "more cache marks than the provider takes",
        "the provider answers with an error",
        "take out the marks that cover least",
    ),
    row(
        Lint::SplitToolCall,
        "split_tool_call",
        Severity::Error,
        "a tool call whose result is missing, or does not follow it",
        "providers refuse such a request",
        "put the text behind the results, and delete calls and results together",
    ),
    row(
        Lint::InjectedTurn,
        "injected_turn",
        Severity::Warning,
        "a user message at the end of a request that holds nothing but injected text",
        "the model answers what nobody said, and models that drop old thinking at a user turn drop it here",
        "let it go into the newest tool message, or into the user's own",
    ),
    row(
        Lint::EqualPriority,
        "equal_priority",
        Severity::Note,
        "two layers of a place with the same `run` or `key`, where others have their own",
        "their order is that of the list: moving a line of the file changes the prompt",
        "give each its own number",
    ),
    row(
        Lint::KeyOrder,
        "key_order",
        Severity::Note,
        "layers that stand in another order than they run in",
        "who reads the priorities expects another prompt than is sent",
        "let the keys follow the priorities",
    ),
    row(
        Lint::Unclosed,
        "unclosed",
        Severity::Warning,
        "a code fence or comment that a layer opens and does not close, with other text behind it",
        "what stands behind it reads as an example, or as no text at all",
        "close it",
    ),
];

impl Lint {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Lint> {
        TABLE.iter().map(|row| row.lint)
    }

    /// What is known of it.
    #[must_use]
    pub fn row(self) -> &'static Row {
        // The table is in the order of the enum: a test says so.
        &TABLE[self as usize]
    }

    /// Its word on command lines, in benches and in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        self.row().word
    }

    /// How loud its findings are.
    #[must_use]
    pub fn level(self) -> Severity {
        self.row().level
    }

    /// The lint with this word.
    #[must_use]
    pub fn named(word: &str) -> Option<Lint> {
        TABLE.iter().find(|row| row.word == word).map(|row| row.lint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_for_each_lint_in_order() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.lint as usize, index, "{}", row.word);
            assert_eq!(serde_json::to_value(row.lint).expect("JSON"), row.word);
            assert_eq!(Lint::named(row.word), Some(row.lint));
            for text in [row.what, row.why, row.fix] {
                assert!(!text.is_empty() && !text.ends_with('.'), "{text}");
            }
        }
        assert_eq!(Lint::named("nothing"), None);
    }
}
