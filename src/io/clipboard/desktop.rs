//! The desktop's clipboard, on a thread of its own: under X11 whoever copied has to be there when somebody pastes, and a
//! display that does not answer must keep nobody waiting.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// How long the desktop may take. A display that is there answers in a few milliseconds.
const PATIENCE: Duration = Duration::from_millis(1500);

type Job = (String, Sender<Result<(), String>>);

/// The thread that owns the clipboard, for as long as the program runs.
pub(super) struct Desktop(Sender<Job>);

impl Desktop {
    pub(super) fn start() -> Desktop {
        let (jobs, inbox) = channel();
        // Without a thread nobody takes the jobs, which is told with the first of them.
        let _ = std::thread::Builder::new().name("desktop clipboard".into()).spawn(move || serve(&inbox));
        Desktop(jobs)
    }

    pub(super) fn copy(&self, text: &str) -> Result<(), String> {
        let (answer, answered) = channel();
        self.0.send((text.to_owned(), answer)).map_err(|_| "there is no thread for it".to_owned())?;
        answered.recv_timeout(PATIENCE).map_err(|_| "it does not answer".to_owned())?
    }
}

fn serve(inbox: &Receiver<Job>) {
    let mut clipboard: Option<arboard::Clipboard> = None;
    while let Ok((text, answer)) = inbox.recv() {
        let copy = || {
            let open = match &mut clipboard {
                Some(open) => open,
                None => clipboard.insert(arboard::Clipboard::new()?),
            };
            open.set_text(text)
        };
        // Who asked may have stopped waiting.
        let _ = answer.send(copy().map_err(|error| error.to_string()));
    }
}
