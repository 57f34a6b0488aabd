//! Whose model a recording was sent to.

use crate::core::wire::{Document, Format};

/// Beginnings of the names of models, with who makes them.
const MAKERS: &[(&str, &str)] = &[
    ("claude", "anthropic"),
    ("gpt-", "openai"),
    ("chatgpt", "openai"),
    ("codex", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("gemini", "google"),
    ("deepseek", "deepseek"),
    ("grok", "xai"),
    ("kimi", "moonshot"),
    ("moonshot", "moonshot"),
    ("qwen", "qwen"),
    ("glm", "zai"),
    ("minimax", "minimax"),
    ("doubao", "doubao"),
    ("mistral", "mistral"),
];

/// The model as `provider:model`. Who makes it is told by its name, else by the format.
pub(super) fn model(recorded: &Document) -> String {
    let usual = match recorded.format {
        Format::Anthropic => "anthropic",
        Format::OpenaiChat | Format::OpenaiResponses => "openai",
        Format::Gemini => "google",
    };
    let Some(model) = recorded.model.as_deref().filter(|model| !model.trim().is_empty()) else {
        return format!("{usual}:unknown");
    };
    // Gateways put the maker in front.
    let name = model.rsplit_once('/').map_or(model, |(_, name)| name).to_ascii_lowercase();
    let maker = MAKERS.iter().find(|(start, _)| name.starts_with(start)).map_or(usual, |(_, maker)| maker);
    format!("{maker}:{model}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_has_a_maker() {
        for (body, wanted) in [
            (r#"{"model":"gpt-5.4","input":"x"}"#, "openai:gpt-5.4"),
            (r#"{"model":"deepseek-chat","messages":[]}"#, "deepseek:deepseek-chat"),
            (
                r#"{"model":"anthropic/claude-sonnet-4.5","messages":[]}"#,
                "anthropic:anthropic/claude-sonnet-4.5",
            ),
            (r#"{"model":"my-model","system":"s","messages":[]}"#, "anthropic:my-model"),
            (r#"{"contents":[]}"#, "google:unknown"),
        ] {
            assert_eq!(model(&Document::read(body).expect("a request")), wanted);
        }
    }
}
