//! The code map: cases O50, O54 to O56 and O59. O51 stands with what the program in use writes.
//!
//! | case | what is tested instead |
//! |---|---|
//! | O52, O53, O57, O58 | the numbers are not given to any case |
//! | O55, O56 | in a variant: by default the map is made from what git lists, which is asked again when its index is another. A run keeps the map as it writes files: in a scratch copy, and on nobody else's disk |

use plywood::core::wire::CallNo;

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

/// The map of the variant that keeps it in a file.
fn cached(scene: &mut Scene) -> String {
    let block = block(&scene.with(&["cached_map"]));
    let from = block.find("## Codebase Map\n\n").expect("a map") + "## Codebase Map\n\n".len();
    block[from..].split("\n\n").next().expect("a section").to_owned()
}

const CACHE: &str = "project/.omx/cache/codebase-map.json";

/// What a run would keep after its first call, put where the program in use keeps it.
fn keep(scene: &mut Scene) -> String {
    let mut session = scene.with(&["cached_map"]);
    scene.say(&mut session, "好");
    let mut written = session.written(CallNo(1)).map(|(path, text)| (path.path.to_string(), text.cloned()));
    let text =
        written.find(|(path, _)| CACHE.ends_with(&**path)).and_then(|(_, text)| text).expect("it is kept");
    scene.put(CACHE, &text);
    text.to_string()
}

#[test]
fn o55_a_map_that_is_kept_is_served_while_the_index_is_the_same() {
    let mut scene = Scene::new();
    scene.git(&["init", "-q"]).git(&["add", "AGENTS.md"]);
    assert_eq!(cached(&mut scene), "  (here): AGENTS.md");
    let kept = keep(&mut scene);
    for key in
        ["version", "worktreeRoot", "gitDir", "indexMtimeMs", "indexSize", "directory", "map", "createdAt"]
    {
        assert!(kept.contains(&format!("\"{key}\": ")), "{key}");
    }
    scene.put(CACHE, &kept.replace("(here): AGENTS.md", "edited by hand"));
    assert_eq!(cached(&mut scene), "  edited by hand");
    // What was kept for another folder is not served for this one.
    scene.put(
        CACHE,
        &kept.replace("\"directory\": \".\"", "\"directory\": \"src\"").replace("AGENTS", "NONE"),
    );
    assert_eq!(cached(&mut scene), "  (here): AGENTS.md");
}

#[test]
fn o56_a_broken_cache_and_another_index_make_the_map_anew() {
    let mut scene = Scene::new();
    scene.git(&["init", "-q"]).git(&["add", "AGENTS.md"]);
    let kept = keep(&mut scene).replace("AGENTS", "STALE");
    for broken in
        ["not JSON", "", "[]", "{ \"version\": 1 }", &kept.replace("\"version\": 1", "\"version\": 2")]
    {
        scene.put(CACHE, broken);
        assert_eq!(cached(&mut scene), "  (here): AGENTS.md", "{broken}");
    }
    scene.put(CACHE, &kept);
    assert_eq!(cached(&mut scene), "  (here): STALE.md");
    scene.put("project/lib/a.py", "x").git(&["add", "lib/a.py"]);
    assert_eq!(cached(&mut scene), "  lib/: a.py\n  (here): AGENTS.md");
    // The same without a cache.
    assert_eq!(map(&mut scene).as_deref(), Some("  lib/: a.py\n  (here): AGENTS.md"));
}

#[test]
fn o59_names_of_any_language_appear_as_they_are() {
    let mut scene = Scene::new();
    scene.put("project/src/日本語.ts", "x").put("project/src/a b\"c.ts", "x").git(&["init", "-q"]);
    scene.git(&["add", "src"]);
    assert_eq!(map(&mut scene).as_deref(), Some("  src/: a b\"c.ts, 日本語.ts"));
}
