//! `reported:`: a text that a client reports, for as long as its session lasts.

use std::sync::Arc;

use super::{Ask, Derived};
use crate::core::fact::{Base, FactKey, FilePath, FileText, Lookup, Name, Value};

/// Nothing but white space is no report. A report that is too long is cut between characters, and says so as a file does.
pub(super) fn derive(field: &Name, max_chars: Option<usize>, ask: &mut dyn Ask) -> Derived {
    match ask.ask(&FactKey::Reported(field.clone())) {
        Lookup::Ready(value, ..) => match value.as_text() {
            Some(text) if !text.trim().is_empty() => Derived::Ready(cut(field, text, max_chars)),
            _ => Derived::Ready(Value::text("")),
        },
        Lookup::Absent(_) => Derived::Ready(Value::text("")),
        Lookup::Failed(reason, _) => Derived::Failed(reason),
        Lookup::Unknown => Derived::Unknown,
    }
}

fn cut(field: &Name, text: &Arc<str>, max_chars: Option<usize>) -> Value {
    let end = max_chars.and_then(|max| Some((max, text.char_indices().nth(max)?.0)));
    let Some((max, end)) = end else { return Value::Text(text.clone()) };
    let path = FilePath::new(Base::Workspace, field.clone());
    let notes = vec![format!("cut at {max} characters").into()];
    let whole = FileText::whole(path, &text[..end]);
    Value::File(Arc::new(FileText { bytes: text.len() as u64, notes, ..whole }))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Answers;
    use super::*;

    fn derived(reported: Option<&str>, max_chars: Option<usize>) -> Derived {
        let field: Name = "rules".into();
        let key = FactKey::Reported(field.clone());
        let mut answers = Answers::default();
        assert_eq!(derive(&field, max_chars, &mut answers), Derived::Unknown);
        assert_eq!(answers.unknown, std::slice::from_ref(&key));
        match reported {
            Some(text) => answers.value(key, Value::text(text)),
            None => answers.absent(key),
        }
        derive(&field, max_chars, &mut answers)
    }

    #[test]
    fn what_was_not_reported_and_blank_reports_are_empty() {
        for reported in [None, Some(""), Some(" \n\t\n")] {
            assert_eq!(derived(reported, Some(3)), Derived::Ready(Value::text("")), "{reported:?}");
        }
        assert_eq!(derived(Some(" a\n"), None), Derived::Ready(Value::text(" a\n")), "it is not trimmed");
    }

    #[test]
    fn a_long_report_is_cut_between_characters_and_says_so() {
        assert_eq!(derived(Some("规则🙂"), Some(3)), Derived::Ready(Value::text("规则🙂")));
        let Derived::Ready(Value::File(file)) = derived(Some("规则🙂🙂"), Some(3)) else {
            panic!("no file")
        };
        assert_eq!((&*file.text, file.bytes), ("规则🙂", 14));
        assert_eq!(file.notes.iter().map(|note| &**note).collect::<Vec<_>>(), ["cut at 3 characters"]);
    }
}
