//! The command line of `audit`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::args::SettingsArgs;
use crate::core::audit::GroupBy;

/// `audit`.
#[derive(Clone, Debug, Args)]
pub struct AuditArgs {
    /// Logs: raw requests and responses, claude-trace, claude-tap or LiteLLM, gzip too; - is stdin
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Name the layers of this bench whose text is found in the requests
    #[arg(long, value_name = "PATH")]
    pub bench: Option<PathBuf>,
    /// Also say what every call would have cost with these models, as provider:model,provider:model
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    pub models: Vec<String>,
    /// Sum up by these, one or several
    #[arg(long, value_name = "WHAT", value_delimiter = ',', default_value = "cause")]
    pub group_by: Vec<GroupArg>,
    /// Count only calls from then on: a time, a day, or how long ago, such as 2h or 7d
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// How many of the calls that lost most are told
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = count, allow_negative_numbers = true)]
    pub top: usize,
    /// The JSON of an audit before: exit with 1 where something is lost for a cause that is not in it
    #[arg(long, value_name = "FILE", conflicts_with = "new_since")]
    pub baseline: Option<PathBuf>,
    /// Exit with 1 where something is lost from then on for a cause that was not there before
    #[arg(long, value_name = "TIME")]
    pub new_since: Option<String>,
    /// Wait for what is added to the log, and tell each call as it comes
    #[arg(long, conflicts_with_all = ["baseline", "new_since"])]
    pub follow: bool,
    /// What the logs are, instead of what they look like
    #[arg(long, value_name = "KIND")]
    pub log: Option<LogKind>,
    /// How it is written: text is a summary, csv has a line for each call, json both
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: AuditFormat,
    /// Print JSON
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Where the settings are.
    #[command(flatten)]
    pub settings: SettingsArgs,
}

/// What is summed up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GroupArg {
    /// The agent that the log names, else the conversation
    Agent,
    /// The model
    Model,
    /// What went wrong
    Cause,
}

/// How many calls.
fn count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "write how many calls, such as 10; 0 tells none".to_owned())
}

impl From<GroupArg> for GroupBy {
    fn from(arg: GroupArg) -> GroupBy {
        match arg {
            GroupArg::Agent => GroupBy::Agent,
            GroupArg::Model => GroupBy::Model,
            GroupArg::Cause => GroupBy::Cause,
        }
    }
}

/// How an audit is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AuditFormat {
    /// A summary, for reading
    Text,
    /// Everything
    Json,
    /// A line for each call
    Csv,
}

/// The kinds of logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogKind {
    /// Bodies of requests and answers as they were sent
    Raw,
    /// Captures of claude-trace
    ClaudeTrace,
    /// Captures of claude-tap
    ClaudeTap,
    /// Payloads of LiteLLM's standard logging
    #[value(name = "litellm")]
    LiteLlm,
}

impl LogKind {
    /// The word that the reader is known by.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            LogKind::Raw => "raw",
            LogKind::ClaudeTrace => "claude-trace",
            LogKind::ClaudeTap => "claude-tap",
            LogKind::LiteLlm => "litellm",
        }
    }
}
