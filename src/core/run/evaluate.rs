//! An expression of the bench that stands in no layer.

use super::session::Session;
use crate::core::bench::Expression;
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::{Progress, Value};
use crate::core::source;

impl Session {
    /// What an expression comes to with the facts as they are, and with values under names of their own. `Needs` means:
    /// supply, and evaluate again.
    ///
    /// # Errors
    ///
    /// Where it fails, where a name in it is undefined, and where it gives nothing that a fact can be.
    pub fn evaluate(
        &mut self,
        expression: &Expression,
        extra: &[(&str, &Value)],
    ) -> Progress<Result<Value, Box<Diagnostic>>> {
        let needs = self.derive_reads();
        if !needs.is_empty() {
            return Progress::Needs(needs);
        }
        let bench = self.bench().clone();
        let mut templates = self.templates();
        source::value_of(expression, &bench, &mut templates, &self.view(self.current()), extra)
    }
}
