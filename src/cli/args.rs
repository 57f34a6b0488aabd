//! The command line, as data.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub use super::audit::args::{AuditArgs, AuditFormat, GroupArg, LogKind};
pub use super::overlay::args::OverlayAction;
use crate::core::lint::{Lint, TABLE};

/// See what a model is sent, who wrote each byte of it, and what that does to the prompt cache.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "plywood",
    version,
    about = "A terminal workbench for layered agent prompts",
    long_about = "See every layer of an agent's prompt, who wrote each byte of a request, and what a change does to the \
                  provider's prompt cache. Without a command, opens the workbench.",
    after_help = "Without PATH, opens the bench or the AGENTS.md of this folder, else a scratch copy of a sample.\n\
                  Exit status: 0 done, 1 something was found, 2 wrong usage, a broken bench or a failed read or write.",
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub struct Cli {
    /// What to do instead of opening the workbench.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// What to open in the workbench.
    #[command(flatten)]
    pub open: OpenArgs,
    /// Colours: auto, always, never; in the workbench also how many
    #[arg(long, value_name = "WHEN", global = true, hide_possible_values = true)]
    pub color: Option<ColorArg>,
}

/// Whether and how many colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorArg {
    /// Where a terminal reads it, as many as it has
    Auto,
    /// Also where no terminal reads it
    Always,
    /// None: signs and modifiers only
    Never,
    /// All colours
    Truecolor,
    /// The palette of 256
    #[value(name = "256")]
    Palette,
    /// The sixteen that the terminal chose
    #[value(name = "16")]
    Sixteen,
}

/// Where the settings are.
#[derive(Clone, Debug, Default, Args)]
pub struct SettingsArgs {
    /// The settings file, instead of the one that `plywood config --path` names
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// The workbench's own options.
#[derive(Clone, Debug, Args)]
pub struct OpenArgs {
    /// A bench file, a folder with one, any project folder, the name of a sample, or a log of requests
    #[arg(value_name = "PATH")]
    pub path: Option<PathBuf>,
    /// How the bench is used.
    #[command(flatten)]
    pub bench: BenchArgs,
    /// For a log of requests: blame what breaks its prefixes on the layers of this bench, by their text
    #[arg(long = "bench", value_name = "PATH")]
    pub blame: Option<PathBuf>,
    /// Colours: dark, light, ansi, mono, a theme of your own, or auto for light or dark by the background
    #[arg(long, value_name = "THEME")]
    pub theme: Option<String>,
    /// Do not watch files; Ctrl-L reads them again
    #[arg(long)]
    pub no_watch: bool,
    /// Show the last keys in a corner, for an audience
    #[arg(long)]
    pub show_keys: bool,
}

/// How a bench is used, the same for the workbench and the commands.
#[derive(Clone, Debug, Default, Args)]
pub struct BenchArgs {
    /// Apply a variant of the bench; several are applied in the order given
    #[arg(long = "variant", value_name = "VARIANT", action = ArgAction::Append)]
    pub variants: Vec<String>,
    /// What is played, and with what.
    #[command(flatten)]
    pub play: PlayArgs,
}

/// What is played of a bench, and with what.
#[derive(Clone, Debug, Default, Args)]
pub struct PlayArgs {
    /// The run to play; the bench's first by default
    #[arg(long, value_name = "NAME")]
    pub run: Option<String>,
    /// The model, as provider:model, instead of the bench's
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// The time at the start, such as 2026-04-01T09:00:00+08:00[Asia/Shanghai], instead of the bench's
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,
    /// Run the programs whose output the bench reads (`command:`), without asking
    #[arg(long)]
    pub trust: bool,
    /// Where the settings are.
    #[command(flatten)]
    pub settings: SettingsArgs,
}

/// The commands, which need no screen.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Print every layer with its size, in byte order
    Layers(LayersArgs),
    /// Print a request as it would be sent
    Build(BuildArgs),
    /// Play a run and print what each call costs
    Run(RunArgs),
    /// Compare every way of building a run: what it loses and costs, and what the model believes meanwhile
    Compare(CompareArgs),
    /// Say what a change would do before it is made: layers, the first broken byte, tokens and money
    WhatIf(WhatIfArgs),
    /// Write a bench for a folder, or from a request that was really sent
    Init(InitArgs),
    /// Check benches, for instance against a request that was really sent
    Check(CheckArgs),
    /// Print what changed in the prompt since a revision of git
    Diff(DiffArgs),
    /// Say what became of the cache in logs of real requests, and who is to blame
    Audit(AuditArgs),
    /// Write a report of a bench and its run, as Markdown
    Report(ReportArgs),
    /// Save a picture of the workbench, as SVG
    Shot(ShotArgs),
    /// Serve a bench: sessions over a WebSocket, and previews of its prompt
    Serve(ServeArgs),
    /// Send what you say to a server, with the rules of a workspace
    Client(ClientArgs),
    /// Put the runtime overlay into real files, and take it out again
    Overlay {
        /// What to do.
        #[command(subcommand)]
        action: OverlayAction,
    },
    /// Print the JSON Schema of bench files
    Schema,
    /// List the samples, or copy one into a folder of your own
    Samples(SamplesArgs),
    /// Perform a demo, one beat for each Space; without NAME, list the demos
    Demo(DemoArgs),
    /// List the keys of the workbench, as your settings have them
    Keys(ListArgs),
    /// List the themes, or print one as a file to copy
    Themes(ThemesArgs),
    /// List the models, or say everything that is known of one
    Models(ModelsArgs),
    /// Print the settings and where each comes from
    Config(ConfigArgs),
    /// Print a completion script
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    Man,
    /// Print what Plywood found on this machine, and where each setting comes from
    Doctor(ListArgs),
}

