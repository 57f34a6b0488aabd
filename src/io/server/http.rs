//! HTTP and WebSocket around the registry, on one thread.
//!
//! Whoever can open a page in the user's browser can make that browser send requests here. So what names another origin is
//! refused, and so is what names another host, which a page can get to by pointing a name of its own at this address.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::connect_info::Connected;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{ConnectInfo, DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::serve::IncomingStream;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::preview::{is_served, preview};
use super::protocol::Reply;
use super::registry::{ConnectionId, Registry};
use super::{BODY_BYTES, CONNECTIONS, MESSAGE_BYTES, SOCKET};
use crate::io::stop;

/// How long clients have to take leave when the server ends.
const GRACE: Duration = Duration::from_secs(3);
/// How long a connection that broke stays open, so that its last words are read.
const LINGER: Duration = Duration::from_millis(500);
/// Messages that are too large are still read up to here, so that they can be answered.
const READ_BYTES: usize = 2 * MESSAGE_BYTES;

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// By a signal, and every client was told.
    Ended,
}

#[derive(Clone)]
struct Shared {
    registry: Arc<Mutex<Registry>>,
    connections: Arc<Semaphore>,
    ending: watch::Receiver<bool>,
}

impl Shared {
    fn registry(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The address of this end of a connection.
#[derive(Clone, Copy)]
struct Own(Option<SocketAddr>);

impl Connected<IncomingStream<'_, TcpListener>> for Own {
    fn connect_info(stream: IncomingStream<'_, TcpListener>) -> Own {
        Own(stream.io().local_addr().ok())
    }
}

/// Serves until a signal says to end. `ready` is called once signals are listened to and clients can connect.
///
/// # Errors
///
/// When the machine does not give what a server needs.
pub fn serve(
    listener: std::net::TcpListener,
    registry: Registry,
    ready: impl FnOnce() -> std::io::Result<()>,
) -> std::io::Result<Served> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let (end, ending) = watch::channel(false);
        let connections = Arc::new(Semaphore::new(CONNECTIONS));
        let shared = Shared {
            registry: Arc::new(Mutex::new(registry)),
            connections: connections.clone(),
            ending: ending.clone(),
        };
        let app = Router::new()
            .route(SOCKET, any(socket))
            .fallback(previews)
            .layer(middleware::from_fn(own_only))
            .layer(DefaultBodyLimit::max(BODY_BYTES))
            .with_state(shared);
        let signal = stop::asked()?;
        let server = axum::serve(listener, app.into_make_service_with_connect_info::<Own>());
        let server = server.with_graceful_shutdown(async move {
            signal.await;
            // Nobody listens any more where there is no connection.
            let _ = end.send(true);
        });
        ready()?;
        let late = async {
            let mut ending = ending;
            ended(&mut ending).await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::pin!(late);
        // Whoever holds a connection open and asks nothing on it is not waited for.
        let in_time = tokio::select! {
            served = async { server.await } => served.map(|()| true)?,
            () = &mut late => false,
        };
        if !in_time {
            return Ok(Served::Ended);
        }
        let everybody = connections.acquire_many(u32::try_from(CONNECTIONS).unwrap_or(u32::MAX));
        tokio::select! {
            _ = everybody => {}
            () = &mut late => {}
        }
        Ok(Served::Ended)
    })
}

/// An error as every endpoint gives it.
fn failed(status: StatusCode, code: &str, message: &str) -> Response {
    let body = json!({ "error": { "code": code, "message": message } }).to_string();
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// Refuses what comes from another origin or was meant for another host.
async fn own_only(ConnectInfo(own): ConnectInfo<Own>, request: Request, next: Next) -> Response {
    match check(request.headers(), own.0) {
        Ok(()) => next.run(request).await,
        Err(message) => failed(StatusCode::FORBIDDEN, "forbidden", message),
    }
}

fn check(headers: &HeaderMap, own: Option<SocketAddr>) -> Result<(), &'static str> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return Err("one Host header is needed") };
    let is_own = |host: &str| host_of(host).is_some_and(|host| is_own(host, own));
    if !host.to_str().is_ok_and(is_own) {
        return Err("this Host is not this server");
    }
    for origin in headers.get_all(header::ORIGIN) {
        let origin = origin.to_str().unwrap_or_default();
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        if !host.is_some_and(is_own) {
            return Err("this Origin may not talk to this server");
        }
    }
    Ok(())
}

/// The host of `host:port`, an address in brackets without them.
fn host_of(text: &str) -> Option<&str> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            (host, rest.strip_prefix(':').or(rest.is_empty().then_some("")))
        }
        None => text.split_once(':').map_or((text, Some("")), |(host, port)| (host, Some(port))),
    };
    (!host.is_empty() && port?.bytes().all(|b| b.is_ascii_digit())).then_some(host)
}

