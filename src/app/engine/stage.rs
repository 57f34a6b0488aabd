//! A demo on the engine: every beat is a place to go to, from whichever side, with the same bytes and numbers.

use std::sync::Arc;

use super::control::{Engine, adjusted};
use super::publish;
use super::ways::AsLoad;
use crate::app::cells;
use crate::app::snapshot::{Caption, DemoAt, Snapshot};
use crate::app::state::Shows;
use crate::core::diagnostic::Diagnostic;
use crate::core::run::{Player, Refused};
use crate::core::wire::CallNo;
use crate::io::demos::Demo;
use crate::io::syntax::suggest;

/// A demo that is on.
pub(super) struct Stage {
    demo: Arc<Demo>,
    /// The index of the beat.
    at: usize,
}

impl Engine {
    /// The demo that is on, and the beat at which it stands, from 0.
    #[must_use]
    pub fn demo(&self) -> Option<(&Demo, usize)> {
        self.stage.as_ref().map(|stage| (&*stage.demo, stage.at))
    }

    /// Puts a demo on and goes to its first beat.
    ///
    /// # Errors
    ///
    /// What the demo names and the bench does not have.
    pub fn perform(&mut self, demo: Demo) -> Result<(), Vec<Diagnostic>> {
        let problems = self.check_demo(&demo);
        if !problems.is_empty() {
            return Err(problems);
        }
        self.stage = Some(Stage { demo: Arc::new(demo), at: 0 });
        self.go_to_beat(0).map_err(|refused| vec![Diagnostic::error(refused.0)])
    }

    fn check_demo(&self, demo: &Demo) -> Vec<Diagnostic> {
        let bench = self.player.session().bench();
        let variants = self.edge.variants();
        let mut problems = Vec::new();
        for (index, beat) in demo.beats.iter().enumerate() {
            // What a beat has from the one before is wrong there.
            let mut wrong = |key: &str, what: String, hint: Option<String>| {
                if beat.named.contains_key(key) {
                    let problem = demo.problem(index, key, &what);
                    problems.push(Diagnostic { hint, ..problem });
                }
            };
            let among = |name: &str, known: Vec<&str>| suggest::hint(name, known);
            if let Some(run) = beat.run.as_ref().filter(|run| !bench.runs.contains_key(&***run)) {
                let known = bench.runs.keys().map(|name| &**name).collect();
                wrong("run", format!("no run is called `{run}`"), among(run, known));
            }
            for name in beat.variants.iter().filter(|name| !variants.contains(name)) {
                let known = variants.iter().map(|name| &**name).collect();
                wrong("variants", format!("no variant is called `{name}`"), among(name, known));
            }
            let session = self.player.session();
            let known = |look: &str| {
                look.strip_prefix("message ").is_some_and(|n| n.parse::<u32>().is_ok())
                    || bench.layer(look).is_some()
                    || session.fact(look).is_some()
            };
            if let Some(look) = beat.look.as_ref().filter(|look| !known(look)) {
                let what = format!("`{look}` is no layer, no fact, and no message such as `message 4`");
                let known = bench.layers.iter().map(|layer| &*layer.id).collect();
                wrong("look", what, among(look, known));
            }
            if let Some(show) = beat.show.as_ref().filter(|show| Shows::named(show).is_none()) {
                let names = Shows::names();
                let known = names.iter().map(String::as_str).collect();
                wrong("show", format!("`{show}` is no pane and no view"), among(show, known));
            }
        }
        problems
    }

    /// The beats before and after the one that is on. Behind the last there is none.
    pub(super) fn turn_beat(&mut self, by: isize) -> Result<(), Refused> {
        let Some(stage) = &self.stage else { return Ok(()) };
        match stage.at.checked_add_signed(by).filter(|at| *at < stage.demo.beats.len()) {
            Some(at) => self.go_to_beat(at),
            None => Ok(()),
        }
    }

    fn go_to_beat(&mut self, at: usize) -> Result<(), Refused> {
        let Some(stage) = &mut self.stage else { return Ok(()) };
        stage.at = at;
        let demo = stage.demo.clone();
        let beat = &demo.beats[at];
        self.playing = false;
        self.preview = None;
        let options = &self.options;
        let (run, model) = (beat.run.clone(), beat.model.clone());
        let same_run = options.run == run && options.model == model && !self.player.has_live();
        // A call that was sent is not what it was before: it has its answer.
        let sent = self.player.session().next_call() > CallNo(beat.call);
        if !same_run || sent || options.variants != beat.variants || !self.others.is_empty() {
            let refused = |problems: Vec<Diagnostic>| {
                Refused(problems.first().map_or_else(String::new, |problem| problem.message.clone()))
            };
            let (bench, warnings) = self.edge.bench(&beat.variants).map_err(refused)?;
            self.options.variants.clone_from(&beat.variants);
            self.options.run.clone_from(&run);
            self.options.model = model;
            let bench = adjusted(bench, &self.options);
            // What the run has written lies in the scratch copy; another run begins with what was there before.
            self.edge.project(&[]);
            self.player = Player::start(bench, run.as_deref(), &mut AsLoad(&mut *self.edge))?;
            self.warnings = warnings;
            self.others.clear();
            self.branch = 0;
            self.shown = None;
            // The ways are the same whichever of them is on.
            let ways = same_run.then(|| (std::mem::take(&mut self.ways), self.ways_left.take()));
            self.forget_sent();
            if let Some((ways, left)) = ways {
                self.ways = ways;
                self.ways_left = left;
            }
        }
        self.jump(CallNo(beat.call))
    }

    /// Where the demo stands, and what it says there.
    pub(super) fn put_on_stage(&self, snapshot: &mut Snapshot) {
        let Some(stage) = &self.stage else { return };
        let beats = &stage.demo.beats;
        let beat = &beats[stage.at];
        let (at, of) = (stage.at as u32 + 1, beats.len() as u32);
        snapshot.title.name = stage.demo.title.clone();
        // The demo speaks, not the run.
        snapshot.calls.rows.iter_mut().for_each(|row| row.notes.clear());
        snapshot.calls.closing.clear();
        snapshot.caption = Some(Caption {
            text: publish::fill(&beat.say, snapshot).text.into(),
            at,
            of,
            // Names of numbers are longer than the numbers: the band is high enough.
            cells: beats.iter().map(|beat| cells::width(&beat.say)).max().unwrap_or(0),
        });
        snapshot.demo = Some(DemoAt {
            at,
            of,
            shows: beat.show.as_deref().and_then(Shows::named).unwrap_or_default(),
            zoom: beat.zoom,
            look: beat.look.clone(),
        });
    }
}
