//! What asks a program to end: Ctrl-C, and the signal that a service manager sends.

use std::{io, process, thread};

/// What a shell sees of a program that Ctrl-C has ended.
const INTERRUPTED: i32 = 130;

/// When the program is asked to end, does something first, on a thread of its own: what `work` gives is held until the
/// program has ended.
///
/// # Errors
///
/// When the signals cannot be listened to.
pub(crate) fn end_with<T>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    thread::spawn(move || {
        runtime.block_on(async {
            let Ok(asked) = asked() else { return };
            asked.await;
            let _held = work();
            process::exit(INTERRUPTED);
        });
    });
    Ok(())
}

/// Ends when the program is asked to end.
///
/// # Errors
///
/// When the signals cannot be listened to.
#[cfg(unix)]
pub(super) fn asked() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Ends when the program is asked to end.
///
/// # Errors
///
/// Never, here.
#[cfg(not(unix))]
pub(super) fn asked() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}
