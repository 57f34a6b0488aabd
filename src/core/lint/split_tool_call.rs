//! A tool call whose result is missing or does not follow it, and a result without its call.
//!
//! The message APIs of Anthropic and OpenAI refuse such requests.

use super::{Finding, Lint, Subject, at_key, at_layer, shown};
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::Name;
use crate::core::wire::{Block, BlockKind, Zone};

pub(super) fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    // Calls that wait for their result.
    let mut open: Vec<&Block> = Vec::new();
    for block in subject.request.zone(Zone::Messages) {
        match block.kind {
            BlockKind::ToolUse => open.push(block),
            BlockKind::ToolResult => {
                let call = open.iter().position(|call| call.name == block.name);
                match call {
                    Some(at) => drop(open.remove(at)),
                    None => found.push(finding(
                        subject,
                        block,
                        &tool(block),
                        format!("the result of {} stands in the request without its call", tool(block)),
                    )),
                }
            }
            // A model may say something beside its calls, in the same message.
            BlockKind::Assistant if open.iter().all(|call| call.message == block.message) => {}
            _ => {
                for call in open.drain(..) {
                    let who = author(subject, block);
                    let message = format!("{who} stands between the call of {} and its result", tool(call));
                    found.push(finding(subject, block, &tool(call), message));
                }
            }
        }
    }
    for call in open {
        let message = format!("the call of {} has no result", tool(call));
        found.push(finding(subject, call, &tool(call), message));
    }
    found
}

fn tool(block: &Block) -> Name {
    block.tool.clone().unwrap_or_else(|| block.name.clone())
}

/// Who wrote a block: a layer as screens call it, else the user or the model.
fn author(subject: &Subject<'_>, block: &Block) -> Name {
    block.text.parts().first().map_or_else(|| "a message".into(), |part| shown(subject.bench, &part.id))
}

fn finding(subject: &Subject<'_>, block: &Block, tool: &Name, message: String) -> Finding {
    let bench = subject.bench;
    let layer = block.text.parts().iter().find_map(|part| bench.layer(&part.id));
    let (about, diagnostic): (Name, Diagnostic) = match layer {
        Some(layer) => (layer.id.clone(), at_layer(bench, &layer.id, message)),
        None => (tool.clone(), at_key(bench, "runs", message)),
    };
    let diagnostic =
        diagnostic.hint("providers refuse it: text goes behind the results, and a call goes with its result");
    Finding::new(Lint::SplitToolCall, subject, vec![about, block.name.clone()], None, diagnostic)
}