/// A command that prints a list, and follows the settings.
#[derive(Clone, Debug, Default, Args)]
pub struct ListArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Where the settings are.
    #[command(flatten)]
    pub settings: SettingsArgs,
}

/// `config`.
#[derive(Clone, Debug, Default, Args)]
pub struct ConfigArgs {
    /// Print a settings file to begin with: every setting, commented out
    #[arg(long, conflicts_with_all = ["path", "json"])]
    pub default: bool,
    /// Print the path of the settings file, whether it exists or not
    #[arg(long, conflicts_with = "json")]
    pub path: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Where the settings are.
    #[command(flatten)]
    pub settings: SettingsArgs,
}

/// `models`.
#[derive(Clone, Debug, Default, Args)]
pub struct ModelsArgs {
    /// A model, as provider:model, to be told everything that is known of it
    #[arg(value_name = "MODEL")]
    pub model: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Where the settings are.
    #[command(flatten)]
    pub settings: SettingsArgs,
}

/// `themes`.
#[derive(Clone, Debug, Default, Args)]
pub struct ThemesArgs {
    /// A theme, to be printed as a file to copy
    #[arg(value_name = "THEME")]
    pub theme: Option<String>,
    /// List the themes; what is done without THEME
    #[arg(long, conflicts_with = "theme")]
    pub list: bool,
    /// Show each role of the theme in its colours instead; without THEME, of the one that the settings choose
    #[arg(long)]
    pub sample: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Where the settings are.
    #[command(flatten)]
    pub settings: SettingsArgs,
}

/// `samples`.
#[derive(Clone, Debug, Default, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct SamplesArgs {
    /// What to do instead of listing them.
    #[command(subcommand)]
    pub action: Option<SamplesAction>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What can be done with a sample.
