//! What a text is written in.

use std::sync::Arc;

use crate::app::snapshot::{BlockRow, PartRow};
use crate::core::diagnostic::Position;
use crate::core::text::Made;
use crate::core::wire::BlockKind;

/// What a text is written in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Language {
    /// Markdown with tags, as prompts are; with what a template writes values for, where it is one.
    Prompt {
        /// True for the text of a template.
        template: bool,
    },
    /// JSON.
    Json,
    /// Anything else that the highlighter may know, by a token such as `yaml`, `xml` or `rs`.
    Other {
        /// The token: a file's ending, or the word behind a fence.
        token: Arc<str>,
        /// True where templates may stand in it.
        template: bool,
    },
}

impl Language {
    /// A prompt.
    pub const PROMPT: Language = Language::Prompt { template: false };

    /// The language of a file, by its name.
    #[must_use]
    pub fn of_file(name: &str, template: bool) -> Language {
        let name = name.rsplit(['/', '\\']).next().unwrap_or(name).to_lowercase();
        // A template carries the ending of what it makes in front of its own.
        let stem = [".j2", ".jinja", ".jinja2", ".tmpl"].iter().find_map(|end| name.strip_suffix(end));
        let template = template || stem.is_some();
        match stem.unwrap_or(&name).rsplit_once('.') {
            Some((_, "json" | "jsonl" | "ndjson")) => Language::Json,
            None | Some((_, "md" | "mdc" | "markdown" | "txt" | "prompt")) => Language::Prompt { template },
            Some((_, "yml")) => Language::Other { token: "yaml".into(), template },
            Some((_, end)) => Language::Other { token: end.into(), template },
        }
    }

    /// The language of the word behind a fence; none for a fence without one.
    pub(super) fn of_fence(info: &str) -> Option<Language> {
        let word = info.split([' ', ',', '{', '\t']).next().unwrap_or_default().to_lowercase();
        Some(match &*word {
            "" | "text" | "txt" | "plain" | "markdown" | "md" => return None,
            "json" | "jsonc" | "json5" | "jsonl" => Language::Json,
            "yml" => Language::Other { token: "yaml".into(), template: false },
            other => Language::Other { token: other.into(), template: false },
        })
    }

    /// The language of a part of a request: that of the file which it was copied from, else what such blocks hold, else
    /// what it looks like.
    #[must_use]
    pub fn of_part(block: &BlockRow, part: &PartRow) -> Language {
        if matches!(block.kind, BlockKind::Tool | BlockKind::ToolUse) {
            return Language::Json;
        }
        let text = block.text.text().get(part.range.clone()).unwrap_or_default();
        // The separator in front of a part is no part of the file.
        let first = block.text.span_at(part.range.start);
        let first =
            first.and_then(
                |(range, span)| {
                    if span.glue { block.text.span_at(range.end) } else { Some((range, span)) }
                },
            );
        if let Some((range, span)) = first
            && let Made::Verbatim { source, at: 0 } = &span.origin.made
            && range.end >= part.range.end
            && source.start == Position::START
            && source.jumps.is_empty()
        {
            return Language::of_file(&source.name, false);
        }
        if looks_like_json(text) { Language::Json } else { Language::PROMPT }
    }

    /// What tells the paints of one text in two languages apart.
    pub(super) fn seed(&self) -> u64 {
        match self {
            Language::Prompt { template } => 1 + u64::from(*template),
            Language::Json => 3,
            Language::Other { token, template } => {
                4 + u64::from(*template) + (xxhash_rust::xxh3::xxh3_64(token.as_bytes()) << 3)
            }
        }
    }
}

/// True for what begins and ends as a JSON object or list does; cheap, since it is asked for each part of each frame.
fn looks_like_json(text: &str) -> bool {
    let text = text.trim();
    let inside = |open: char, close: char| text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    if let Some(inside) = inside('{', '}') {
        return matches!(inside.trim_start().bytes().next(), None | Some(b'"'));
    }
    let list = inside('[', ']').map(|inside| inside.trim_start().bytes().next());
    matches!(list, Some(Some(b'{' | b'"' | b'[')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_language_of_their_ending() {
        let other = |token: &str, template| Language::Other { token: token.into(), template };
        for (name, want) in [
            ("AGENTS.md", Language::PROMPT),
            ("src/prompt.md.j2", Language::Prompt { template: true }),
            ("tools.json", Language::Json),
            ("bench.yaml", other("yaml", false)),
            ("a.b/list.yml.jinja", other("yaml", true)),
            ("C:\\x\\Makefile", Language::PROMPT),
            ("main.rs", other("rs", false)),
        ] {
            assert_eq!(Language::of_file(name, false), want, "{name}");
        }
        assert_eq!(Language::of_fence("rust,ignore"), Some(other("rust", false)));
        assert_eq!(Language::of_fence(""), None);
    }

    #[test]
    fn json_is_known_by_its_ends() {
        for (text, want) in [
            (" {\"a\": 1}\n", true),
            ("{}", true),
            ("[{\"a\":1}]", true),
            ("[1]", false),
            ("{{ cwd }}", false),
            ("[link](x)", false),
            ("{", false),
        ] {
            assert_eq!(looks_like_json(text), want, "{text}");
        }
    }
}
