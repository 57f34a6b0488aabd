//! The words of a template, with their places: the template library names what is undefined, but not where.

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A name, or a keyword.
    Name,
    /// A name behind a dot.
    Field,
    /// A name behind `|`.
    Filter,
    /// A name behind `is`.
    Test,
    /// The first word of a `{% %}`.
    Statement,
}

/// A word of the code in a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) start: usize,
    pub(super) text: &'a str,
    pub(super) role: Role,
}

/// The words of a template's code: what stands in `{{ }}` and `{% %}`, but not in comments and raw blocks.
pub(super) fn template(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(open) = text[at..].find('{').map(|found| at + found) {
        at = open + 2;
        match text.as_bytes().get(open + 1) {
            Some(b'#') => at = text[at..].find("#}").map_or(text.len(), |end| at + end + 2),
            Some(b'{') => at = code(text, at, "}}", false, &mut tokens),
            Some(b'%') => {
                let first = tokens.len();
                at = code(text, at, "%}", true, &mut tokens);
                if tokens.get(first).is_some_and(|token| token.text == "raw") {
                    tokens.truncate(first);
                    at = text[at..].find("endraw").map_or(text.len(), |end| at + end + "endraw".len());
                }
            }
            _ => at = open + 1,
        }
    }
    tokens
}

/// The words of an expression.
pub(super) fn expression(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    code(text, 0, "\0", false, &mut tokens);
    tokens
}

/// Reads code from `at` up to `close`; returns the byte behind it.
fn code<'a>(
    text: &'a str,
    mut at: usize,
    close: &str,
    statement: bool,
    tokens: &mut Vec<Token<'a>>,
) -> usize {
    let mut before = if statement { Some("{%") } else { None };
    let mut negated = false;
    while let Some(c) = text[at..].chars().next() {
        if text[at..].starts_with(close) {
            return at + close.len();
        }
        if c == '"' || c == '\'' {
            at = string(text, at, c);
            before = None;
        } else if c.is_alphabetic() || c == '_' {
            let end = at
                + text[at..]
                    .char_indices()
                    .find(|(_, c)| !(c.is_alphanumeric() || *c == '_'))
                    .map_or(text.len() - at, |(end, _)| end);
            let word = &text[at..end];
            let role = match before {
                Some("{%") => Role::Statement,
                Some(".") => Role::Field,
                Some("|") => Role::Filter,
                Some("is") => Role::Test,
                _ => Role::Name,
            };
            // `is not defined`
            if role == Role::Test && word == "not" && !negated {
                negated = true;
            } else {
                let filter_block =
                    tokens.last().is_some_and(|t| t.role == Role::Statement && t.text == "filter")
                        && before == Some("filter");
                let role = if filter_block { Role::Filter } else { role };
                tokens.push(Token { start: at, text: word, role });
                negated = false;
                before = Some(if role == Role::Field { "" } else { word });
            }
            at = end;
        } else {
            // The `-` of `{%-` is part of the brace.
            let brace = before == Some("{%") && matches!(c, '-' | '+');
            if !brace && !c.is_whitespace() {
                before = Some(&text[at..at + c.len_utf8()]);
            }
            at += c.len_utf8();
        }
    }
    text.len()
}

/// The byte behind a string that starts at `at`.
fn string(text: &str, at: usize, quote: char) -> usize {
    let mut chars = text[at + 1..].char_indices();
    while let Some((index, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == quote {
            return at + 1 + index + 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(text: &str) -> Vec<String> {
        template(text).iter().map(|t| format!("{:?} {}", t.role, t.text)).collect()
    }

    #[test]
    fn words_have_roles() {
        assert_eq!(
            roles(
                "x {{ a.b | cut(3, \"c | d\") }} {%- if not e is not string %}{# f #}{% raw %}{{ g }}{% endraw %}{{ h }}"
            ),
            [
                "Name a",
                "Field b",
                "Filter cut",
                "Statement if",
                "Name not",
                "Name e",
                "Name is",
                "Test string",
                "Name h"
            ]
        );
        assert_eq!(roles("{% filter upper %}a{% endfilter %}")[1], "Filter upper");
        assert_eq!(template("你 {{ 名 }}")[0].start, 7);
        assert!(template("{{ 'never closed").is_empty());
    }
}
