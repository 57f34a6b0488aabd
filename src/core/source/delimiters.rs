//! Braces, statements, brackets and quotes that are opened and not closed. The template language says where it stumbles,
//! which may be lines further down; who mends it wants to be sent to where it was opened.

/// A delimiter that is not closed, or that closes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unclosed {
    /// The byte at which it stands.
    pub at: usize,
    /// What is wrong with it, in lower case, without a full stop.
    pub said: String,
}

impl Unclosed {
    fn new(at: usize, opening: &str, closing: &str) -> Unclosed {
        Unclosed { at, said: format!("this `{opening}` is not closed with `{closing}`") }
    }

    fn of_nothing(at: usize, closing: &str) -> Unclosed {
        Unclosed { at, said: format!("this `{closing}` closes nothing") }
    }
}

/// The statements that have an end of their own.
const BLOCKS: &[&str] = &["if", "for", "macro", "call", "filter", "with", "autoescape", "block", "set"];

/// The first delimiter of a template that is not closed, or that closes nothing; none where all are in order.
#[must_use]
pub fn of_template(text: &str) -> Option<Unclosed> {
    template(text).err()
}

/// As [`of_template`], of an expression without braces around it.
#[must_use]
pub fn of_expression(text: &str) -> Option<Unclosed> {
    code(text, 0, None).err()
}

fn template(text: &str) -> Result<(), Unclosed> {
    let mut open: Vec<(usize, &str)> = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find('{').map(|found| at + found) {
        let inside = start + 2;
        match text.as_bytes().get(start + 1) {
            Some(b'{') => at = code(text, inside, Some(("{{", "}}")))?,
            Some(b'#') => {
                let end = text[inside..].find("#}").ok_or_else(|| Unclosed::new(start, "{#", "#}"))?;
                at = inside + end + 2;
            }
            Some(b'%') => {
                at = code(text, inside, Some(("{%", "%}")))?;
                let statement = trimmed(&text[inside..at - 2]);
                if word(statement) == "raw" {
                    at =
                        raw_end(text, at).ok_or_else(|| Unclosed::new(start, "{% raw %}", "{% endraw %}"))?;
                } else {
                    nest(&mut open, start, statement)?;
                }
            }
            _ => at = start + 1,
        }
    }
    match open.pop() {
        Some((at, word)) => Err(Unclosed::new(at, &format!("{{% {word} %}}"), &format!("{{% end{word} %}}"))),
        None => Ok(()),
    }
}

/// Takes a statement that begins or ends a block.
fn nest<'t>(open: &mut Vec<(usize, &'t str)>, start: usize, statement: &'t str) -> Result<(), Unclosed> {
    let word = word(statement);
    if let Some(begun) = word.strip_prefix("end").filter(|begun| BLOCKS.contains(begun)) {
        return match open.pop() {
            Some((_, innermost)) if innermost == begun => Ok(()),
            Some((at, innermost)) => {
                Err(Unclosed::new(at, &format!("{{% {innermost} %}}"), &format!("{{% end{innermost} %}}")))
            }
            None => Err(Unclosed::of_nothing(start, &format!("{{% {word} %}}"))),
        };
    }
    // `set` has an end only where it takes what stands in the text.
    if BLOCKS.contains(&word) && !(word == "set" && statement.contains('=')) {
        open.push((start, word));
    }
    Ok(())
}

/// A statement without what only says how white space around it is treated.
fn trimmed(statement: &str) -> &str {
    statement.trim_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '+'))
}

