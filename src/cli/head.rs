//! What all JSON begins with: which form it has, and the data that its figures depend on. Where one of them is another
//! than it was, a difference in the figures need not come from the bench.

use std::io;

use serde::Serialize;

use super::output::Out;
use crate::core::cache::Models;
use crate::core::tokens;

/// The forms of JSON that commands print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// `audit`, as one document.
    Audit,
    /// `audit --follow`: a line for each call.
    AuditCall,
    /// `build`.
    Build,
    /// `check`.
    Check,
    /// `compare`.
    Compare,
    /// `config`.
    Config,
    /// `demo --print`.
    Demo,
    /// `demo`, the list.
    Demos,
    /// `diff`.
    Diff,
    /// `doctor`.
    Doctor,
    /// `keys`.
    Keys,
    /// `layers`.
    Layers,
    /// `check --lints`.
    Lints,
    /// `models`.
    Models,
    /// `overlay`.
    Overlay,
    /// `run`.
    Run,
    /// `samples`.
    Samples,
    /// `themes`.
    Themes,
    /// `what-if`.
    WhatIf,
}

/// What is known of a form besides the code that writes it.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The form.
    pub schema: Schema,
    /// What it is called in the output; the number goes up when something in it gets another meaning or goes away.
    pub name: &'static str,
    /// The command that prints it.
    pub command: &'static str,
    /// The members behind `schema` and `revisions`, in order; those in brackets are there only where they are needed.
    pub members: &'static str,
}

const fn row(schema: Schema, name: &'static str, command: &'static str, members: &'static str) -> Row {
    Row { schema, name, command, members }
}

/// All forms.
pub static TABLE: [Row; 19] = [
    row(
        Schema::Audit,
        "plywood.audit/1",
        "plywood audit FILE --json",
        "calls files conversations totals models group_by groups causes top calibration bench other_models [new]",
    ),
    row(
        Schema::AuditCall,
        "plywood.audit/1",
        "plywood audit FILE --follow --json",
        "file line call at conversation [agent] turn model reported output expected estimate lost verdict also vendor \
         [provider_says] cause blame [params] no_effect cost lost_cost [others] [error]",
    ),
    row(
        Schema::Build,
        "plywood.build/1",
        "plywood build PATH --format json",
        "bench variants call turn agent model at chars bytes sha256 blocks",
    ),
    row(Schema::Check, "plywood.check/1", "plywood check PATH --json", "benches"),
    row(
        Schema::Compare,
        "plywood.compare/1",
        "plywood compare PATH --json",
        "bench run turns models rows verdict least notes sums volatility",
    ),
    row(Schema::Config, "plywood.config/1", "plywood config --json", "path settings"),
    row(Schema::Demo, "plywood.demo/1", "plywood demo NAME --print --json", "demo title bench beats"),
    row(Schema::Demos, "plywood.demos/1", "plywood demo --json", "demos"),
    row(
        Schema::Diff,
        "plywood.diff/1",
        "plywood diff PATH --json",
        "bench variants call model since same total joins layers notes",
    ),
    row(Schema::Doctor, "plywood.doctor/1", "plywood doctor --json", "checks"),
    row(Schema::Keys, "plywood.keys/1", "plywood keys --json", "actions"),
    row(
        Schema::Layers,
        "plywood.layers/1",
        "plywood layers PATH --json",
        "bench variants call model layers total diagnostics",
    ),
    row(Schema::Lints, "plywood.lints/1", "plywood check --lints --json", "lints"),
    row(Schema::Models, "plywood.models/1", "plywood models --json", "models"),
    row(Schema::Overlay, "plywood.overlay/1", "plywood overlay ACTION FILE --json", "action ..."),
    row(
        Schema::Run,
        "plywood.run/1",
        "plywood run PATH --json",
        "call turn agent input answer request_sha256 injected pending cache stale superseded untold cost notes \
         [compacted] ledger never_read",
    ),
    row(Schema::Samples, "plywood.samples/1", "plywood samples --json", "samples"),
    row(Schema::Themes, "plywood.themes/1", "plywood themes --json", "themes"),
    row(Schema::WhatIf, "plywood.what-if/1", "plywood what-if PATH --json", "bench run call changes"),
];

/// The data that figures depend on.
#[derive(Clone, Debug, Serialize)]
struct Revisions {
    /// The day of the model data, with `+ yours` where the user's file adds to it.
    models: String,
    /// The tokenizer and its version.
    tokenizer: &'static str,
}

/// What all JSON begins with.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Head {
    schema: &'static str,
    revisions: Revisions,
}

impl Head {
    /// The beginning of an object whose other members follow: an object without its closing brace, and without a comma
    /// at its end.
    ///
    /// # Errors
    ///
    /// As the writer.
    pub(super) fn open(&self, out: &mut Out<'_>) -> io::Result<()> {
        let revisions = serde_json::to_string(&self.revisions)?;
        out.text(&format!("{{\n  \"schema\": \"{}\",\n  \"revisions\": {revisions}", self.schema))
    }
}

/// A document or a line behind its head.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Headed<T> {
    #[serde(flatten)]
    head: Head,
    #[serde(flatten)]
    body: T,
}

impl Schema {
    fn row(self) -> &'static Row {
        // The table is in the order of the enum: a test says so.
        &TABLE[self as usize]
    }

    /// What it is called.
    pub(super) fn name(self) -> &'static str {
        self.row().name
    }

    /// The head of figures that were worked out with this model data.
    pub(super) fn head(self, models: &Models) -> Head {
        let revisions = Revisions { models: models.revision.to_string(), tokenizer: tokens::REVISION };
        Head { schema: self.name(), revisions }
    }

    /// A body of such figures behind its head.
    pub(super) fn with<T>(self, models: &Models, body: T) -> Headed<T> {
        Headed { head: self.head(models), body }
    }

    /// A body without figures behind its head, which names the program's own model data.
    pub(super) fn plain<T>(self, body: T) -> Headed<T> {
        self.with(&crate::io::models::embedded(), body)
    }
}

/// The forms as the README lists them.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::from("| command | `schema` | what stands behind the head |\n|---|---|---|\n");
    for Row { name, command, members, .. } in &TABLE {
        let members: Vec<String> = members.split(' ').map(|member| format!("`{member}`")).collect();
        text.push_str(&format!("| `{command}` | `{name}` | {} |\n", members.join(" ")));
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_forms() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.schema as usize, index, "{}", row.name);
        }
    }
}
