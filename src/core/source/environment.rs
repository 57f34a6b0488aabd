//! The template language: minijinja with undefined names as errors, exact newlines, and filters for prompts.

use std::collections::BTreeMap;
use std::sync::Arc;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value as Jinja;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};

use super::delimiters;
use crate::core::diagnostic::{Diagnostic, Position, Severity};
use crate::core::fact::Rev;
use crate::core::search as core_search;
use crate::core::text::Source;

/// The environment in which every template and expression of a bench is compiled.
#[must_use]
pub fn environment() -> Environment<'static> {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    // The defaults of the syntax are always valid; building them cannot fail.
    if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
        env.set_syntax(syntax);
    }
    env.set_auto_escape_callback(|_| AutoEscape::None);
    env.set_debug(true);
    env.add_filter("cut", cut);
    env.add_filter("clean", clean);
    env.add_filter("xml", xml);
    env.add_filter("search", search);
    env.add_filter("iso_ms", |now: &str| {
        time(now).map(|t| t.timestamp().strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string())
    });
    env.add_filter("day", |now: &str| time(now).map(|t| t.strftime("%Y-%m-%d").to_string()));
    env.add_filter("minute", |now: &str| time(now).map(|t| t.strftime("%Y-%m-%d %H:%M").to_string()));
    env.add_filter("stamp", |now: &str| time(now).map(|t| t.strftime("%Y-%m-%d %H:%M:%S %Z").to_string()));
    env
}

/// `cut(n, mark="...")`: at most `n` characters, the mark behind them where something was cut.
fn cut(text: &str, limit: usize, mark: Option<&str>) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}{}", &text[..end], mark.unwrap_or("...")),
        None => text.to_owned(),
    }
}

/// `clean(n, "none")`: for words that others chose and that must not break out of their line: brackets, braces, angle
/// brackets, percent signs and back-ticks become spaces, as do control characters and line ends; runs of white space
/// become one space, and at most `n` characters stay. What is empty then is the second argument, where there is one.
fn clean(text: &Jinja, limit: Option<usize>, otherwise: Option<&str>) -> String {
    let breaks_out = |c: char| matches!(c, '{' | '}' | '[' | ']' | '<' | '>' | '%' | '`') || !printable(c);
    let spaced: String = text.to_string().chars().map(|c| if breaks_out(c) { ' ' } else { c }).collect();
    let words = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = words.chars().take(limit.unwrap_or(usize::MAX)).collect::<String>().trim_end().to_owned();
    if cut.is_empty() { otherwise.unwrap_or_default().to_owned() } else { cut }
}

/// False for control characters and for those that change the direction or the width of what stands around them.
fn printable(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// `xml`: for texts inside of tags and their attributes: `&`, `<`, `>` and `"` as entities.
fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// `search(question, n)`: the chunks of the documents of a `docs:` read that fit the question best, at most `n`, the
/// best first. Also of any list of texts, or of maps with a field `text`.
fn search(list: &Jinja, question: &str, top: usize) -> Result<Jinja, Error> {
    let mut items: Vec<Jinja> = Vec::new();
    for item in list.try_iter()? {
        match item.get_attr("chunks") {
            Ok(chunks) if !chunks.is_undefined() => items.extend(chunks.try_iter()?),
            _ => items.push(item),
        }
    }
    let texts: Vec<String> = items
        .iter()
        .map(|item| match item.get_attr("text") {
            Ok(text) if !text.is_undefined() => text.to_string(),
            _ => item.to_string(),
        })
        .collect();
    let hits = core_search::search(texts.iter().map(String::as_str), question, top);
    Ok(hits.into_iter().filter_map(|hit| items.get(hit.index).cloned()).collect())
}

fn time(now: &str) -> Result<jiff::ZonedDateTime, Error> {
    parse_time(now).ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidOperation,
            format!("`{now}` is not a time such as 2026-04-01T09:00:00+08:00[Asia/Shanghai]"),
        )
    })
}

/// Reads a time: RFC 9557 text with a zone, or RFC 3339 text, which is then in UTC.
#[must_use]
pub fn parse_time(text: &str) -> Option<jiff::ZonedDateTime> {
    text.parse::<jiff::ZonedDateTime>().ok().or_else(|| {
        // A zone that nobody knows is a mistake, and no other name for UTC.
        let at = text.parse::<jiff::Timestamp>().ok().filter(|_| !text.contains('['))?;
        Some(at.to_zoned_datetime(jiff::tz::TimeZone::UTC))
    })
}

/// Compiled templates, one per source name; a new revision of a source replaces the old one.
#[derive(Clone, Debug)]
pub struct Templates {
    env: Environment<'static>,
    revisions: BTreeMap<Arc<str>, Rev>,
}

