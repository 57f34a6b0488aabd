//! The samples: benches that are part of the program.
//!
//! They are listed by hand instead of found by a build script; a test compares the list with the folder.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A bench that is part of the program.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The name under which it is opened.
    pub name: &'static str,
    /// What it shows, in one line, lower case, without a full stop.
    pub about: &'static str,
    /// Its files: the path from its folder, with `/`, and the content. One of them is `bench.yaml`.
    pub files: &'static [(&'static str, &'static [u8])],
}

macro_rules! sample {
    ($name:literal, $about:literal, [$($path:literal),* $(,)?]) => {
        Sample {
            name: $name,
            about: $about,
            files: &[$(($path, include_bytes!(concat!("../../samples/", $name, "/", $path)))),*],
        }
    };
}

const SAMPLES: &[Sample] = &[
    sample!(
        "xbot",
        "a chat agent of eight middlewares that announces a new working directory in the newest tool message",
        [
            "agent.md",
            "agents.md",
            "bench.yaml",
            "cards.md",
            "channels.yaml",
            "cron.md",
            "dynamic.md",
            "fallback.md",
            "memory.md",
            "project/agents/explorer.md",
            "project/agents/operator.md",
            "project/agents/reviewer.md",
            "project/agents/tester.md",
            "project/agents/writer.md",
            "project/api/handler.rs",
            "project/api/main.rs",
            "project/api/price.rs",
            "project/cards/api.md",
            "project/cards/docs.md",
            "project/cards/web.md",
            "project/docs/api.md",
            "project/docs/oncall.md",
            "project/memory/recall.md",
            "project/skills/api-docs/SKILL.md",
            "project/skills/bug-hunt/SKILL.md",
            "project/skills/code-review/SKILL.md",
            "project/skills/db-migration/SKILL.md",
            "project/skills/dependency-update/SKILL.md",
            "project/skills/flaky-tests/SKILL.md",
            "project/skills/incident/SKILL.md",
            "project/skills/profiling/SKILL.md",
            "project/skills/release/SKILL.md",
            "project/skills/write-tests/SKILL.md",
            "project/web/money.ts",
            "prompt.md",
            "reminder.md",
            "skill.md",
            "skills.md",
            "sub.md",
            "sub_cards.md",
            "tools.json",
            "user.md",
        ]
    ),
    sample!(
        "mao",
        "an assistant whose prompt ends with the first 200 lines of AGENTS.md, read again before every request",
        [
            "bench.yaml",
            "delegation.md",
            "environment.md",
            "file.md",
            "files.md",
            "practice.md",
            "project/AGENTS.md",
            "project/experiences/先核对口径.md",
            "project/experiences/写清来源.md",
            "project/files/orders.csv",
            "project/files/refunds.csv",
            "project/files/说明.txt",
            "project/skills/data-check/SKILL.md",
            "project/skills/weekly-report/SKILL.md",
            "role.md",
            "rules.md",
            "skill.md",
            "skills.md",
            "tasks.md",
            "tools.json",
            "tools.md",
        ]
    ),
    sample!(
        "omx",
        "a coding agent with a block of sections between markers, inside a budget of 3,500 characters",
        [
            "bench.yaml",
            "compaction.md",
            "gate.md",
            "gate_slug.md",
            "home/.codex/AGENTS.md",
            "home/.codex/skills/review/SKILL.md",
            "home/.codex/skills/sketch/SKILL.md",
            "lookup.md",
            "memory.md",
            "models.md",
            "modes.md",
            "notes.md",
            "project/.codex/skills/review/SKILL.md",
            "project/.omx/notepad.md",
            "project/.omx/plans/prd-checkout.md",
            "project/.omx/project-memory.json",
            "project/.omx/state/sessions/omx-1717567890-abc123/ralph-state.json",
            "project/.omx/state/sessions/omx-1717567890-abc123/skill-active-state.json",
            "project/AGENTS.md",
            "project/prompts/team-orchestrator.md",
            "project/prompts/worker.md",
            "routing.md",
            "session.md",
            "team.md",
            "tools.json",
            "worker.md",
        ]
    ),
    sample!(
        "netaclaw",
        "a prompt builder of eight layers with rules for each family of models, skills with conditions and a searched memory",
        [
            "behaviours.yaml",
            "behaviours/memory.md",
            "behaviours/skills.md",
            "behaviours/todo.md",
            "bench.yaml",
            "crew.md",
            "discipline.md",
            "guidance.yaml",
            "guidance/deepseek.md",
            "guidance/default.md",
            "guidance/doubao.md",
            "guidance/glm.md",
            "guidance/gpt.md",
            "guidance/minimax.md",
            "guidance/qwen.md",
            "identity.md",
            "memory.md",
            "project/channels.yaml",
            "project/crew.yaml",
            "project/files/orders.csv",
            "project/memory/anonymous/preferences.md",
            "project/memory/anonymous/shop.md",
            "project/memory/lin/preferences.md",
            "project/skills/csv-report/SKILL.md",
            "project/skills/order-check/SKILL.md",
            "project/skills/playwright-cli/SKILL.md",
            "project/skills/refund-reply/SKILL.md",
            "project/skills/team-review/SKILL.md",
            "skill.xml",
            "skills.md",
            "tools.json",
        ]
    ),
    sample!(
        "netaclaw-en",
        "the same builder of eight layers with English texts",
        [
            "behaviours.yaml",
            "behaviours/memory.md",
            "behaviours/skills.md",
            "behaviours/todo.md",
            "bench.yaml",
            "crew.md",
            "discipline.md",
            "guidance.yaml",
            "guidance/deepseek.md",
            "guidance/default.md",
            "guidance/doubao.md",
            "guidance/glm.md",
            "guidance/gpt.md",
            "guidance/minimax.md",
            "guidance/qwen.md",
            "identity.md",
            "memory.md",
            "project/channels.yaml",
            "project/crew.yaml",
            "project/files/orders.csv",
            "project/memory/anonymous/preferences.md",
            "project/memory/anonymous/shop.md",
            "project/memory/lin/preferences.md",
            "project/skills/csv-report/SKILL.md",
            "project/skills/order-check/SKILL.md",
            "project/skills/playwright-cli/SKILL.md",
            "project/skills/refund-reply/SKILL.md",
            "project/skills/team-review/SKILL.md",
            "skill.xml",
            "skills.md",
            "tools.json",
        ]
    ),
    sample!(
        "wegent",
        "a chat with its dynamic context in a message of its own, and knowledge bases that may be searched and not read",
        [
            "bases.md",
            "bases_restricted.md",
            "bench.yaml",
            "project/kbs.yaml",
            "project/knowledge/service/refunds.md",
            "project/knowledge/service/sales.md",
            "restricted.json",
            "results.json",
            "rules.yaml",
            "system.md",
            "tools.json",
        ]
    ),
    sample!(
        "cache-lab",
        "a tour of the prompt cache: a clock, the order of tools and keys, a memory, compaction, idle time, sub-agents, models",
        [
            "bench.yaml",
            "project/memory/notes.md",
            "project/refunds.csv",
            "rules.md",
            "tools.json",
            "tools_sorted.json",
        ]
    ),
];

