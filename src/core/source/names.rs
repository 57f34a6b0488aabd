//! The names that every template and expression may use beside the bench's own facts and reads.

/// What the engine supplies to templates and expressions, with what it is.
///
/// Facts and reads of the bench are names, too. A bench may give a fact one of these names only where that fact
/// *is* the builtin (`cwd`, `session`, `goal`): the fact's value is then where it starts.
pub const BUILTINS: &[(&str, &str)] = &[
    ("agent", "a map: `id`, `role`, `session`, `goal` and every other field of the bench's agent"),
    ("body", "in the expressions of a preview: the JSON that a client sent"),
    ("call", "a map about the call that is built: `number`, `turn`, `tools` (names), `results`"),
    ("cwd", "the current directory of the agent, as it is shown to the model"),
    (
        "found",
        "in the texts of a tool that searches: `query`, `hits`, `total`, `selected`, `documents`, `verdict`",
    ),
    ("goal", "what the agent was asked to do: the user's text, or a sub-agent's task"),
    ("home", "the home folder, as it is shown to the model"),
    ("item", "the item of an `each` layer"),
    ("items", "in the frame of an `each` layer: all items, rendered and joined"),
    ("lines", "in the frame of a `lines` layer: the lines that were kept"),
    ("loop", "the loop of a template's `for`"),
    ("loop_index", "the number of the item of an `each` layer, from 1"),
    ("model", "a map: `id`, `provider`, `name`"),
    ("now", "the time, as RFC 9557 text"),
    ("said", "what the user typed in this turn"),
    ("session", "the id of the session"),
    ("tools", "the names of the tools that are present, in order"),
    ("turn", "the number of the turn, from 1"),
    ("workspace", "the folder that the agent works in, as it is shown to the model"),
];

/// True for a name that every template and expression may use.
#[must_use]
pub fn is_builtin(name: &str) -> bool {
    BUILTINS.binary_search_by(|(known, _)| (*known).cmp(name)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_is_found() {
        for (name, _) in BUILTINS {
            assert!(is_builtin(name), "{name} is out of order");
        }
        assert!(!is_builtin("channel"));
    }
}
