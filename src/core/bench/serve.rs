//! `serve:`: what a server takes out of the messages and previews of its clients.

use std::sync::Arc;

use indexmap::IndexMap;

use super::Expression;
use crate::core::fact::Name;

/// What a server does with messages and previews. By default it takes no reports and gives no previews.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Serve {
    /// `report:`: which fields of which messages carry reports.
    pub report: Vec<ReportIn>,
    /// `absent:`: what a message says that lacks its field.
    pub absent: Absent,
    /// `preview:`.
    pub preview: Option<Preview>,
}

/// A field of a kind of message that carries a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportIn {
    /// `on:`, the type of the message.
    pub on: Name,
    /// `field:`, where the report stands in it: the names of nested fields. The last is the field of a
    /// [`super::ReadKind::Reported`].
    pub path: Arc<[Name]>,
}

impl ReportIn {
    /// The reported field.
    #[must_use]
    pub fn field(&self) -> &Name {
        // A path is never empty: the syntax refuses that.
        self.path.last().unwrap_or(&self.on)
    }
}

/// What a message says that lacks the field of its report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Absent {
    /// The same as null: the report before it holds no longer. The default.
    #[default]
    Clear,
    /// Nothing: the report before it holds.
    Keep,
}

/// `preview:`: prompts that are built from a client's fields, without a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    /// `paths:`: where it is served; a segment in braces stands for any one segment.
    pub paths: Vec<Name>,
    /// `facts:`: values that facts of the bench take; the expressions see `body`.
    pub facts: IndexMap<Name, Expression>,
    /// `model:`: the model, `provider:model` or a bare name; the bench's by default.
    pub model: Option<Expression>,
}
