//! `skills:`: a folder of skills, each a folder with a `SKILL.md` whose front matter names and describes it.

use std::sync::Arc;

use indexmap::IndexMap;

use super::{Ask, Derived, Item, list, name, paths};
use crate::core::fact::{FactKey, FilePath, Lookup, Name, Value};

/// Each skill: `name`, `description`, `path` and `folder` from the base, `text` behind the front matter, `error`, and
/// every other field of the front matter. Without a name in the front matter, the folder's is taken.
pub(super) fn derive(folder: &FilePath, ask: &mut dyn Ask) -> Derived {
    let pattern = FilePath::new(folder.base, format!("{}*/SKILL.md", super::below(folder)));
    let paths = match paths(&FactKey::Glob(pattern), ask) {
        Ok(paths) => paths,
        Err(other) => return other,
    };
    list(paths.into_iter().map(|path| skill(folder, path, ask)))
}

fn skill(folder: &FilePath, path: Arc<str>, ask: &mut dyn Ask) -> Item {
    let home = path.strip_suffix("/SKILL.md").unwrap_or(&path);
    let mut fields: IndexMap<Name, Value> = IndexMap::new();
    fields.insert("name".into(), Value::text(name(home)));
    fields.insert("description".into(), Value::text(""));
    let (text, error) = match ask.ask(&FactKey::Document(FilePath::new(folder.base, path.clone()))) {
        Lookup::Ready(document, ..) => {
            for (key, value) in document.get("meta").and_then(Value::as_map).into_iter().flatten() {
                // A name or description that is not a text would surprise every template.
                let plain = matches!(&**key, "name" | "description") && value.as_text().is_none();
                fields
                    .insert(key.clone(), if plain { Value::text(value.to_string()) } else { value.clone() });
            }
            (document.get("body").cloned().unwrap_or_else(|| Value::text("")), Value::Null)
        }
        Lookup::Failed(reason, _) => (Value::text(""), Value::Text(reason)),
        Lookup::Absent(_) => return Item::Gone,
        Lookup::Unknown => return Item::Unknown,
    };
    fields.insert("path".into(), Value::Text(path.clone()));
    fields.insert("folder".into(), Value::text(home));
    fields.insert("text".into(), text);
    fields.insert("error".into(), error);
    Item::Ready(Value::Map(Arc::new(fields)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Answers;
    use super::*;
    use crate::core::fact::Base;

    #[test]
    fn skills_have_the_fields_of_their_front_matter() {
        let folder = FilePath::new(Base::Workspace, "skills");
        let document = |path: &str| FactKey::Document(FilePath::new(Base::Workspace, path));
        let mut answers = Answers::default();
        answers.value(
            FactKey::Glob(FilePath::new(Base::Workspace, "skills/*/SKILL.md")),
            Value::list(["skills/a/SKILL.md", "skills/b/SKILL.md", "skills/c/SKILL.md"].map(Value::text)),
        );
        assert_eq!(derive(&folder, &mut answers), Derived::Unknown);
        assert_eq!(answers.unknown.len(), 3);
        let meta = Value::map([
            ("name", Value::text("查错")),
            ("description", Value::Int(7)),
            ("tags", Value::list([Value::text("x")])),
            ("path", Value::text("a lie")),
        ]);
        answers.value(
            document("skills/a/SKILL.md"),
            Value::map([("meta", meta), ("body", Value::text("Do it."))]),
        );
        answers.value(
            document("skills/b/SKILL.md"),
            Value::map([("meta", Value::map::<&str>([])), ("body", Value::text("b"))]),
        );
        answers.failed(document("skills/c/SKILL.md"), "it is a folder");
        let Derived::Ready(skills) = derive(&folder, &mut answers) else { panic!("no list") };
        let skills = skills.as_list().expect("a list");
        let field = |index: usize, key: &str| skills[index].get(key).expect(key).to_string();
        assert_eq!(field(0, "name"), "查错");
        assert_eq!(field(0, "description"), "7");
        assert_eq!(field(0, "tags"), "x");
        assert_eq!(field(0, "path"), "skills/a/SKILL.md");
        assert_eq!(field(1, "name"), "b");
        assert_eq!(field(1, "text"), "b");
        assert_eq!(field(2, "error"), "it is a folder");
    }

    #[test]
    fn a_folders_name_is_no_pattern() {
        let mut answers = Answers::default();
        let folder = FilePath::new(Base::Home, "a[1]");
        assert_eq!(derive(&folder, &mut answers), Derived::Unknown);
        assert_eq!(answers.unknown, [FactKey::Glob(FilePath::new(Base::Home, "a\\[1\\]/*/SKILL.md"))]);
    }
}
