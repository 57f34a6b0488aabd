//! Contracts as files beside benches: read with the place of every mistake, and written.

use std::path::{Path, PathBuf};

use super::node::Node;
use super::parse::parse;
use super::quote::quoted;
use super::shape::{Field, Problems, Record, Shape, field};
use super::suggest;
use crate::core::bench::Bench;
use crate::core::contract::{Contract, MayChange, Stable, TOOLS, is_author};
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::Name;
use crate::core::run::COMPACTION;

/// The version of the format.
const FORMAT: i64 = 1;

const fn record(what: &'static str, doc: &'static str, fields: &'static [Field]) -> Record {
    Record { what, doc, fields, choice: None, kinds: &[] }
}

static CONTRACT: Record = record(
    "a contract",
    "What may change between the calls of a bench.",
    &[
        field("contract", Shape::Int(1, FORMAT), "the version of this format: 1").required(),
        field("may_change", Shape::List(&Shape::Record(&MAY)), "the parts that may change"),
        field("stable", Shape::Names(&Shape::Record(&STABLE)), "by role, the text of what stays"),
    ],
);

static MAY: Record = record(
    "a part that may change",
    "A layer, or another author.",
    &[
        field(
            "part",
            Shape::Text,
            "a layer's id, `tools` for all tools, `tool Read` for one, `the compaction`",
        )
        .required(),
        field("runs", Shape::List(&Shape::Text), "in these runs; in all of them by default"),
        field("why", Shape::Text, "why that is all right"),
    ],
);

static STABLE: Record = record(
    "a text that stays",
    "What stays in the prompts of a role.",
    &[
        field("sha256", Shape::Text, "its SHA-256").required(),
        field("lines", Shape::List(&Shape::Text), "its lines").required(),
    ],
);

/// The contract of a bench: `bench.contract.yaml` beside `bench.yaml`, `x.contract.yaml` beside `x.bench.yaml`.
#[must_use]
pub fn path_of(bench: &Path) -> PathBuf {
    let name = bench.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = name
        .strip_suffix(".bench.yaml")
        .or_else(|| name.strip_suffix(".yaml"))
        .or_else(|| name.strip_suffix(".yml"))
        .unwrap_or(&name);
    bench.with_file_name(format!("{stem}.contract.yaml"))
}

/// Reads a contract.
///
/// # Errors
///
/// Everything that is wrong with it.
pub fn read(file: &Name, text: &str) -> Result<Contract, Vec<Diagnostic>> {
    let root = parse(file, text)?;
    let mut problems = Problems { file: file.clone(), text, list: Vec::new() };
    problems.check(&root, &Shape::Record(&CONTRACT), "a contract");
    if !problems.list.is_empty() {
        return Err(problems.list);
    }
    let items = |node: Option<&std::sync::Arc<Node>>| {
        node.map(|node| node.items())
            .unwrap_or_default()
            .iter()
            .map(|node| node.text.clone())
            .collect::<Vec<Name>>()
    };
    let may = root.get("may_change").map(|node| node.items()).unwrap_or_default().iter();
    let stable = root.get("stable").map(|node| node.entries()).unwrap_or_default().iter();
    Ok(Contract {
        may_change: may
            .map(|node| MayChange {
                part: node.get("part").map_or_else(|| "".into(), |part| part.text.clone()),
                runs: items(node.get("runs")),
                why: node.get("why").map(|why| why.text.clone()),
                at: node.at,
            })
            .collect(),
        stable: stable
            .map(|entry| {
                let mut text = String::new();
                for line in items(entry.value.get("lines")) {
                    text.push_str(&line);
                    text.push('\n');
                }
                let sha256 = entry.value.get("sha256").map_or_else(|| "".into(), |sha| sha.text.clone());
                (entry.key.clone(), Stable { sha256, text: text.into(), at: entry.at })
            })
            .collect(),
    })
}

