//! `glob:`: the files that match a pattern, each a map of `path`, `name`, `text`, `error` and, where it is wanted, `data`.

use super::{Ask, Derived, Item, list, name, paths};
use crate::core::fact::{FactKey, FilePath, Lookup, Value};

/// `data`: each also parsed, as JSON or YAML; null where that cannot be done, with the reason under `error`.
pub(super) fn derive(pattern: &FilePath, top: Option<usize>, data: bool, ask: &mut dyn Ask) -> Derived {
    let paths = match paths(&FactKey::Glob(pattern.clone()), ask) {
        Ok(paths) => paths,
        Err(other) => return other,
    };
    list(paths.into_iter().take(top.unwrap_or(usize::MAX)).map(|path| {
        let file = FilePath::new(pattern.base, path.clone());
        // Both are asked for before giving up, so that one round trip fetches them.
        let parsed = data.then(|| ask.ask(&FactKey::Data(file.clone())));
        let (text, mut error) = match ask.ask(&FactKey::File(file)) {
            Lookup::Ready(text, ..) => (text, Value::Null),
            Lookup::Failed(reason, _) => (Value::text(""), Value::Text(reason)),
            // It was deleted after the folder was listed.
            Lookup::Absent(_) => return Item::Gone,
            Lookup::Unknown => return Item::Unknown,
        };
        let mut fields =
            vec![("path", Value::Text(path.clone())), ("name", Value::text(name(&path))), ("text", text)];
        match parsed {
            Some(Lookup::Unknown) => return Item::Unknown,
            Some(Lookup::Ready(value, ..)) => fields.push(("data", value)),
            Some(Lookup::Failed(reason, _)) => {
                fields.push(("data", Value::Null));
                error = Value::Text(reason);
            }
            Some(Lookup::Absent(_)) => fields.push(("data", Value::Null)),
            None => {}
        }
        fields.push(("error", error));
        Item::Ready(Value::map(fields))
    }))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Answers;
    use super::*;
    use crate::core::fact::Base;

    #[test]
    fn every_file_is_asked_for_at_once_and_one_that_fails_stands_with_its_reason() {
        let pattern = FilePath::new(Base::Workspace, "cards/*.md");
        let file = |path: &str| FactKey::File(FilePath::new(Base::Workspace, path));
        let mut answers = Answers::default();
        answers.value(
            FactKey::Glob(pattern.clone()),
            Value::list(["cards/a.md", "cards/b.md", "cards/c.md", "cards/d.md"].map(Value::text)),
        );
        assert_eq!(derive(&pattern, Some(3), false, &mut answers), Derived::Unknown);
        assert_eq!(answers.unknown, [file("cards/a.md"), file("cards/b.md"), file("cards/c.md")]);
        answers.file("cards/a.md", "A");
        answers.failed(file("cards/b.md"), "permission denied");
        answers.absent(file("cards/c.md"));
        let Derived::Ready(items) = derive(&pattern, Some(3), false, &mut answers) else { panic!("no list") };
        let items = items.as_list().expect("a list");
        assert_eq!(items.len(), 2);
        assert_eq!(items[0].get("name"), Some(&Value::text("a.md")));
        assert_eq!(items[0].get("error"), Some(&Value::Null));
        assert_eq!(items[1].get("error"), Some(&Value::text("permission denied")));
    }
}
