//! What happened in a session, as a run that a bench can script.

use std::sync::Arc;

use super::input::Input;

/// What happened, as lines of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AsRun {
    /// The lines, in order.
    pub lines: Vec<Input>,
    /// How many things have happened besides that no line of a run can say: changes of files that somebody else made,
    /// requests that were sent again.
    pub left_out: usize,
}

impl AsRun {
    /// Of inputs in the order in which they were taken. `opened` is true for a session that was opened without a run: then
    /// the message without words with which it began is none, and neither is that it was sent until somebody spoke.
    pub(super) fn of(inputs: &[Arc<Input>], opened: bool) -> AsRun {
        let mut run = AsRun::default();
        // True while nobody has said a word.
        let mut silent = opened;
        for (index, input) in inputs.iter().enumerate() {
            match &**input {
                Input::Sent if silent => continue,
                Input::User(text) if opened && index == 0 && text.is_empty() => continue,
                Input::User(_) => silent = false,
                // The model has answered to nothing: then that was the first turn.
                input if input.answers() && silent => {
                    run.lines.insert(0, Input::User("".into()));
                    silent = false;
                }
                _ => {}
            }
            if input.is_line() {
                run.lines.push((**input).clone());
            } else {
                run.left_out += 1;
            }
        }
        run
    }

    /// True where nobody has said or answered anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.lines.iter().any(|line| line.answers() || matches!(line, Input::User(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::fact::{Base, FactKey, FilePath, Found};

    fn run(inputs: Vec<Input>, opened: bool) -> AsRun {
        AsRun::of(&inputs.into_iter().map(Arc::new).collect::<Vec<_>>(), opened)
    }

    #[test]
    fn an_opening_without_words_is_no_line_and_what_others_did_is_left_out() {
        let said = |text: &str| Input::User(text.into());
        let file = FactKey::File(FilePath::new(Base::Workspace, "AGENTS.md"));
        let seen = Input::Observed { found: vec![(file, Found::Absent)], by: "the edit of AGENTS.md".into() };
        let report = FactKey::Reported("skills".into());
        let told = Input::Observed { found: vec![(report, Found::Absent)], by: "a report of skills".into() };
        let inputs = vec![
            said(""),
            Input::Sent,
            Input::Advance(5),
            said("Go."),
            seen,
            told.clone(),
            Input::Sent,
            Input::Say("Gone.".into()),
        ];
        let as_run = run(inputs, true);
        assert_eq!(as_run.lines, [Input::Advance(5), said("Go."), told, Input::Say("Gone.".into())]);
        assert_eq!(as_run.left_out, 2);
        assert!(!as_run.is_empty());
        // Of a run of its own a message without words is a line.
        assert_eq!(run(vec![said(""), Input::Say("Yes?".into())], false).lines.len(), 2);
        // So it is where the model has answered to it.
        assert_eq!(run(vec![said(""), Input::Say("Yes?".into())], true).lines[0], said(""));
        assert!(run(vec![said(""), Input::Sent], true).is_empty());
    }
}