/// All samples; the first is the one that opens where nothing else is there to be opened.
#[must_use]
pub fn samples() -> &'static [Sample] {
    SAMPLES
}

/// The sample with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Sample> {
    SAMPLES.iter().find(|sample| sample.name == name)
}

/// The profile of an overlay on files of which nobody says which bench they belong to.
#[must_use]
pub fn overlay_profile() -> &'static Sample {
    find("omx").unwrap_or(&SAMPLES[0])
}

/// A folder of its own with the files of a sample, which its user may edit. It is removed when this value is dropped.
#[derive(Debug)]
pub struct ScratchCopy {
    folder: TempDir,
}

impl ScratchCopy {
    /// The folder, which holds `bench.yaml`.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The bench file.
    #[must_use]
    pub fn bench(&self) -> PathBuf {
        self.path().join("bench.yaml")
    }
}

impl Sample {
    /// Writes the sample into a fresh folder below the machine's folder for temporary files.
    ///
    /// # Errors
    ///
    /// Where a file cannot be written.
    pub fn scratch_copy(&self) -> io::Result<ScratchCopy> {
        let folder = tempfile::Builder::new().prefix(&format!("plywood-{}-", self.name)).tempdir()?;
        self.copy_into(folder.path())?;
        Ok(ScratchCopy { folder })
    }

    /// Writes the sample into a folder, which is made where it is not there. No file is written over.
    ///
    /// # Errors
    ///
    /// Where a file cannot be written, or is there already: then nothing was written.
    pub fn copy_into(&self, folder: &Path) -> io::Result<()> {
        if let Some((path, _)) =
            self.files.iter().find(|(path, _)| folder.join(path).symlink_metadata().is_ok())
        {
            let there = format!("{} is there already", folder.join(path).display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, there));
        }
        for (path, content) in self.files {
            let file = folder.join(path);
            if let Some(parent) = file.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::File::create_new(file)?.write_all(content)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_has_a_bench_and_says_what_it_shows() {
        for sample in samples() {
            assert!(sample.files.iter().any(|(path, _)| *path == "bench.yaml"), "{}", sample.name);
            assert!(!sample.about.is_empty() && !sample.about.ends_with('.'), "{}", sample.name);
            assert!(
                sample.files.iter().all(|(path, _)| !path.ends_with("Cargo.toml")),
                "cargo would not package it"
            );
        }
    }

    #[test]
    fn a_scratch_copy_holds_every_file_and_goes_with_its_owner() {
        let sample = find("xbot").expect("listed");
        let copy = sample.scratch_copy().expect("written");
        for (path, content) in sample.files {
            assert_eq!(std::fs::read(copy.path().join(path)).expect("there"), *content, "{path}");
        }
        std::fs::write(copy.bench(), "edited").expect("the user may edit it");
        let path = copy.path().to_owned();
        drop(copy);
        assert!(!path.exists());
    }

    #[test]
    fn a_copy_writes_over_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let sample = find("cache-lab").expect("listed");
        let own = folder.path().join("tools.json");
        std::fs::write(&own, "mine").expect("a file");
        let refused = sample.copy_into(folder.path()).expect_err("a file is there");
        assert!(refused.to_string().contains("tools.json is there already"), "{refused}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing was written");
        std::fs::remove_file(own).expect("it goes");
        sample.copy_into(&folder.path().join("new/lab")).expect("copied");
        assert!(folder.path().join("new/lab/project/memory/notes.md").is_file());
    }

    #[test]
    fn two_scratch_copies_do_not_meet() {
        let sample = &samples()[0];
        let (one, two) = (sample.scratch_copy().expect("written"), sample.scratch_copy().expect("written"));
        assert_ne!(one.path(), two.path());
    }

    #[test]
    fn an_unknown_name_is_no_sample() {
        assert!(find("XBOT").is_none() && find("").is_none());
    }
}
