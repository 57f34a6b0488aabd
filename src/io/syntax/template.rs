//! Checks of templates and expressions: that they compile, and that every name, filter and field in them exists.

use std::collections::BTreeMap;

use minijinja::{Environment, ErrorKind};

use crate::core::bench::Expression;
use crate::core::diagnostic::{Diagnostic, Position};
use crate::core::fact::{Name, Rev};
use crate::core::source::names::{BUILTINS, is_builtin};
use crate::core::source::{delimiters, environment, template_error};
use crate::core::text::Source;

use super::node::Node;
use super::shape::{NOT_BUILT, Problems};
use super::suggest;
use super::tokens::{self, Role, Token};

/// What a template is for, which decides what it sees beside facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// A layer, a condition.
    Layer,
    /// The item of an `each`.
    Item,
    /// The frame around items.
    EachFrame,
    /// The frame around lines.
    LinesFrame,
    /// What a tool returns that searches.
    Found,
    /// The same where the model must not see what was found.
    FoundInPrivate,
    /// The expressions of a preview.
    Body,
}

impl Scope {
    /// The names that only some templates see, with where.
    const ONLY: &'static [(&'static str, Scope, &'static str)] = &[
        ("item", Scope::Item, "in the item template and `where` of an `each` layer"),
        ("loop_index", Scope::Item, "in the item template of an `each` layer"),
        ("items", Scope::EachFrame, "in the frame of an `each` layer"),
        ("lines", Scope::LinesFrame, "in the frame of a `lines` layer"),
        ("found", Scope::Found, "in the texts of a tool that searches"),
        ("body", Scope::Body, "in the expressions of a preview"),
    ];

    /// The scope whose names it has.
    fn outer(self) -> Scope {
        if self == Scope::FoundInPrivate { Scope::Found } else { self }
    }
}

/// The names of a bench.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    /// Its facts and reads.
    pub(super) values: Vec<Name>,
    /// The fields of its agent.
    pub(super) agent: Vec<Name>,
}

impl Names {
    pub(super) fn knows(&self, name: &str) -> bool {
        self.values.iter().any(|known| &**known == name) || is_builtin(name)
    }

    pub(super) fn hint(&self, name: &str) -> Option<String> {
        let known = || self.values.iter().map(|n| &**n);
        if let Some(near) = suggest::nearest(name, known().chain(BUILTINS.iter().map(|(name, _)| *name))) {
            return Some(format!("did you mean `{near}`?"));
        }
        Some(match suggest::hint(name, known().collect::<Vec<_>>()) {
            Some(known) => {
                format!("{known}, and what Plywood supplies: `cwd`, `now`, `said`, `agent.role` ...")
            }
            None => "this bench has no facts or reads; Plywood supplies `cwd`, `now`, `said` ...".to_owned(),
        })
    }

    fn fields(&self, map: &str, scope: Scope) -> Option<Vec<&str>> {
        Some(match map {
            "agent" => {
                let own: Vec<&str> = self.agent.iter().map(|name| &**name).collect();
                let always = ["id", "role", "session", "goal"].into_iter().filter(|name| !own.contains(name));
                own.iter().copied().chain(always).collect()
            }
            "model" => vec!["id", "provider", "name"],
            "found" => {
                let private = scope == Scope::FoundInPrivate;
                vec!["query", "total", "selected", "documents", if private { "verdict" } else { "hits" }]
            }
            "call" => vec!["number", "turn", "tools", "arguments", "results", "turn_results"],
            _ => return None,
        })
    }
}

/// What was checked: the source's name and place, its text and what it is for.
type Memo = BTreeMap<(Name, Position, Rev, Scope), Vec<Diagnostic>>;

/// Checks templates and expressions of a bench. The variants of a bench have most of them in common, so what was checked
/// under the same names is not checked again.
pub(super) struct Checker {
    env: Environment<'static>,
    pub(super) names: Names,
    memo: Memo,
}

impl Checker {
    pub(super) fn new() -> Checker {
        Checker { env: environment(), names: Names::default(), memo: Memo::new() }
    }

    /// Sets the names that are known from now on.
    pub(super) fn set_names(&mut self, names: Names) {
        if self.names != names {
            self.names = names;
            self.memo.clear();
        }
    }

