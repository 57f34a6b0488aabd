//! `file:`: the text of a file.

use std::sync::Arc;

use super::{Ask, Derived};
use crate::core::fact::{FactKey, FilePath, FileText, Lookup, Value};

pub(super) fn derive(path: &FilePath, max_chars: Option<usize>, ask: &mut dyn Ask) -> Derived {
    match ask.ask(&FactKey::File(path.clone())) {
        Lookup::Ready(Value::File(file), ..) => Derived::Ready(Value::File(cut(file, max_chars))),
        Lookup::Ready(value, ..) => Derived::Ready(value),
        Lookup::Absent(_) => Derived::Ready(Value::text("")),
        Lookup::Failed(reason, _) => Derived::Failed(reason),
        Lookup::Unknown => Derived::Unknown,
    }
}

fn cut(file: Arc<FileText>, max_chars: Option<usize>) -> Arc<FileText> {
    let end = max_chars.and_then(|max| file.text.char_indices().nth(max)).map(|(end, _)| end);
    match end {
        None => file,
        Some(end) => {
            let mut cut = FileText { text: file.text[..end].into(), ..(*file).clone() };
            cut.notes.push(format!("cut at {} characters", max_chars.unwrap_or_default()).into());
            Arc::new(cut)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Answers;
    use super::*;
    use crate::core::fact::Base;

    #[test]
    fn a_file_is_its_text_and_a_missing_one_is_empty() {
        let path = FilePath::new(Base::Workspace, "AGENTS.md");
        let mut answers = Answers::default();
        assert_eq!(derive(&path, None, &mut answers), Derived::Unknown);
        assert_eq!(answers.unknown, [FactKey::File(path.clone())]);
        answers.absent(FactKey::File(path.clone()));
        assert_eq!(derive(&path, None, &mut answers), Derived::Ready(Value::text("")));
        answers.file("AGENTS.md", "你好 world");
        let Derived::Ready(Value::File(file)) = derive(&path, Some(3), &mut answers) else {
            panic!("no file")
        };
        assert_eq!((&*file.text, &*file.notes[0]), ("你好 ", "cut at 3 characters"));
        let Derived::Ready(Value::File(file)) = derive(&path, Some(8), &mut answers) else {
            panic!("no file")
        };
        assert!(file.notes.is_empty());
        answers.failed(FactKey::File(path.clone()), "it is a folder");
        assert_eq!(derive(&path, None, &mut answers), Derived::Failed("it is a folder".into()));
    }
}
