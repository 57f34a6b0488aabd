//! What asks a server or a client to end: Ctrl-C, and the signal that a service manager sends.

use std::io;

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
