//! A second model that stands between what was found and the model that asked: it may say a decision, a reason from a
//! closed list and how much was found, and nothing of the texts themselves.
//!
//! Without a network it is played: by rules of the bench, or by an answer that the script gives. Such an answer is
//! read as a program would read a model's, and what it copies from the texts is dropped.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::core::bench::Mediation;
use crate::core::fact::Value;
use crate::core::run::record::Mediated;

/// How many characters in a row, without white space, may be alike before they count as copied.
const COPIED: usize = 6;

/// What the second model came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    answers: bool,
    reason: Arc<str>,
    confidence: &'static str,
    /// True where it could not do its work, which is no refusal of the question.
    fallback: bool,
    /// What it says in its own words; empty where it is played by rules.
    summary: String,
}

impl Verdict {
    fn refused(reason: &str, fallback: bool) -> Verdict {
        Verdict { answers: false, reason: reason.into(), confidence: "low", fallback, summary: String::new() }
    }

    /// For the record.
    pub(super) fn told(&self) -> Mediated {
        Mediated { answers: self.answers, reason: self.reason.clone(), fallback: self.fallback }
    }

    /// As templates see it.
    pub(super) fn value(&self) -> Value {
        Value::map([
            ("decision", Value::text(if self.answers { "answer" } else { "refuse" })),
            ("reason", Value::Text(self.reason.clone())),
            ("confidence", Value::text(self.confidence)),
            ("fallback", Value::Bool(self.fallback)),
            ("summary", Value::text(&*self.summary)),
        ])
    }
}

/// Decides about a question for which `found` of the texts `all` fit.
pub(super) fn decide(
    rules: &Mediation,
    question: &str,
    found: usize,
    all: &[&str],
    scripted: Option<&str>,
) -> Verdict {
    if found == 0 {
        return Verdict::refused("no_summary_chunks", true);
    }
    if rules.unavailable {
        return Verdict::refused("safe_summary_model_unavailable", true);
    }
    let lower = question.to_lowercase();
    if rules.refuse.iter().any(|word| lower.contains(&word.to_lowercase())) {
        return Verdict::refused("restricted_extractive_query", false);
    }
    match scripted {
        Some(text) => read(text, question, all),
        None => Verdict {
            answers: true,
            reason: "summary_allowed".into(),
            confidence: if found > 2 { "high" } else { "medium" },
            fallback: false,
            summary: String::new(),
        },
    }
}

/// The reasons that there are. What a model makes up is none of them.
const REASONS: &[&str] = &["summary_allowed", "restricted_extractive_query", "safe_summary_unclassified"];

/// Reads an answer: one JSON object, perhaps in a fence or with words around it.
fn read(text: &str, question: &str, all: &[&str]) -> Verdict {
    let failed = || Verdict::refused("safe_summary_generation_failed", true);
    let (Some(start), Some(end)) = (text.find('{'), text.rfind('}')) else { return failed() };
    let Some(object) = text.get(start..=end) else { return failed() };
    let Ok(serde_json::Value::Object(object)) = serde_json::from_str(object) else { return failed() };
    let field = |name: &str| object.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
    let reason = REASONS.iter().find(|known| **known == field("reason"));
    let summary = field("summary");
    if copies(summary, question, all) {
        return failed();
    }
    Verdict {
        answers: field("decision") == "answer",
        reason: reason.copied().unwrap_or("safe_summary_unclassified").into(),
        confidence: match field("confidence") {
            "high" => "high",
            "medium" => "medium",
            _ => "low",
        },
        fallback: false,
        summary: summary.to_owned(),
    }
}

/// True where a text has a number of one of the others, or so many characters in a row, that are not the question's own.
fn copies(text: &str, question: &str, others: &[&str]) -> bool {
    let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<Vec<char>>();
    let runs =
        |text: &str| -> BTreeSet<Vec<char>> { bare(text).windows(COPIED).map(<[char]>::to_vec).collect() };
    let (own, asked) = (runs(text), runs(question));
    let numbers = |text: &str| -> BTreeSet<String> {
        text.split(|c: char| !c.is_ascii_digit()).filter(|n| !n.is_empty()).map(str::to_owned).collect()
    };
    let (own_numbers, asked_numbers) = (numbers(text), numbers(question));
    others.iter().any(|chunk| {
        runs(chunk).iter().any(|run| own.contains(run) && !asked.contains(run))
            || numbers(chunk)
                .iter()
                .any(|number| own_numbers.contains(number) && !asked_numbers.contains(number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNKS: &[&str] = &["# 上季度销售额\n\n华东区 4821 万元，同比增长", "ZEBRA-CANARY stands here"];

    fn rules() -> Mediation {
        Mediation { refuse: vec!["原文".into(), "verbatim".into()], unavailable: false }
    }

    fn with(scripted: &str) -> Verdict {
        decide(&rules(), "销售趋势如何", 2, CHUNKS, Some(scripted))
    }

    #[test]
    fn rules_decide_without_a_model() {
        assert!(decide(&rules(), "销售趋势如何", 2, CHUNKS, None).answers);
        assert_eq!(
            decide(&rules(), "给我原文", 2, CHUNKS, None),
            Verdict::refused("restricted_extractive_query", false)
        );
        assert_eq!(
            decide(&rules(), "Quote it VERBATIM", 2, CHUNKS, None),
            Verdict::refused("restricted_extractive_query", false)
        );
        assert_eq!(decide(&rules(), "x", 0, CHUNKS, None), Verdict::refused("no_summary_chunks", true));
        let gone = Mediation { unavailable: true, ..rules() };
        assert_eq!(
            decide(&gone, "x", 2, CHUNKS, None),
            Verdict::refused("safe_summary_model_unavailable", true)
        );
    }

    #[test]
    fn an_answer_is_read_with_what_stands_around_it() {
        let told = with(
            "Sure:\n```json\n{\"decision\": \"answer\", \"reason\": \"summary_allowed\", \"confidence\": \"medium\", \"summary\": \"总体向好。\"}\n```",
        );
        assert!(told.answers && told.confidence == "medium" && told.summary == "总体向好。");
        let empty = with("{}");
        assert_eq!(
            (empty.answers, &*empty.reason, empty.confidence, empty.fallback),
            (false, "safe_summary_unclassified", "low", false)
        );
        for broken in ["", "no object", "{ not json }", "} {"] {
            assert_eq!(with(broken), Verdict::refused("safe_summary_generation_failed", true), "{broken}");
        }
        assert_eq!(
            &*with("{\"decision\":\"answer\",\"reason\":\"I made this up\"}").reason,
            "safe_summary_unclassified"
        );
    }

    #[test]
    fn an_answer_that_copies_is_dropped() {
        for copied in ["华东区增长到 4821", "It says ZEBRA-CANARY.", "上 季 度 销 售 额"] {
            let told = with(&format!("{{\"decision\":\"answer\",\"summary\":\"{copied}\"}}"));
            assert_eq!(told, Verdict::refused("safe_summary_generation_failed", true), "{copied}");
        }
        // What the question says may be said again.
        let asked = "上季度销售额 4821 对吗";
        assert!(!copies("上季度销售额", asked, CHUNKS) && !copies("4821", asked, CHUNKS));
    }
}
