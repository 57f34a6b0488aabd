//! How a text came to be chosen: the rows of a table and the items of a list that were taken, and those that were not.

use std::sync::Arc;

use crate::core::fact::Name;

/// What was chosen for a layer, and what was not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// The rows of a table whose key matched, in the table's order, the taken ones among them.
    pub rows: Vec<Row>,
    /// The items of a list that were left out, in the list's order.
    pub left_out: Vec<LeftOut>,
}

/// A row of a table whose key matched what was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The row's key that matched; `otherwise` for the row for what no other matches.
    pub key: Name,
    /// What it matched, as it is written there; empty for `otherwise`.
    pub matched: Arc<str>,
    /// What it matched in.
    pub within: Arc<str>,
    /// True for a row that was taken; the others came too late.
    pub taken: bool,
}

/// An item of a list that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name: its field `name` or `path`, else its number.
    pub name: Arc<str>,
    /// Why, in a few words.
    pub reason: Arc<str>,
}

impl Choice {
    /// True when there is nothing to tell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.left_out.is_empty()
    }

    /// The rows in words: `gpt matched "gpt" in gpt-4o; behind it: qwen`; none where no table was asked.
    #[must_use]
    pub fn rows_in_words(&self) -> Option<String> {
        let words = |row: &Row| {
            if row.matched.is_empty() {
                format!("{}: no rule matches {}", row.key, row.within)
            } else if *row.matched == *row.within {
                format!("{} matched {}", row.key, row.within)
            } else {
                format!("{} matched \"{}\" in {}", row.key, row.matched, row.within)
            }
        };
        let taken: Vec<String> = self.rows.iter().filter(|row| row.taken).map(words).collect();
        let late: Vec<&str> = self.rows.iter().filter(|row| !row.taken).map(|row| &*row.key).collect();
        match (taken.is_empty(), late.is_empty()) {
            (true, _) => None,
            (false, true) => Some(taken.join("; ")),
            (false, false) => Some(format!("{}; behind it: {}", taken.join("; "), late.join(", "))),
        }
    }
}
