//! The line that says that a file was generated, as the sample's data has it: put in by the function that an installer
//! would use, and read by the session's file.

use std::path::Path;

use plywood::core::bench::Markers;
use plywood::core::overlay::generated::{Sign, has, put};
use plywood::io::overlay::profile::site_of;

use super::Scene;

const SIGN: &str = "<!-- omx:generated:agents-md -->";
const BLOCK: &str =
    "<!-- AUTONOMY DIRECTIVE — DO NOT REMOVE -->\n不要停下来问。\n<!-- END AUTONOMY DIRECTIVE -->\n";
const SOURCE: &str = "project/AGENTS.md";

/// The sign and the blocks that the sample knows.
fn data(scene: &mut Scene) -> (Sign, Vec<Markers>) {
    let session = scene.session();
    let site = site_of(session.bench(), Path::new("/x"), "/x/AGENTS.md".into(), "s").expect("a site");
    (site.sign.expect("it has one"), [vec![site.own], site.others].concat())
}

/// What the model is told of the project's file.
fn told(scene: &mut Scene, file: &str) -> String {
    scene.put(SOURCE, file);
    super::system(&scene.session()).clone()
}

fn marked(file: &str, (sign, blocks): &(Sign, Vec<Markers>)) -> String {
    String::from_utf8(put(file.as_bytes(), sign, blocks).expect("marked")).expect("text stays text")
}

#[test]
fn the_sign_stands_behind_the_autonomy_block_and_only_once() {
    let mut scene = Scene::new();
    let data = data(&mut scene);
    let rest = "\n# 规则\n\n- 一\n";
    let once = marked(&format!("{BLOCK}{rest}"), &data);
    assert_eq!(once, format!("{BLOCK}{SIGN}\n{rest}"));
    assert_eq!(marked(&once, &data), once);
    // A file with other line ends keeps them.
    let crlf = |text: &str| text.replace('\n', "\r\n");
    assert_eq!(marked(&crlf(&format!("{BLOCK}{rest}")), &data), crlf(&once));
    // The file of the session leaves out what has the sign.
    assert!(told(&mut scene, &format!("{BLOCK}{rest}")).contains("不要停下来问。"));
    assert!(!told(&mut scene, &once).contains("不要停下来问。"));
}

#[test]
fn a_users_file_with_a_title_was_not_generated() {
    let mut scene = Scene::new();
    let data = data(&mut scene);
    for file in ["# oh-my-codex\n", "# oh-my-codex - Intelligent Multi-Agent Orchestration\n\nmine\n"] {
        assert!(!has(file.as_bytes(), &data.0, &data.1), "{file}");
        assert!(told(&mut scene, file).contains("# oh-my-codex"), "{file}");
    }
    assert_eq!(marked("# oh-my-codex\n\nmine\n", &data), format!("# oh-my-codex\n{SIGN}\n\nmine\n"));
    // Nor one that quotes the sign.
    let quoted = format!("# mine\n\n```html\n{SIGN}\n```\n");
    assert!(!has(quoted.as_bytes(), &data.0, &data.1));
    assert!(told(&mut scene, &quoted).contains("# mine"));
}

#[test]
fn what_stands_in_front_of_the_block_stays_and_so_do_blocks_of_others() {
    let mut scene = Scene::new();
    let data = data(&mut scene);
    let preamble = "先读这里。\n\n";
    assert_eq!(marked(&format!("{preamble}{BLOCK}x"), &data), format!("{preamble}{BLOCK}{SIGN}\nx"));
    // An autonomy block or a sign inside of what the installer manages are the installer's.
    let managed = format!("<!-- OMX:AGENTS:START -->\n{BLOCK}{SIGN}\n<!-- OMX:AGENTS:END -->\n");
    let file = format!("# 规则\n\n{managed}");
    assert!(!has(file.as_bytes(), &data.0, &data.1));
    assert_eq!(marked(&file, &data), format!("# 规则\n{SIGN}\n\n{managed}"));
    // Half a block of anybody's: the file is left alone.
    for half in
        ["<!-- OMX:RUNTIME:START -->\n", "<!-- OMX:AGENTS:END -->\n", "<!-- END AUTONOMY DIRECTIVE -->\n"]
    {
        let stray = put(format!("# a\n{half}").as_bytes(), &data.0, &data.1).expect_err(half);
        assert_eq!((stray.line, &*stray.marker), (2, half.trim_end()));
    }
}
