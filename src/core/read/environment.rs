//! `environment:`: a property of the machine, a text that is empty where there is none.

use super::{Ask, Derived};
use crate::core::fact::{FactKey, Lookup, Name, Value};

pub(super) fn derive(name: &Name, ask: &mut dyn Ask) -> Derived {
    match ask.ask(&FactKey::Environment(name.clone())) {
        Lookup::Ready(value, ..) => Derived::Ready(value),
        Lookup::Absent(_) => Derived::Ready(Value::text("")),
        Lookup::Failed(reason, _) => Derived::Failed(reason),
        Lookup::Unknown => Derived::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Answers;
    use super::*;

    #[test]
    fn a_missing_property_is_empty() {
        let name: Name = "git_branch".into();
        let mut answers = Answers::default();
        assert_eq!(derive(&name, &mut answers), Derived::Unknown);
        answers.absent(FactKey::Environment(name.clone()));
        assert_eq!(derive(&name, &mut answers), Derived::Ready(Value::text("")));
    }
}