fn word(statement: &str) -> &str {
    statement.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// The byte behind the `{% endraw %}` that comes first from `at`.
fn raw_end(text: &str, at: usize) -> Option<usize> {
    text[at..].match_indices("{%").map(|(found, _)| at + found + 2).find_map(|inside| {
        let end = inside + text[inside..].find("%}")?;
        (word(trimmed(&text[inside..end])) == "endraw").then_some(end + 2)
    })
}

/// Reads code from `at` to the end of its braces, or of an expression to its own end; returns the byte behind them.
fn code(text: &str, at: usize, braces: Option<(&str, &str)>) -> Result<usize, Unclosed> {
    let mut brackets: Vec<(usize, char)> = Vec::new();
    let unclosed = |brackets: &[(usize, char)], end: usize| match (brackets.last(), braces) {
        (Some((at, bracket)), _) => Unclosed::new(*at, &bracket.to_string(), &pair(*bracket).to_string()),
        (None, Some((opening, closing))) => Unclosed::new(at - 2, opening, closing),
        (None, None) => Unclosed { at: end, said: "this expression is not complete".to_owned() },
    };
    let mut here = at;
    while let Some(c) = text[here..].chars().next() {
        let rest = &text[here..];
        let within_map = brackets.last().is_some_and(|(_, bracket)| *bracket == '{');
        if let Some((opening, closing)) = braces {
            if rest.starts_with(closing) && !(within_map && closing == "}}") {
                return match brackets.last() {
                    Some(_) => Err(unclosed(&brackets, here)),
                    None => Ok(here + 2),
                };
            }
            // Code holds no braces of a template: those in front were not closed.
            if rest.starts_with("{{") || rest.starts_with("{%") {
                return Err(Unclosed::new(at - 2, opening, closing));
            }
        }
        let wrong = match c {
            '"' | '\'' => match string(rest, c) {
                Some(length) => {
                    here += length;
                    continue;
                }
                None => Some(Unclosed::new(here, &c.to_string(), &c.to_string())),
            },
            '(' | '[' | '{' => {
                brackets.push((here, c));
                None
            }
            ')' | ']' | '}' => match brackets.pop() {
                Some((_, bracket)) if pair(bracket) == c => None,
                Some(other) => Some(unclosed(&[other], here)),
                None => Some(Unclosed::of_nothing(here, &c.to_string())),
            },
            _ => None,
        };
        if let Some(wrong) = wrong {
            return Err(match braces {
                // Where the braces do not end on the line either, this is text behind them and no code.
                Some((opening, closing)) if !rest.lines().next().unwrap_or_default().contains(closing) => {
                    Unclosed::new(at - 2, opening, closing)
                }
                _ => wrong,
            });
        }
        here += c.len_utf8();
    }
    if braces.is_some() {
        // Behind a placeholder that is not closed there is no code, so its brackets say nothing.
        return Err(unclosed(&[], here));
    }
    match brackets.is_empty() {
        true => Ok(here),
        false => Err(unclosed(&brackets, here)),
    }
}

fn pair(bracket: char) -> char {
    match bracket {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

/// The length of a string with its quotes; none where it does not end.
fn string(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return Some(at + c.len_utf8()),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(text: &str) -> Option<(usize, String)> {
        of_template(text).map(|unclosed| (unclosed.at, unclosed.said))
    }

    #[test]
    fn it_is_told_where_it_was_opened() {
        for (text, at, words) in [
            ("CWD: {{ cwd{% endif %}", 5, "this `{{` is not closed with `}}`"),
            ("a {{ cwd, b\nc {{ d }}", 2, "this `{{` is not closed with `}}`"),
            ("a {{ cwd }, {{ d }}", 9, "this `}` closes nothing"),
            ("a {{ cwd, don't\nb", 2, "this `{{` is not closed with `}}`"),
            ("a\n{{ cwd", 2, "this `{{` is not closed with `}}`"),
            ("a {{ f(x }} b", 6, "this `(` is not closed with `)`"),
            ("a {{ 'x }} b", 5, "this `'` is not closed with `'`"),
            ("{% if x %}a", 0, "this `{% if %}` is not closed with `{% endif %}`"),
            ("{% if x %}a{% if y %}b{% endif %}", 0, "this `{% if %}` is not closed with `{% endif %}`"),
            (
                "{% for a in b %}{% if a %}{% endfor %}",
                16,
                "this `{% if %}` is not closed with `{% endif %}`",
            ),
            ("a{% endif %}", 1, "this `{% endif %}` closes nothing"),
            ("a {% if x b\n{{ c }}", 2, "this `{%` is not closed with `%}`"),
            ("a {# b", 2, "this `{#` is not closed with `#}`"),
            ("a {% raw %} {{ b", 2, "this `{% raw %}` is not closed with `{% endraw %}`"),
        ] {
            assert_eq!(said(text), Some((at, words.to_owned())), "{text}");
        }
    }

    #[test]
    fn what_is_in_order_is_in_order() {
        for text in [
            "",
            "{ a } {{ b }} }} %}",
            "{{ '}}' }} {{ \"{{\" }}",
            "{{ {\"a\": {\"b\": 1}}.a }}",
            "{%- set x = 1 -%}{% set y %}a{% endset %}{% raw %}{{ {% if %}{% endraw %}",
            "{% if a %}{% elif b %}{% else %}{% endif %}{% for a in b if a %}{{ loop.index }}{% endfor %}",
            "{# {{ #}",
        ] {
            assert_eq!(said(text), None, "{text}");
        }
    }

    #[test]
    fn expressions_have_brackets_and_quotes() {
        let said = |text: &str| of_expression(text).map(|unclosed| (unclosed.at, unclosed.said));
        assert_eq!(said("a == 'b' and (c or d[0])"), None);
        assert_eq!(said("(a or (b)"), Some((0, "this `(` is not closed with `)`".to_owned())));
        assert_eq!(said("a) or b"), Some((1, "this `)` closes nothing".to_owned())));
        assert_eq!(said("a == 'b"), Some((5, "this `'` is not closed with `'`".to_owned())));
    }

    proptest! {
        /// What the template language takes is in order.
        #[test]
        fn no_template_that_can_be_read_is_blamed(text in "(\\{\\{ a \\}\\}|\\{% if a %\\}|\\{% endif %\\}|[{}%#() \"'a]){0,12}") {
            if crate::core::source::environment().template_from_str(&text).is_ok() {
                prop_assert_eq!(of_template(&text), None, "{}", text);
            }
        }

        /// Without quotes: behind a complete expression the library passes over one that is not closed.
        #[test]
        fn no_expression_that_can_be_read_is_blamed(text in "[()\\[\\]{}a ,:|=]{0,16}") {
            if crate::core::source::environment().compile_expression(&text).is_ok() {
                prop_assert_eq!(of_expression(&text), None, "{}", text);
            }
        }
    }
}