#[derive(Clone, Debug, Subcommand)]
pub enum SamplesAction {
    /// Copy a sample into a folder of your own; nothing is written over
    Copy {
        /// The name of the sample
        #[arg(value_name = "NAME")]
        name: String,
        /// The folder, which may be new; by default one with the name of the sample, here
        #[arg(value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
}

/// `demo`.
#[derive(Clone, Debug, Args)]
pub struct DemoArgs {
    /// A demo by its name, or the file of one
    #[arg(value_name = "NAME")]
    pub name: Option<PathBuf>,
    /// Print captions and key numbers, beat by beat, instead of opening the workbench
    #[arg(long, requires = "name")]
    pub print: bool,
    /// Print JSON: the list, or with --print the beats
    #[arg(long)]
    pub json: bool,
    /// Colours: dark, light, ansi, mono, a theme of your own, or auto for light or dark by the background
    #[arg(long, value_name = "THEME")]
    pub theme: Option<String>,
    /// Where the settings are.
    #[command(flatten)]
    pub settings: SettingsArgs,
}

/// `layers`.
#[derive(Clone, Debug, Args)]
pub struct LayersArgs {
    /// A bench file, a folder, or the name of a sample
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// How the bench is used.
    #[command(flatten)]
    pub bench: BenchArgs,
    /// The call whose layers are printed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub call: u32,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `build`.
#[derive(Clone, Debug, Args)]
pub struct BuildArgs {
    /// A bench file, a folder, or the name of a sample
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// How the bench is used.
    #[command(flatten)]
    pub bench: BenchArgs,
    /// The call whose request is printed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub call: u32,
    /// The form
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

/// The forms of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Texts under headings, for reading
    Text,
    /// Blocks with the owner of each byte
    Json,
    /// The body for the Anthropic Messages API
    Anthropic,
    /// The body for the OpenAI Chat Completions API, which many others speak
    OpenaiChat,
    /// The body for the OpenAI Responses API
    OpenaiResponses,
    /// The body for the Gemini generateContent API
    Gemini,
}

/// `run`.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// A bench file, a folder, or the name of a sample
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// How the bench is used.
    #[command(flatten)]
    pub bench: BenchArgs,
    /// Stop behind this call
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub until: Option<u32>,
    /// Append requests, answers and what tools log to a file, without documents, files and protected texts
    #[arg(long, value_name = "FILE")]
    pub log_llm: Option<PathBuf>,
    /// Print one JSON object a line for each call
    #[arg(long)]
    pub json: bool,
}

/// `compare`.
#[derive(Clone, Debug, Default, Args)]
pub struct CompareArgs {
    /// A bench file, a folder, or the name of a sample
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// The models, as provider:model or without the provider; by default the bench's and two of other vendors
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    pub models: Vec<String>,
    /// Only these variants and policies (freeze, live, next_turn, append, system_message, mark_last); a+b for both at once
    #[arg(long, value_name = "VARIANTS", value_delimiter = ',')]
    pub variants: Vec<String>,
    /// Let the policies change this layer, instead of those that read what changes
    #[arg(long, value_name = "LAYER")]
    pub layer: Option<String>,
    /// Count the first turns only
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub turns: Option<u32>,
    /// Write a variant or policy into the bench file, after showing what that changes; comments stay
    #[arg(long, value_name = "VARIANT", conflicts_with_all = ["variants", "turns", "json", "models"])]
    pub apply: Option<String>,
    /// What is played, and with what.
    #[command(flatten)]
    pub play: PlayArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `what-if`.
#[derive(Clone, Debug, Args)]
pub struct WhatIfArgs {
    /// A bench file, a folder, or the name of a sample
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// The changes: cwd=DIR, edit=FILE, model=MODEL, tools=-TOOL, move=LAYER:PAST, wait=TIME; by default some of each
    #[arg(value_name = "CHANGE")]
    pub changes: Vec<String>,
    /// How the bench is used.
    #[command(flatten)]
    pub bench: BenchArgs,
    /// The call that waits when the change happens
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    pub call: u32,
    /// The models, as provider:model or without the provider; by default the bench's and two of other vendors
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    pub models: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `report`.
#[derive(Clone, Debug, Args)]
pub struct ReportArgs {
    /// A bench file, a folder, or the name of a sample
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// How the bench is used.
    #[command(flatten)]
    pub bench: BenchArgs,
    /// Write Markdown, which is the only form
    #[arg(long)]
    pub markdown: bool,
    /// The call whose layers and pictures are shown; by default the one that loses most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub call: Option<u32>,
    /// Write report.md and pictures of the panes and views into this folder, instead of the text to stdout
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// The size of the pictures in cells
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "120x40", value_parser = screen_size)]
    pub size: (u16, u16),
    /// The colours of the pictures: dark, light, ansi, mono, or a theme file
    #[arg(long, value_name = "THEME", default_value = "light")]
    pub theme: String,
}

/// `diff`.
#[derive(Clone, Debug, Args)]
pub struct DiffArgs {
    /// A bench file or a folder, in a git repository
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// The revision: a commit, a branch, a tag
    #[arg(value_name = "REV", default_value = "HEAD")]
    pub revision: String,
    /// How the bench is used.
    #[command(flatten)]
    pub bench: BenchArgs,
    /// The call whose request is compared
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub call: u32,
    /// Mark the changed words in the changed lines
    #[arg(long, conflicts_with = "json")]
    pub words: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `shot`.
#[derive(Clone, Debug, Args)]
pub struct ShotArgs {
    /// A bench file, a folder, or the name of a sample
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// How the bench is used.
    #[command(flatten)]
    pub bench: BenchArgs,
    /// The size of the screen in cells
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "120x40", value_parser = screen_size)]
    pub size: (u16, u16),
    /// The call that is shown; by default what opening shows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub call: Option<u32>,
    /// Keys that are pressed, with spaces between them, such as "v 5" or "3 down enter"; letters type where text is typed
    #[arg(long, value_name = "KEYS", default_value = "")]
    pub keys: String,
    /// Colours: dark, light, ansi, mono, or a theme file
    #[arg(long, value_name = "THEME", default_value = "dark")]
    pub theme: String,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Reads `120x40`.
fn screen_size(text: &str) -> Result<(u16, u16), String> {
    let wrong = || "write columns and rows, such as 120x40; at most 500x200".to_owned();
    let (width, height) = text.split_once('x').ok_or_else(wrong)?;
    let size: (u16, u16) = (width.parse().map_err(|_| wrong())?, height.parse().map_err(|_| wrong())?);
    if (1..=500).contains(&size.0) && (1..=200).contains(&size.1) { Ok(size) } else { Err(wrong()) }
}

/// `init`.
#[derive(Clone, Debug, Args)]
pub struct InitArgs {
    /// The folder; this one by default
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub folder: PathBuf,
    /// A request as it was sent (Anthropic, OpenAI chat or responses, Gemini); - is stdin
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
}

/// `serve`.
#[derive(Clone, Debug, Args)]
pub struct ServeArgs {
    /// A bench file, a folder with one, or the name of a sample
    #[arg(value_name = "BENCH")]
    pub path: PathBuf,
    /// Where to listen: a port of this machine, or an address and a port; 0 is any free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub listen: String,
    /// Apply a variant of the bench; several are applied in the order given
    #[arg(long = "variant", value_name = "VARIANT", action = ArgAction::Append)]
    pub variants: Vec<String>,
    /// The model, as provider:model, instead of the bench's
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Run the programs whose output the bench reads (`command:`), without asking
    #[arg(long)]
    pub trust: bool,
    /// Where the settings are.
    #[command(flatten)]
    pub settings: SettingsArgs,
}

/// `client`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Each line of stdin is what the user says, or a message of the protocol as JSON; the client ends \
when all of them have a reply. Where there is no server it tries again, at first after 0.1 s, then after \
twice as long each time, up to every 5 s, until the server answers or Ctrl-C ends it. What was not \
acknowledged is sent again, so that nothing is lost when either is killed."
)]
pub struct ClientArgs {
    /// The workspace
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The address that the server printed
    #[arg(long, value_name = "URL")]
    pub server: String,
    /// The session
    #[arg(long, value_name = "ID")]
    pub session: String,
    /// The file of the workspace that is reported
    #[arg(long, value_name = "FILE", default_value = "AGENTS.md")]
    pub file: PathBuf,
}

