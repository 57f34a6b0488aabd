//! `file:`: the text of a file.

use std::sync::Arc;

use super::{Ask, Derived, leave};
use crate::core::bench::Leave;
use crate::core::fact::{FactKey, FilePath, FileText, Lookup, Value};

/// `body`: without the front matter.
pub(super) fn derive(
    path: &FilePath,
    max_chars: Option<usize>,
    near: Option<&FilePath>,
    body: bool,
    leave: &Leave,
    ask: &mut dyn Ask,
) -> Derived {
    let key = if body { FactKey::Document(path.clone()) } else { FactKey::File(path.clone()) };
    let file = match ask.ask(&key) {
        Lookup::Ready(document @ Value::Map(_), rev, cause) => {
            Lookup::Ready(document.get("body").cloned().unwrap_or_default(), rev, cause)
        }
        other => other,
    };
    let others = near.map(|near| ask.ask(&FactKey::Glob(near.clone())));
    let mut notes: Vec<Arc<str>> = Vec::new();
    match &others {
        Some(Lookup::Unknown) => return Derived::Unknown,
        Some(Lookup::Ready(listed, ..)) => {
            // A listing gives names as the disk spells them: where it does not tell upper from lower case, the file
            // itself is none of these.
            let names = listed.as_list().unwrap_or_default().iter().filter_map(Value::as_text);
            notes.extend(
                names
                    .filter(|name| **name != path.path)
                    .map(|name| format!("{name} is not loaded, only {} is", path.path).into()),
            );
        }
        // A folder that cannot be listed holds nothing that could be told.
        Some(Lookup::Absent(_) | Lookup::Failed(..)) | None => {}
    }
    match file {
        Lookup::Ready(Value::File(file), ..) => {
            Derived::Ready(Value::File(cut(leave::out(file, leave), max_chars, notes)))
        }
        Lookup::Ready(value, ..) => Derived::Ready(value),
        Lookup::Absent(_) if !notes.is_empty() => {
            Derived::Ready(Value::File(Arc::new(FileText { notes, ..FileText::whole(path.clone(), "") })))
        }
        Lookup::Absent(_) => Derived::Ready(Value::text("")),
        Lookup::Failed(reason, _) => Derived::Failed(format!("{path}: {reason}").into()),
        Lookup::Unknown => Derived::Unknown,
    }
}

/// The file with at most so many characters, and with more notes.
fn cut(file: Arc<FileText>, max_chars: Option<usize>, mut more: Vec<Arc<str>>) -> Arc<FileText> {
    let end = max_chars.and_then(|max| file.text.char_indices().nth(max)).map(|(end, _)| end);
    if let (Some(_), Some(max)) = (end, max_chars) {
        more.insert(0, format!("cut at {max} characters").into());
    }
    if more.is_empty() {
        return file;
    }
    let mut file = FileText::clone(&file);
    if let Some(end) = end {
        file.text = file.text[..end].into();
    }
    file.notes.append(&mut more);
    Arc::new(file)
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
        assert_eq!(derive(&path, None, None, false, &Leave::default(), &mut answers), Derived::Unknown);
        assert_eq!(answers.unknown, [FactKey::File(path.clone())]);
        answers.absent(FactKey::File(path.clone()));
        assert_eq!(
            derive(&path, None, None, false, &Leave::default(), &mut answers),
            Derived::Ready(Value::text(""))
        );
        answers.file("AGENTS.md", "你好 world");
        let Derived::Ready(Value::File(file)) =
            derive(&path, Some(3), None, false, &Leave::default(), &mut answers)
        else {
            panic!("no file")
        };
        assert_eq!((&*file.text, &*file.notes[0]), ("你好 ", "cut at 3 characters"));
        let Derived::Ready(Value::File(file)) =
            derive(&path, Some(8), None, false, &Leave::default(), &mut answers)
        else {
            panic!("no file")
        };
        assert!(file.notes.is_empty());
        answers.value(FactKey::Document(path.clone()), Value::map([("body", Value::text("rules"))]));
        assert_eq!(
            derive(&path, None, None, true, &Leave::default(), &mut answers),
            Derived::Ready(Value::text("rules"))
        );
        answers.failed(FactKey::File(path.clone()), "it is a folder");
        assert_eq!(
            derive(&path, None, None, false, &Leave::default(), &mut answers),
            Derived::Failed("AGENTS.md: it is a folder".into())
        );
    }

    #[test]
    fn files_of_nearly_its_name_are_told() {
        let path = FilePath::new(Base::Workspace, "AGENTS.md");
        let near = FilePath::new(Base::Workspace, "{agents.md,AGENTS.txt}");
        let mut answers = Answers::default();
        answers.absent(FactKey::File(path.clone()));
        let mut derived = |listed: &[&str], file: Option<&str>| {
            answers.value(
                FactKey::Glob(near.clone()),
                Value::list(listed.iter().map(|&name| Value::text(name))),
            );
            if let Some(text) = file {
                answers.file("AGENTS.md", text);
            }
            derive(&path, Some(2), Some(&near), false, &Leave::default(), &mut answers)
        };
        assert_eq!(derived(&[], None), Derived::Ready(Value::text("")));
        let Derived::Ready(Value::File(file)) = derived(&["AGENTS.txt", "agents.md"], None) else {
            panic!("no notes")
        };
        assert_eq!((&*file.text, file.notes.len()), ("", 2));
        assert_eq!(&*file.notes[1], "agents.md is not loaded, only AGENTS.md is");
        let Derived::Ready(Value::File(file)) = derived(&["AGENTS.md", "agents.md"], Some("abc")) else {
            panic!("no file")
        };
        assert_eq!(&*file.text, "ab");
        assert_eq!(
            file.notes.iter().map(|note| &**note).collect::<Vec<_>>(),
            ["cut at 2 characters", "agents.md is not loaded, only AGENTS.md is"]
        );
    }

    #[test]
    fn the_file_and_the_listing_are_asked_for_together() {
        let path = FilePath::new(Base::Workspace, "AGENTS.md");
        let near = FilePath::new(Base::Workspace, "agents.md");
        let mut answers = Answers::default();
        assert_eq!(
            derive(&path, None, Some(&near), false, &Leave::default(), &mut answers),
            Derived::Unknown
        );
        assert_eq!(answers.unknown, [FactKey::File(path), FactKey::Glob(near)]);
    }
}
