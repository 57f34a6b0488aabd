//! `json:`: a JSON or YAML file, parsed.

use super::{Ask, Derived};
use crate::core::fact::{FactKey, FilePath, Lookup, Value};

pub(super) fn derive(path: &FilePath, ask: &mut dyn Ask) -> Derived {
    match ask.ask(&FactKey::Data(path.clone())) {
        Lookup::Ready(value, ..) => Derived::Ready(value),
        Lookup::Absent(_) => Derived::Ready(Value::Null),
        Lookup::Failed(reason, _) => Derived::Failed(format!("{path}: {reason}").into()),
        Lookup::Unknown => Derived::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Answers;
    use super::*;
    use crate::core::fact::Base;

    #[test]
    fn a_missing_file_is_null() {
        let path = FilePath::new(Base::Workspace, "state.json");
        let mut answers = Answers::default();
        assert_eq!(derive(&path, &mut answers), Derived::Unknown);
        answers.absent(FactKey::Data(path.clone()));
        assert_eq!(derive(&path, &mut answers), Derived::Ready(Value::Null));
        answers.value(FactKey::Data(path.clone()), Value::Int(3));
        assert_eq!(derive(&path, &mut answers), Derived::Ready(Value::Int(3)));
    }
}
