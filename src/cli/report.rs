//! What the JSON of several commands has in common, behind its head.

use std::fmt::Write;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::output::Outcome;
use crate::core::diagnostic::{Diagnostic, Severity};
use crate::core::run::CallRecord;
use crate::core::wire::Request;

/// A SHA-256 in hexadecimal digits.
pub(super) fn sha256(bytes: impl AsRef<[u8]>) -> String {
    hex(Sha256::digest(bytes))
}

/// The SHA-256 of everything that a request sends: kinds, names and texts of its blocks, each with its length.
pub(super) fn request_sha256(request: &Request) -> String {
    let mut hasher = Sha256::new();
    for block in &request.blocks {
        let kind = format!("{:?}", block.kind);
        for field in [&*kind, &*block.name, block.tool.as_deref().unwrap_or_default(), block.text.text()] {
            hasher.update((field.len() as u64).to_le_bytes());
            hasher.update(field);
        }
    }
    hex(hasher.finalize())
}

fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A diagnostic as JSON lists it.
#[derive(Serialize)]
pub(super) struct DiagnosticReport<'a> {
    severity: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

impl<'a> DiagnosticReport<'a> {
    pub(super) fn of(diagnostic: &'a Diagnostic) -> DiagnosticReport<'a> {
        DiagnosticReport {
            severity: diagnostic.severity.word(),
            message: &diagnostic.message,
            file: diagnostic.file.as_deref(),
            line: diagnostic.at.map(|at| at.line),
            column: diagnostic.at.map(|at| at.column),
            hint: diagnostic.hint.as_deref(),
        }
    }
}

/// What went wrong in the layers of these calls, each told once: for stderr, and where a layer failed for the exit
/// status.
pub(super) fn failed_layers<'r>(records: impl IntoIterator<Item = &'r CallRecord>) -> Outcome {
    let mut told: Vec<Diagnostic> = Vec::new();
    for problem in records.into_iter().flat_map(|record| &record.diagnostics) {
        if problem.severity != Severity::Note && !told.contains(problem) {
            told.push((**problem).clone());
        }
    }
    Outcome::Told(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_other_tools() {
        assert_eq!(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