fn is_own(host: &str, own: Option<SocketAddr>) -> bool {
    match host.parse::<IpAddr>() {
        Ok(ip) => ip.is_loopback() || own.is_some_and(|own| own.ip() == ip),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

async fn previews(State(shared): State<Shared>, method: Method, uri: Uri, request: Request) -> Response {
    use axum::extract::FromRequest as _;
    if !is_served(shared.registry().bench(), uri.path()) {
        return failed(StatusCode::NOT_FOUND, "not_found", "there is nothing under this path");
    }
    if method != Method::POST {
        let mut response =
            failed(StatusCode::METHOD_NOT_ALLOWED, "wrong_method", "a preview is asked for by POST");
        response.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static("POST"));
        return response;
    }
    let body = match Bytes::from_request(request, &()).await {
        Ok(body) => body,
        Err(rejection) if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            let message = format!("a body may have at most {BODY_BYTES} bytes");
            return failed(StatusCode::PAYLOAD_TOO_LARGE, "too_large", &message);
        }
        Err(_) => return failed(StatusCode::BAD_REQUEST, "malformed", "the body could not be read"),
    };
    let Ok(body) = std::str::from_utf8(&body) else {
        return failed(StatusCode::BAD_REQUEST, "malformed", "the body is not UTF-8");
    };
    let mut registry = shared.registry();
    let bench = registry.bench().clone();
    match preview(&bench, registry.load(), body) {
        Ok(preview) => axum::Json(preview).into_response(),
        Err(refusal) => {
            let status =
                if refusal.by_body { StatusCode::BAD_REQUEST } else { StatusCode::UNPROCESSABLE_ENTITY };
            failed(status, refusal.code, &refusal.message)
        }
    }
}

async fn socket(
    State(shared): State<Shared>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let Ok(upgrade) = upgrade else {
        let message = "this path is a WebSocket: connect with `Upgrade: websocket`, as `plywood client` does";
        return failed(StatusCode::UPGRADE_REQUIRED, "no_websocket", message);
    };
    let Ok(permit) = shared.connections.clone().try_acquire_owned() else {
        let message = format!("{CONNECTIONS} connections are open already");
        return failed(StatusCode::SERVICE_UNAVAILABLE, "too_many_connections", &message);
    };
    upgrade
        .max_message_size(READ_BYTES)
        .max_frame_size(READ_BYTES)
        .on_upgrade(move |socket| Connection::open(shared, permit).talk(socket))
}

/// A connection, which gives its sessions back however it ends.
struct Connection {
    shared: Shared,
    id: ConnectionId,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.shared.registry().disconnect(self.id);
    }
}

impl Connection {
    fn open(shared: Shared, permit: OwnedSemaphorePermit) -> Connection {
        let id = shared.registry().connect();
        Connection { shared, id, _permit: permit }
    }

    async fn talk(self, mut socket: WebSocket) {
        // Whoever does not read any more is gone.
        let _ = self.listen(&mut socket).await;
    }

    async fn listen(&self, socket: &mut WebSocket) -> Result<(), axum::Error> {
        let welcome = Reply::welcome(self.shared.registry().bench());
        send(socket, &welcome).await?;
        let mut ending = self.shared.ending.clone();
        loop {
            let message = tokio::select! {
                () = ended(&mut ending) => {
                    return close(socket, close_code::AWAY, "the server ends").await;
                }
                message = socket.recv() => message,
            };
            match message {
                None | Some(Ok(Message::Close(_))) => return Ok(()),
                Some(Ok(Message::Text(text))) => {
                    let replies = self.shared.registry().take(self.id, &text);
                    for reply in &replies {
                        send(socket, reply).await?;
                    }
                }
                Some(Ok(Message::Binary(_))) => {
                    let message = "a binary message; messages are JSON in text messages";
                    send(socket, &Reply::error("binary", message)).await?;
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                // What follows cannot be told apart from the rest of what went wrong.
                Some(Err(error)) => {
                    let message = format!("this connection cannot go on: {error}");
                    send(socket, &Reply::error("broken", message)).await?;
                    close(socket, close_code::SIZE, "the message is too large or broken").await?;
                    // Whoever is still sending would be cut off before it has read this.
                    tokio::time::sleep(LINGER).await;
                    return Ok(());
                }
            }
        }
    }
}

/// Waits until the server is to end.
async fn ended(ending: &mut watch::Receiver<bool>) {
    // Where nobody can say so any more, it ends, too.
    let _ = ending.wait_for(|ending| *ending).await;
}

async fn send(socket: &mut WebSocket, reply: &Reply) -> Result<(), axum::Error> {
    socket.send(Message::Text(reply.json().into())).await
}

async fn close(socket: &mut WebSocket, code: u16, reason: &'static str) -> Result<(), axum::Error> {
    socket.send(Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(host: &str, origin: Option<&str>, own: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().expect("a value"));
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().expect("a value"));
        }
        check(&headers, own.parse().ok()).is_ok()
    }

    #[test]
    fn only_this_server_and_loopback_are_hosts_and_origins() {
        let own = "192.168.1.5:80";
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:5", "127.9.9.9", "[::1]:80", "192.168.1.5:80"] {
            assert!(allowed(host, None, own), "{host}");
            assert!(allowed("localhost", Some(&format!("http://{host}")), own), "{host}");
        }
        for host in [
            "example.com",
            "localhost.example.com",
            "192.168.1.6",
            "127.0.0.1.nip.io",
            "[::2]",
            "",
            ":80",
            "a@localhost",
        ] {
            assert!(!allowed(host, None, own), "{host}");
            assert!(!allowed("localhost", Some(&format!("http://{host}")), own), "{host}");
        }
        for origin in ["null", "file://", "localhost", "http://localhost/", "chrome-extension://x"] {
            assert!(!allowed("localhost", Some(origin), own), "{origin}");
        }
        assert!(check(&HeaderMap::new(), None).is_err(), "no host at all");
    }
}