/// `check`.
#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// Bench files, folders (those without a bench are searched for bench files), or names of samples
    #[arg(value_name = "PATH", required_unless_present = "lints")]
    pub paths: Vec<PathBuf>,
    /// How the benches are used.
    #[command(flatten)]
    pub bench: BenchArgs,
    /// A request as it was sent (Anthropic, OpenAI chat or responses, Gemini): is the bench's the same? - is stdin
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// The call that is compared; by default the one behind as many answers as FILE holds
    #[arg(long, value_name = "N", requires = "against", value_parser = clap::value_parser!(u32).range(1..))]
    pub call: Option<u32>,
    /// Check that each request begins with all of the one before it, in every run; where a contract file stands beside
    /// the bench, that is checked anyway
    #[arg(long, conflicts_with = "against")]
    pub contract: bool,
    /// Show what the contract does not allow, and write one that allows it
    #[arg(long, conflicts_with = "against")]
    pub accept: bool,
    /// With --accept: let the contract hold the text of what stays, too
    #[arg(long, requires = "accept")]
    pub hashes: bool,
    /// Fail where a run pays more than N tokens again, over all of its calls, on the bench's model
    #[arg(long, value_name = "N", conflicts_with = "against", allow_negative_numbers = true)]
    pub max_lost: Option<u64>,
    /// Look at every run of a bench and not only at its first
    #[arg(long, conflicts_with_all = ["against", "run"])]
    pub all_runs: bool,
    /// Say what fixes are worth on these models, too, as provider:model
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    pub models: Vec<String>,
    /// Do not look with this lint; may be given several times
    #[arg(long, value_name = "LINT", value_parser = lint_words())]
    pub skip: Vec<Lint>,
    /// List the lints: what each finds, why, and what puts it right
    #[arg(long)]
    pub lints: bool,
    /// How findings are written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: CheckFormat,
    /// Print JSON: the same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

/// The lints, by their words.
fn lint_words() -> impl TypedValueParser<Value = Lint> {
    let words = TABLE.iter().map(|row| PossibleValue::new(row.word).help(row.what));
    PossibleValuesParser::new(words).try_map(|word| Lint::named(&word).ok_or("there is no such lint"))
}

/// How findings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// For reading
    Text,
    /// As one document
    Json,
    /// As annotations of a GitHub workflow
    Github,
}