/// What a contract names and its bench does not have: such a line allows nothing, and nobody would notice.
#[must_use]
pub fn strangers(file: &Name, text: &str, bench: &Bench) -> Vec<Diagnostic> {
    let Ok(root) = parse(file, text) else { return Vec::new() };
    let problem = |node: &Node, message: String, hint: Option<String>| {
        let problem = Diagnostic::error(message).at(file.clone(), text, node.at);
        Diagnostic { hint, ..problem }
    };
    let layers = || bench.layers.iter().map(|layer| &*layer.id);
    let mut found = Vec::new();
    for may in root.get("may_change").map(|node| node.items()).unwrap_or_default() {
        if let Some(part) = may.get("part")
            && bench.layer(&part.text).is_none()
            && !is_author(&part.text)
        {
            let known = layers().chain([TOOLS, COMPACTION]).collect::<Vec<_>>();
            let hint = suggest::hint(&part.text, known);
            found.push(problem(part, format!("the bench has no layer `{}`", part.text), hint));
        }
        for run in may.get("runs").map(|node| node.items()).unwrap_or_default() {
            if !bench.runs.contains_key(&run.text) {
                let hint = suggest::hint(&run.text, bench.runs.keys().map(|run| &**run).collect::<Vec<_>>());
                found.push(problem(run, format!("the bench has no run `{}`", run.text), hint));
            }
        }
    }
    found
}

/// The text of a contract's file.
#[must_use]
pub fn written(contract: &Contract, bench: &str) -> String {
    let mut out = format!(
        "# What may change between the calls of {bench}; `plywood check --accept` writes this file.\ncontract: {FORMAT}\n"
    );
    if !contract.may_change.is_empty() {
        out.push_str("may_change:\n");
    }
    for may in &contract.may_change {
        out.push_str(&format!("  - part: {}\n", quoted(&may.part)));
        if !may.runs.is_empty() {
            let runs: Vec<String> = may.runs.iter().map(|run| quoted(run)).collect();
            out.push_str(&format!("    runs: [{}]\n", runs.join(", ")));
        }
        if let Some(why) = &may.why {
            out.push_str(&format!("    why: {}\n", quoted(why)));
        }
    }
    if !contract.stable.is_empty() {
        out.push_str("stable:\n");
    }
    for (role, stable) in &contract.stable {
        let empty = if stable.text.is_empty() { " []" } else { "" };
        let (role, sha256) = (quoted(role), quoted(&stable.sha256));
        out.push_str(&format!("  {role}:\n    sha256: {sha256}\n    lines:{empty}\n"));
        for line in stable.text.split_terminator('\n') {
            out.push_str(&format!("      - {}\n", quoted(line)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::core::diagnostic::Position;

    #[test]
    fn a_contract_stands_beside_its_bench() {
        for (bench, want) in [
            ("a/bench.yaml", "a/bench.contract.yaml"),
            ("x.bench.yaml", "x.contract.yaml"),
            ("a/y.yml", "a/y.contract.yaml"),
        ] {
            assert_eq!(path_of(Path::new(bench)), Path::new(want));
        }
    }

    #[test]
    fn mistakes_are_told_where_they_are() {
        let wrong = |text: &str| {
            let problems = read(&"c.yaml".into(), text).expect_err("it is wrong");
            let at = problems[0].at.expect("a place");
            (at.line, problems[0].message.clone())
        };
        assert_eq!(wrong("contract: 1\nmay_chang: []\n").0, 2);
        assert_eq!(wrong("contract: 2\n").0, 1);
        assert!(wrong("contract: 1\nmay_change:\n  - why: x\n").1.contains("without `part`"));
    }

    proptest! {
        /// What is written is what is read back.
        #[test]
        fn contracts_survive(
            parts in proptest::collection::vec(("[a-z:#' ]{1,9}", proptest::option::of("\\PC{0,9}"), any::<bool>()), 0..4),
            role in "[a-z]{1,5}",
            text in "([^\\r]{0,12}\n){0,4}",
        ) {
            let contract = Contract {
                may_change: parts
                    .into_iter()
                    .map(|(part, why, runs)| MayChange {
                        part: part.into(),
                        runs: if runs { vec!["a b".into(), "c".into()] } else { Vec::new() },
                        why: why.map(Into::into),
                        at: Position::START,
                    })
                    .collect(),
                stable: [(Name::from(&*role), Stable { sha256: "00".into(), text: text.into(), at: Position::START })].into(),
            };
            let text = written(&contract, "bench.yaml");
            let mut back = read(&"c".into(), &text).map_err(|p| TestCaseError::fail(format!("{} in\n{text}", p[0])))?;
            back.may_change.iter_mut().for_each(|may| may.at = Position::START);
            back.stable.values_mut().for_each(|stable| stable.at = Position::START);
            prop_assert_eq!(back, contract);
        }
    }
}
