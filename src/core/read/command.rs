//! `command:`: what a program prints.

use super::{Ask, Derived};
use crate::core::fact::{Command, FactKey, Lookup};

/// The edge decides whether the program may run; here its output is a text like that of a file.
pub(super) fn derive(command: &Command, ask: &mut dyn Ask) -> Derived {
    match ask.ask(&FactKey::Command(command.clone())) {
        Lookup::Ready(value, ..) => Derived::Ready(value),
        Lookup::Absent(_) => Derived::Absent,
        Lookup::Failed(reason, _) => Derived::Failed(reason),
        Lookup::Unknown => Derived::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Answers;
    use super::*;
    use crate::core::fact::Value;

    #[test]
    fn the_output_is_the_fact_and_what_went_wrong_is_told() {
        let args = ["git", "log"].map(Into::into).to_vec().into();
        let command = Command { args, timeout: 5, max_bytes: 100 };
        let key = FactKey::Command(command.clone());
        let mut answers = Answers::default();
        assert_eq!(derive(&command, &mut answers), Derived::Unknown);
        answers.value(key.clone(), Value::text("a\n"));
        assert_eq!(derive(&command, &mut answers), Derived::Ready(Value::text("a\n")));
        answers.failed(key, "`git log` ended with status 128");
        assert_eq!(derive(&command, &mut answers), Derived::Failed("`git log` ended with status 128".into()));
    }
}
