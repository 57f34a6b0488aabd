//! A bench as a service: a registry of sessions behind a WebSocket, and previews of its prompt.
//!
//! The registry is pure but for its [`Journals`] and the facts that it loads: messages in, replies out, both as JSON. What
//! speaks HTTP is in `http`.

mod http;
mod journal;
mod preview;
mod protocol;
mod registry;
mod sessions;

pub use http::{Served, serve};
pub use journal::{Journals, Unkept};
pub use preview::{Preview, PreviewLayer, Refusal, preview};
pub use protocol::{Incoming, Kind, Reply, ReportField, SessionId};
pub use registry::{ConnectionId, Registry};

/// The path of the WebSocket.
pub const SOCKET: &str = "/ws";
/// The most bytes of a message: a report of 409,600 bytes, and a content, with every character escaped.
pub const MESSAGE_BYTES: usize = 4 << 20;
/// The most bytes of the body of a preview.
pub const BODY_BYTES: usize = 1 << 20;
/// The most sessions that a server keeps, whether somebody uses them or not.
pub const SESSIONS: usize = 1000;
/// The most messages of a session that wait for their turn.
pub const QUEUE: usize = 100;
/// The most WebSocket connections at a time.
pub const CONNECTIONS: usize = 256;
/// The most characters of the id of a session or a message.
pub const ID_CHARS: usize = 200;
/// The most bytes that are kept of one session.
pub const JOURNAL_BYTES: u64 = 256 << 20;
/// The last messages of a session whose ids are remembered, so that one that is sent twice is taken once.
pub const REMEMBERED: usize = 1000;