impl Default for Templates {
    fn default() -> Templates {
        Templates { env: environment(), revisions: BTreeMap::new() }
    }
}

impl Templates {
    /// The name under which a source is compiled: inline texts of one bench differ by their position.
    fn key(source: &Source) -> Arc<str> {
        if source.start == Position::START {
            source.name.clone()
        } else {
            format!("{}:{}", source.name, source.start).into()
        }
    }

    /// Compiles a source, unless this revision is compiled already.
    ///
    /// # Errors
    ///
    /// A diagnostic in the template's own file.
    pub fn compile(&mut self, source: &Source) -> Result<minijinja::Template<'_, '_>, Diagnostic> {
        let key = Templates::key(source);
        if self.revisions.get(&key) != Some(&source.rev) {
            self.revisions.remove(&key);
            self.env
                .add_template_owned(key.to_string(), source.text.to_string())
                .map_err(|error| template_error(source, &error))?;
            self.revisions.insert(key.clone(), source.rev);
        }
        self.env.get_template(&key).map_err(|error| template_error(source, &error))
    }

    /// The environment, for expressions.
    #[must_use]
    pub fn environment(&self) -> &Environment<'static> {
        &self.env
    }
}

/// Turns an error of the template language into a diagnostic in the template's file.
#[must_use]
pub fn template_error(source: &Source, error: &Error) -> Diagnostic {
    let at = match error.range() {
        Some(range) if range.end <= source.text.len() => source.position(range.start),
        _ => {
            let line = error.line().unwrap_or(1).max(1) as u32;
            let start = source.text.split_inclusive('\n').take(line as usize - 1).map(str::len).sum();
            source.position(start)
        }
    };
    let stumbled = error.range().map_or(source.text.len(), |range| range.start);
    let unclosed = (error.kind() == ErrorKind::SyntaxError)
        .then(|| delimiters::of_template(&source.text))
        .flatten()
        // What is wrong further down was not reached.
        .filter(|unclosed| unclosed.at <= stumbled);
    let (at, said) = match unclosed {
        Some(unclosed) => (source.position(unclosed.at), format!("syntax error: {}", unclosed.said)),
        None => (at, message(error)),
    };
    let mut diagnostic = Diagnostic::new(Severity::Error, said);
    diagnostic.file = Some(source.name.clone());
    diagnostic.at = Some(at);
    diagnostic.line = source.text.lines().nth((at.line - source.start.line) as usize).map(str::to_owned);
    if source.start != Position::START {
        // The line is that of a scalar, not of the file, so a caret under it would point at nothing.
        diagnostic.line = None;
    }
    match error.kind() {
        ErrorKind::UndefinedError => {
            diagnostic.hint("a name must be a fact, a read, or one of the names that Plywood supplies")
        }
        ErrorKind::SyntaxError => diagnostic
            .hint("templates are written in the Jinja language: {{ value }}, {% if x %} .. {% endif %}"),
        ErrorKind::UnknownFilter => diagnostic
            .hint("filters are those of minijinja and cut, clean, xml, search, day, minute, stamp, iso_ms"),
        _ => diagnostic,
    }
}

fn message(error: &Error) -> String {
    let kind = error.kind().to_string();
    match error.detail() {
        Some(detail) => format!("{kind}: {detail}"),
        None => kind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(template: &str) -> String {
        environment().render_str(template, minijinja::context!(now => "2026-04-01T09:00:00+08:00[Asia/Shanghai]", s => "请写一个 Fetch 函数")).unwrap()
    }

    #[test]
    fn filters_for_time_and_text() {
        assert_eq!(
            render("{{ now|day }}|{{ now|minute }}|{{ now|stamp }}|{{ now|iso_ms }}"),
            "2026-04-01|2026-04-01 09:00|2026-04-01 09:00:00 CST|2026-04-01T01:00:00.000Z"
        );
        assert_eq!(
            render("{{ s|cut(3) }}|{{ s|cut(99) }}|{{ s|cut(2, '…') }}"),
            "请写一...|请写一个 Fetch 函数|请写…"
        );
        assert_eq!(render("{{ ' a\n[b]  c '|clean(4) }}"), "a b");
        assert_eq!(
            render("{{ '<b>{x}</b>\n[y]`%'|clean }}|{{ ' \u{202e}'|clean(9, 'N/A') }}"),
            "b x /b y|N/A"
        );
        assert_eq!(render("{{ '<a b=\"&\">'|xml }}"), "&lt;a b=&quot;&amp;&quot;&gt;");
        assert_eq!(render("{{ ['x y', 'y z', 'q']|search('y z', 5) | join('|') }}"), "y z|x y");
    }

    #[test]
    fn newlines_stay_and_undefined_names_fail() {
        assert_eq!(render("a\n"), "a\n");
        assert!(environment().render_str("{{ nobody }}", ()).is_err());
    }
}