    /// What `check` finds wrong with a source, from memory where it is there.
    fn once(
        &mut self,
        source: &Source,
        scope: Scope,
        problems: &mut Problems<'_>,
        check: impl FnOnce(&Checker, &mut Problems<'_>),
    ) -> bool {
        let key = (source.name.clone(), source.start, source.rev, scope);
        if !self.memo.contains_key(&key) {
            let mut own = Problems { file: problems.file.clone(), text: problems.text, list: Vec::new() };
            check(self, &mut own);
            self.memo.insert(key.clone(), own.list);
        }
        let found = &self.memo[&key];
        found.iter().for_each(|problem| problems.push(problem.clone()));
        found.is_empty()
    }

    /// Checks a template and adds what is wrong with it.
    pub(super) fn template(&mut self, source: &Source, scope: Scope, problems: &mut Problems<'_>) {
        self.once(source, scope, problems, |checker, problems| {
            checker.check_template(source, scope, problems);
        });
    }

    fn check_template(&self, source: &Source, scope: Scope, problems: &mut Problems<'_>) {
        let template = match self.env.template_from_named_str(&source.name, &source.text) {
            Ok(template) => template,
            Err(error) => {
                let mut problem = template_error(source, &error);
                if problem.file.as_ref() == Some(&problems.file)
                    && let Some(at) = problem.at
                {
                    let hint = problem.hint.take();
                    problem = Diagnostic::error(problem.message).at(problems.file.clone(), problems.text, at);
                    problem.hint = hint;
                }
                return problems.push(problem);
            }
        };
        let tokens = tokens::template(&source.text);
        let mut undeclared: Vec<String> = template.undeclared_variables(true).into_iter().collect();
        undeclared.sort();
        self.names_of(&undeclared, &tokens, scope, &mut |byte, message, hint| {
            report(problems, source, byte, message, hint);
        });
    }

    /// Checks an expression of the bench; none when something is wrong with it.
    pub(super) fn expression(
        &mut self,
        node: &Node,
        scope: Scope,
        problems: &mut Problems<'_>,
    ) -> Option<Expression> {
        let source = node.source(&problems.file, problems.text);
        let right = self.once(&source, scope, problems, |checker, problems| {
            checker.check_expression(&source, scope, problems);
        });
        right.then(|| Expression { text: node.text.clone(), at: source.position(0) })
    }

    fn check_expression(&self, source: &Source, scope: Scope, problems: &mut Problems<'_>) {
        let compiled = match self.env.compile_expression(&source.text) {
            Ok(compiled) => compiled,
            Err(error) => {
                let stumbled = error.range().map_or(0, |range| range.start.min(source.text.len()));
                let unclosed = delimiters::of_expression(&source.text).filter(|one| one.at <= stumbled);
                let (byte, detail) = match &unclosed {
                    Some(unclosed) => (unclosed.at, &*unclosed.said),
                    None => (stumbled, error.detail().unwrap_or("it cannot be read")),
                };
                let hint = "such as `agent.role == \"main\" and cards`, without braces";
                return report(
                    problems,
                    source,
                    byte,
                    format!("in this expression: {detail}"),
                    Some(hint.to_owned()),
                );
            }
        };
        let mut undeclared: Vec<String> = compiled.undeclared_variables(true).into_iter().collect();
        undeclared.sort();
        let tokens = tokens::expression(&source.text);
        self.names_of(&undeclared, &tokens, scope, &mut |byte, message, hint| {
            report(problems, source, byte, message, hint);
        });
    }

    /// Checks the names that a template or expression needs from outside (`a` or `a.b`), its filters and its tests.
    fn names_of(
        &self,
        undeclared: &[String],
        tokens: &[Token<'_>],
        scope: Scope,
        report: &mut dyn FnMut(usize, String, Option<String>),
    ) {
        for path in undeclared {
            let (name, field) = path.split_once('.').map_or((path.as_str(), None), |(a, b)| (a, Some(b)));
            let place = |token: &&Token<'_>| token.role == Role::Name && token.text == name;
            let at = tokens.iter().position(|token| place(&token));
            let byte = at.map_or(0, |index| tokens[index].start);
            if name == "loop" || self.env.globals().any(|(global, _)| global == name) {
                continue;
            }
            if let Some((_, only, place)) =
                Scope::ONLY.iter().find(|(n, only, _)| *n == name && *only != scope.outer())
                && !self.names.values.iter().any(|known| &**known == name)
            {
                let _ = only;
                report(byte, format!("`{name}` is not known here"), Some(format!("it is known {place}")));
                continue;
            }
            if !self.names.knows(name) {
                let message = format!("undefined name `{name}`");
                report(byte, message, self.names.hint(name));
                continue;
            }
            let Some(field) = field.and_then(|field| field.split('.').next()) else { continue };
            if let Some(fields) = self.names.fields(name, scope)
                && !fields.contains(&field)
                && let Some(token) = tokens.windows(2).find_map(|pair| {
                    let is = pair[0].text == name && pair[1].role == Role::Field && pair[1].text == field;
                    is.then_some(&pair[1])
                })
            {
                let hint = suggest::hint(field, fields);
                report(token.start, format!("`{name}` has no field `{field}`"), hint);
            }
        }
        for token in tokens {
            match token.role {
                Role::Filter if !self.has_filter(token.text) => {
                    let hint = "filters are those of minijinja and `cut`, `clean`, `xml`, `search`, `day`, `minute`, `stamp`, `iso_ms`";
                    report(token.start, format!("unknown filter `{}`", token.text), Some(hint.to_owned()));
                }
                Role::Test if !self.has_test(token.text) => {
                    let hint = "tests are those of minijinja, such as `defined` or `string`";
                    report(token.start, format!("unknown test `{}`", token.text), Some(hint.to_owned()));
                }
                Role::Statement if matches!(token.text, "include" | "import" | "from" | "extends") => {
                    let hint = "use a layer for each file, or `from: { fact: ... }`".to_owned();
                    report(token.start, format!("{NOT_BUILT}: `{}` in templates", token.text), Some(hint));
                }
                _ => {}
            }
        }
    }
}

impl Checker {
    // The library tells an unknown name from a wrong call, and lists neither filters nor tests.
    fn has_filter(&self, name: &str) -> bool {
        let applied = self.env.empty_state().apply_filter(name, &[]);
        !applied.is_err_and(|error| error.kind() == ErrorKind::UnknownFilter)
    }

    fn has_test(&self, name: &str) -> bool {
        let performed = self.env.empty_state().perform_test(name, &[]);
        !performed.is_err_and(|error| error.kind() == ErrorKind::UnknownTest)
    }
}

/// Adds an error at a byte of a source, which may be a file of its own or a scalar of the bench.
fn report(problems: &mut Problems<'_>, source: &Source, byte: usize, message: String, hint: Option<String>) {
    let at = source.position(byte);
    let text = if source.name == problems.file { problems.text } else { &source.text };
    let mut problem = Diagnostic::error(message).at(source.name.clone(), text, at);
    problem.hint = hint;
    problems.push(problem);
}
