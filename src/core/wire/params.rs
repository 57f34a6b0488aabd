//! Parameters of a request that stand outside of its text, and on which a cache can depend.

use std::collections::BTreeMap;

use super::Format;
use crate::core::fact::{EventId, Name};

/// A parameter with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// The value, as the bench says it: `high`, `true`.
    pub value: Name,
    /// The event that chose it.
    pub cause: EventId,
}

/// The parameters of a request, by name. One that is not there has the provider's default, whatever that is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Params(pub BTreeMap<Name, Param>);

/// The parameters that a bench can name, with what each is.
pub const PARAMS: [(&str, &str); 15] = [
    ("thinking", "how the model thinks: `adaptive`, `enabled`, `disabled`"),
    ("effort", "how hard it thinks: `low`, `medium`, `high`"),
    ("tool_choice", "which tools it may call: `auto`, `any`, `none`, `required`"),
    ("parallel_tool_calls", "whether it may call several tools at once"),
    ("speed", "`standard` or `fast`"),
    ("service_tier", "the tier that serves it: `auto`, `default`, `flex`, `priority`"),
    ("inference_geo", "where it is worked out: `us`, or `global`"),
    ("batch", "whether it is sent in a batch, to be answered later for less"),
    ("verbosity", "how long its answers are: `low`, `medium`, `high`"),
    ("text_format", "the format of its answer: `text`, `json_object`, or the name of a schema"),
    ("web_search", "whether the provider's web search is on"),
    ("citations", "whether citations are on"),
    (
        "cache_mode",
        "`automatic`: the provider marks the end, too; `explicit`: it uses the request's own marks only",
    ),
    ("cache_ttl", "how long what the whole request stores shall live: `5m`, `30m`, `1h`"),
    ("prompt_cache_key", "the key by which requests are sent to the same machine"),
];

