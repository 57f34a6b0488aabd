//! A bench for a folder.

use super::{Draft, yaml};
use crate::core::fact::{Base, FactKey, FilePath, Found, Value};
use crate::io::load::Loader;

/// Files of instructions, the first that is there first.
const RULES: &[&str] = &["AGENTS.md", "CLAUDE.md", "GEMINI.md"];
/// Folders of skills.
const SKILLS: &[&str] = &[".claude/skills", ".agents/skills", ".codex/skills", "skills"];

/// Writes it.
pub(super) fn draft(name: &str, loader: &mut Loader) -> Draft {
    let path = |path: &str| FilePath::new(Base::Workspace, path);
    let there = |loader: &mut Loader, file: &&&str| {
        matches!(loader.load(&FactKey::File(path(file))), Found::Value(_))
    };
    let rules: Vec<&str> = RULES.iter().filter(|file| there(loader, file)).copied().collect();
    let skills = SKILLS.iter().copied().find(|folder| {
        let listed = loader.load(&FactKey::Glob(path(&format!("{folder}/*/SKILL.md"))));
        matches!(listed, Found::Value(Value::List(list)) if !list.is_empty())
    });
    let mut draft = Draft::default();
    let mut reads = String::new();
    let mut layers = String::new();
    // Without any, the name that most agents know waits for its file.
    let wanted = if rules.is_empty() { &RULES[..1] } else { &rules };
    for file in wanted {
        let read = file.to_ascii_lowercase().replace('.', "_");
        reads.push_str(&format!("  {read}: {{ file: {file} }}\n"));
        layers.push_str(&format!(
            "  - {{ id: {read}, title: {file}, in: system, when: {read}, from: {{ fact: {read} }} }}\n"
        ));
    }
    draft.layers_from.extend(rules.iter().map(|file| (*file).to_owned()));
    if let Some(folder) = skills {
        reads.push_str(&format!("  skills: {{ skills: {folder} }}\n"));
        layers.push_str(
            "  - id: skills\n    in: system\n    when: skills\n    from:\n      each: skills\n      \
             item_text: \"- {{ item.name }}: {{ item.description }}\"\n      join: \"\\n\"\n      \
             frame_text: \"Skills:\\n{{ items }}\"\n",
        );
        draft.layers_from.push(folder.to_owned());
    }
    let text = format!(
        "# What the model is sent, layer by layer. `plywood` opens it; `plywood schema` describes every key.\n\
         bench: 1\n\
         name: {name}\n\
         model: openai:gpt-5.4      # decides how tokens are counted and how the cache works\n\
         workspace: {{ path: . }}\n\
         \n\
         read:\n\
         {reads}  branch: {{ environment: git_branch }}\n\
         \n\
         places:\n  \
           system: {{ of: system, join: \"\\n\\n\" }}\n  \
           user: {{ of: current_user }}\n\
         \n\
         layers:\n  \
           - {{ id: role, in: system, from: {{ text: \"You are a coding agent.\" }} }}\n\
         {layers}  \
           - id: environment\n    in: system\n    from:\n      text: |-\n        <environment>\n        Folder: {{{{ cwd }}}}\n        \
           Date: {{{{ now | day }}}}\n        {{%- if branch %}}\n        Branch: {{{{ branch }}}}\n        {{%- endif %}}\n        </environment>\n  \
           - {{ id: said, in: user, from: {{ said: user }} }}\n\
         \n\
         marks:                      # for providers whose cache is marked\n  \
           - {{ at: system }}\n\
         \n\
         runs:\n  first:\n    - user: What does this project do?\n    - say: It has not been asked yet.\n    - user: Thank you.\n",
        name = yaml::scalar(name),
    );
    draft.files.push(("bench.yaml".to_owned(), text));
    draft
}
