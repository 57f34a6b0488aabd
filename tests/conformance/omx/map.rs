//! The code map: cases O50, O54 and O59. O51 stands with what the program in use writes.
//!
//! | case | what is tested instead |
//! |---|---|
//! | O52, O53, O57, O58 | the numbers are not given to any case |
//! | O55, O56 | the map is made again from what git lists, and git is asked again only when its index is another; a file in which a map is kept belongs to the peer, and would be written into somebody's project |

use super::{Scene, block};

fn map(scene: &mut Scene) -> Option<String> {
    let block = block(&scene.session());
    let from = block.find("## Codebase Map\n\n")? + "## Codebase Map\n\n".len();
    Some(block[from..].split("\n\n").next().expect("a section").to_owned())
}

#[test]
fn o50_without_git_or_without_files_there_is_no_map() {
    let mut scene = Scene::new();
    assert_eq!(map(&mut scene), None, "not a repository");
    scene.git(&["init", "-q"]);
    assert_eq!(map(&mut scene), None, "nothing is tracked");
    assert!(block(&scene.session()).contains("## Compaction Protocol"));
}

#[test]
fn o54_only_tracked_files_are_named() {
    let mut scene = Scene::new();
    scene.git(&["init", "-q"]).git(&["add", "AGENTS.md"]);
    scene.put("project/src/secret.rs", "x");
    assert_eq!(map(&mut scene).as_deref(), Some("  (here): AGENTS.md"));
    // A file that is tracked and was deleted is still one of the project's.
    scene.git(&["add", "src/secret.rs"]).remove("project/src/secret.rs");
    assert_eq!(map(&mut scene).as_deref(), Some("  src/: secret.rs\n  (here): AGENTS.md"));
}

#[test]
fn o56_what_is_added_to_the_index_is_in_the_next_map() {
    let mut scene = Scene::new();
    scene.git(&["init", "-q"]).git(&["add", "AGENTS.md"]);
    assert_eq!(map(&mut scene).as_deref(), Some("  (here): AGENTS.md"));
    scene.put("project/lib/a.py", "x").git(&["add", "lib/a.py"]);
    assert_eq!(map(&mut scene).as_deref(), Some("  lib/: a.py\n  (here): AGENTS.md"));
}

#[test]
fn o59_names_of_any_language_appear_as_they_are() {
    let mut scene = Scene::new();
    scene.put("project/src/日本語.ts", "x").put("project/src/a b\"c.ts", "x").git(&["init", "-q"]);
    scene.git(&["add", "src"]);
    assert_eq!(map(&mut scene).as_deref(), Some("  src/: a b\"c.ts, 日本語.ts"));
}
