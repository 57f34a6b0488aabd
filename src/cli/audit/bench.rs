//! The layers of a bench, for the texts of a log to be matched to.

use std::path::Path;

use crate::cli::args::BenchArgs;
use crate::cli::open::Bench;
use crate::cli::output::Result;
use crate::core::audit::Layers;

/// A script that goes on for longer tells nothing new of its layers.
const CALLS: u32 = 200;

/// Plays a bench and learns what its layers say.
pub(in crate::cli) fn layers(path: &Path) -> Result<Layers> {
    let mut bench = Bench::open(path, &BenchArgs::default())?;
    let shown = bench.bench.layers.iter().map(|layer| (layer.id.clone(), layer.shown().clone())).collect();
    let mut layers = Layers::new(shown);
    let mut player = bench.start()?;
    for call in 1..=CALLS {
        if let Some(request) = player.session().request(crate::core::wire::CallNo(call)) {
            layers.learn(&request);
        }
        if !bench.beat(&mut player)? {
            break;
        }
    }
    Ok(layers)
}
