//! A bench file, read: the bench as it is written, and with any of its variants.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::core::bench::Bench;
use crate::core::diagnostic::{Diagnostic, Position, Severity};
use crate::core::fact::{FilePath, Found, Name};
use crate::core::text::Source;

use super::decode::{self, Files};
use super::node::Node;
use super::shape::{NOT_BUILT, Problems};
use super::suggest;
use super::variant::{self, Variant};

/// A bench file as a tree, before it means anything.
#[derive(Clone, Debug)]
pub struct Document {
    source: Arc<Source>,
    root: Arc<Node>,
    variants: Vec<Variant>,
    builtin: bool,
}

/// A bench with a set of variants applied, and what its author should know about it.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The file, for other variants.
    pub document: Document,
    /// The bench.
    pub bench: Bench,
    /// Warnings and notes. No errors.
    pub warnings: Vec<Diagnostic>,
}

/// True for a message about something that this version reads but does not do; false for a mistake.
#[must_use]
pub fn is_not_built(diagnostic: &Diagnostic) -> bool {
    diagnostic.message.starts_with(NOT_BUILT)
}

/// Reads a bench: `text` is the content of `file`, as the user would name it, and `variants` are applied in order.
///
/// Every variant of the file is checked, chosen or not; what a variant that is not chosen needs and this version does
/// not do is a warning.
///
/// # Errors
///
/// Everything that is wrong with the bench, its templates and its tables, ordered by place; at least one is an error.
pub fn open(
    file: &str,
    text: impl Into<Arc<str>>,
    variants: &[Name],
    files: &mut dyn Files,
) -> Result<Opened, Vec<Diagnostic>> {
    Document::parse(file, text)?.open(variants, files)
}

impl Document {
    /// Reads the YAML of a bench.
    ///
    /// # Errors
    ///
    /// What is not YAML, and duplicate keys.
    pub fn parse(file: &str, text: impl Into<Arc<str>>) -> Result<Document, Vec<Diagnostic>> {
        let source = Source::file(file, text);
        let root = super::parse(&source.name, &source.text)?;
        Ok(Document { variants: variant::all(&root), source, root, builtin: false })
    }

    /// The same document, read as one of the program's own: it may name folders outside its own.
    #[must_use]
    pub(crate) fn builtin(mut self) -> Document {
        self.builtin = true;
        self
    }

    /// The variants, in the order of the file.
    #[must_use]
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }

    /// The file and its text.
    #[must_use]
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// The tree of the file, without variants.
    #[must_use]
    pub fn root(&self) -> &Arc<Node> {
        &self.root
    }

    /// The bench with some variants applied in the order given, with warnings; the other variants are not looked at.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with that bench.
    pub fn bench(
        &self,
        variants: &[Name],
        files: &mut dyn Files,
    ) -> Result<(Bench, Vec<Diagnostic>), Vec<Diagnostic>> {
        match self.decode(variants, files) {
            (Some(bench), problems) => Ok((bench, sorted(problems, &self.source.name))),
            (None, problems) => Err(sorted(problems, &self.source.name)),
        }
    }

    /// As [`open`], for a document that was read already.
    ///
    /// # Errors
    ///
    /// As [`open`].
    pub fn open(self, variants: &[Name], files: &mut dyn Files) -> Result<Opened, Vec<Diagnostic>> {
        // Templates are the same files in each variant: read them once.
        let mut known: BTreeMap<FilePath, Found> = BTreeMap::new();
        let mut files =
            |path: &FilePath| known.entry(path.clone()).or_insert_with(|| files.read(path)).clone();
        let (bench, mut problems) = self.decode(variants, &mut files);
        let mut add = |found: Vec<Diagnostic>, chosen: bool| {
            for mut problem in found {
                if !chosen && is_not_built(&problem) && !problems.contains(&problem) {
                    problem.severity = Severity::Warning;
                }
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
        };
        if !variants.is_empty() {
            add(self.decode(&[], &mut files).1, true);
        }
        for variant in &self.variants {
            if variants != [variant.name.clone()] {
                add(self.decode(std::slice::from_ref(&variant.name), &mut files).1, false);
            }
        }
        let problems = sorted(problems, &self.source.name);
        match bench {
            Some(bench) if problems.iter().all(|p| p.severity != Severity::Error) => {
                Ok(Opened { document: self, bench, warnings: problems })
            }
            _ => Err(problems),
        }
    }

    fn decode(&self, variants: &[Name], files: &mut dyn Files) -> (Option<Bench>, Vec<Diagnostic>) {
        let mut root = self.root.clone();
        let mut problems =
            Problems { file: self.source.name.clone(), text: &self.source.text, list: Vec::new() };
        for name in variants {
            match self.variants.iter().find(|variant| variant.name == *name) {
                Some(variant) => variant::apply(&mut root, variant, &mut problems),
                None => {
                    let known: Vec<&str> = self.variants.iter().map(|variant| &*variant.name).collect();
                    let mut problem = Diagnostic::error(format!("there is no variant `{name}`"));
                    problem = problem.in_file(self.source.name.clone());
                    problem.hint =
                        suggest::hint(name, known).or(Some("this bench has no variants".to_owned()));
                    problems.push(problem);
                }
            }
        }
        let told = problems.list;
        let (bench, mut list) = decode::bench(&self.source, &root, self.builtin, files);
        let bench = bench.filter(|_| told.is_empty());
        list.splice(0..0, told);
        (bench, list)
    }
}

/// Errors first in the bench file, then in others, each by place.
fn sorted(mut problems: Vec<Diagnostic>, bench: &Name) -> Vec<Diagnostic> {
    problems.sort_by_key(|problem| {
        let other = problem.file.as_ref().filter(|file| *file != bench).cloned();
        (other, problem.at.unwrap_or(Position::START))
    });
    problems
}