impl Params {
    /// The value of a parameter.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|param| &*param.value)
    }

    /// The names of the parameters that are not what they were, in order.
    #[must_use]
    pub fn changed_since(&self, old: &Params) -> Vec<Name> {
        let mut names: Vec<Name> = self.0.keys().chain(old.0.keys()).cloned().collect();
        names.sort();
        names.dedup();
        names.retain(|name| self.get(name) != old.get(name));
        names
    }

    /// Chooses these values by an event; none lets the provider's default hold again. True when something changed.
    pub fn choose<'a>(
        &mut self,
        values: impl IntoIterator<Item = (&'a Name, &'a Option<Name>)>,
        cause: EventId,
    ) -> bool {
        let mut changed = false;
        for (name, value) in values {
            if self.get(name) == value.as_deref() {
                continue;
            }
            changed = true;
            match value {
                Some(value) => {
                    self.0.insert(name.clone(), Param { value: value.clone(), cause });
                }
                None => {
                    self.0.remove(name);
                }
            }
        }
        changed
    }

    /// The members of a body that say them, as key and JSON, in the order of their names. What a format has no member
    /// for is left out: a server tool, say, is a tool and no parameter.
    #[must_use]
    pub fn members(&self, format: Format) -> Vec<(&'static str, String)> {
        let text = |value: &str| serde_json::Value::from(value).to_string();
        let typed = |value: &str| format!("{{\"type\":{}}}", text(value));
        let mut members: Vec<(&'static str, String)> = Vec::new();
        let serial = self.get("parallel_tool_calls") == Some("false");
        for (name, param) in &self.0 {
            let value = &*param.value;
            let member = match (format, &**name) {
                (Format::Anthropic, "thinking") => ("thinking", typed(value)),
                (Format::Anthropic, "effort") => ("output_config", format!("{{\"effort\":{}}}", text(value))),
                (Format::Anthropic, "tool_choice") if serial => {
                    let choice = text(value);
                    ("tool_choice", format!("{{\"type\":{choice},\"disable_parallel_tool_use\":true}}"))
                }
                (Format::Anthropic, "tool_choice") => ("tool_choice", typed(value)),
                // The API knows it only beside a choice, whose default is this.
                (Format::Anthropic, "parallel_tool_calls") if serial && self.get("tool_choice").is_none() => {
                    ("tool_choice", "{\"type\":\"auto\",\"disable_parallel_tool_use\":true}".to_owned())
                }
                (Format::Anthropic, "cache_mode") if value == "automatic" => {
                    let ttl = self.get("cache_ttl").map(|ttl| format!(",\"ttl\":{}", text(ttl)));
                    ("cache_control", format!("{{\"type\":\"ephemeral\"{}}}", ttl.unwrap_or_default()))
                }
                (Format::OpenaiChat | Format::OpenaiResponses, "cache_mode" | "cache_ttl") => {
                    if members.iter().any(|(key, _)| *key == "prompt_cache_options") {
                        continue;
                    }
                    let mode = match self.get("cache_mode") {
                        Some("automatic") => Some("implicit"),
                        mode => mode,
                    };
                    let mode = mode.map(|mode| format!("\"mode\":{}", text(mode)));
                    let ttl = self.get("cache_ttl").map(|ttl| format!("\"ttl\":{}", text(ttl)));
                    let both: Vec<String> = [mode, ttl].into_iter().flatten().collect();
                    ("prompt_cache_options", format!("{{{}}}", both.join(",")))
                }
                (Format::Anthropic, "speed") => ("speed", text(value)),
                (Format::Anthropic, "inference_geo") => ("inference_geo", text(value)),
                (Format::OpenaiChat, "effort") => ("reasoning_effort", text(value)),
                (Format::OpenaiChat, "verbosity") => ("verbosity", text(value)),
                (Format::OpenaiChat, "text_format") => ("response_format", typed(value)),
                (Format::OpenaiResponses, "effort") => {
                    ("reasoning", format!("{{\"effort\":{}}}", text(value)))
                }
                (Format::OpenaiResponses, "text_format" | "verbosity") => {
                    if members.iter().any(|(key, _)| *key == "text") {
                        continue;
                    }
                    let format = self.get("text_format").map(|value| format!("\"format\":{}", typed(value)));
                    let verbosity =
                        self.get("verbosity").map(|value| format!("\"verbosity\":{}", text(value)));
                    let both: Vec<String> = [format, verbosity].into_iter().flatten().collect();
                    ("text", format!("{{{}}}", both.join(",")))
                }
                (Format::OpenaiChat | Format::OpenaiResponses, "tool_choice") => ("tool_choice", text(value)),
                (Format::OpenaiChat | Format::OpenaiResponses, "parallel_tool_calls") => {
                    ("parallel_tool_calls", value.to_owned())
                }
                (Format::OpenaiChat | Format::OpenaiResponses, "prompt_cache_key") => {
                    ("prompt_cache_key", text(value))
                }
                (Format::Anthropic | Format::OpenaiChat | Format::OpenaiResponses, "service_tier") => {
                    ("service_tier", text(value))
                }
                (Format::Gemini, "tool_choice") => {
                    let mode = text(&value.to_ascii_uppercase());
                    ("toolConfig", format!("{{\"functionCallingConfig\":{{\"mode\":{mode}}}}}"))
                }
                _ => continue,
            };
            members.push(member);
        }
        members
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(values: &[(&str, &str)]) -> Params {
        let param = |value: &str| Param { value: value.into(), cause: EventId(2) };
        Params(values.iter().map(|(name, value)| ((*name).into(), param(value))).collect())
    }

    #[test]
    fn changes_are_told_by_value_and_not_by_event() {
        let old = params(&[("effort", "high"), ("speed", "fast")]);
        let mut new = old.clone();
        assert!(!new.choose([(&"effort".into(), &Some("high".into()))], EventId(9)));
        assert_eq!(new.changed_since(&old), Vec::<Name>::new());
        assert!(
            new.choose(
                [(&"speed".into(), &None), (&"thinking".into(), &Some("adaptive".into()))],
                EventId(9)
            )
        );
        assert_eq!(new.changed_since(&old), ["speed".into(), "thinking".into()] as [Name; 2]);
        assert_eq!(new.0["thinking"].cause, EventId(9));
    }

    #[test]
    fn what_a_request_asks_of_the_cache_is_said_in_each_format() {
        let asked = params(&[("cache_mode", "automatic"), ("cache_ttl", "1h")]);
        assert_eq!(
            asked.members(Format::Anthropic),
            [("cache_control", r#"{"type":"ephemeral","ttl":"1h"}"#.to_owned())]
        );
        assert_eq!(
            asked.members(Format::OpenaiResponses),
            [("prompt_cache_options", r#"{"mode":"implicit","ttl":"1h"}"#.to_owned())]
        );
        assert_eq!(params(&[("cache_mode", "explicit")]).members(Format::Anthropic), []);
    }

    #[test]
    fn each_format_says_them_in_its_own_way() {
        let all = params(&[
            ("effort", "low"),
            ("parallel_tool_calls", "false"),
            ("text_format", "json_object"),
            ("thinking", "adaptive"),
            ("verbosity", "low"),
        ]);
        let written = |format| {
            let members = all.members(format);
            members.iter().map(|(key, json)| format!("{key}={json}")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            written(Format::Anthropic),
            "output_config={\"effort\":\"low\"} tool_choice={\"type\":\"auto\",\"disable_parallel_tool_use\":true} \
             thinking={\"type\":\"adaptive\"}"
        );
        assert_eq!(
            written(Format::OpenaiResponses),
            "reasoning={\"effort\":\"low\"} parallel_tool_calls=false \
             text={\"format\":{\"type\":\"json_object\"},\"verbosity\":\"low\"}"
        );
        assert_eq!(written(Format::Gemini), "");
        for format in Format::ALL {
            for (_, json) in all.members(format) {
                assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{json}");
            }
        }
    }
}
