//! What lists, inputs and questions offer: variants, models, runs, folders, programs.

use std::sync::Arc;

use crate::core::fact::Name;

/// Programs whose output a bench reads, and that its user has not allowed yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Programs {
    /// The folder of the bench.
    pub place: Arc<str>,
    /// Every program of the bench.
    pub commands: Vec<Program>,
}

/// A program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// As one would type it: `` `git log -1` ``.
    pub command: Arc<str>,
    /// Its limits: `at most 5 s and 65536 bytes`.
    pub limits: Arc<str>,
}

/// What lists and inputs offer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choices {
    /// The bench's variants, in order.
    pub variants: Vec<VariantChoice>,
    /// The models, the selected one among them.
    pub models: Vec<ModelChoice>,
    /// The runs of the bench, in order.
    pub runs: Vec<RunChoice>,
    /// The folders of the workspace as prompts see them (`/home/shop/api`), sorted, for the completion of a CWD.
    pub folders: Arc<[Arc<str>]>,
}

/// A variant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariantChoice {
    /// Its name.
    pub name: Name,
    /// True while it is applied.
    pub on: bool,
}

/// A model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelChoice {
    /// `provider:model`.
    pub id: Name,
    /// What stands beside it: `o200k, exact; 128 blocks, min 1,024; $2.50/$0.25`.
    pub about: Arc<str>,
    /// True for the selected one.
    pub on: bool,
}

/// A run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunChoice {
    /// Its name.
    pub name: Name,
    /// What stands beside it: `6 calls, 2 turns`.
    pub about: Arc<str>,
    /// True for the one that is played.
    pub on: bool,
}

/// A CWD that is typed but not yet entered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// The value as typed.
    pub typed: Arc<str>,
    /// What it would become: the resolved path.
    pub value: Arc<str>,
    /// What it would do, one sentence: `call 2 carries dynamic-context, 47 tokens, into message 4`.
    pub effect: Arc<str>,
    /// What is wrong with it: `no such folder`; none when it can be entered.
    pub problem: Option<Arc<str>>,
}
