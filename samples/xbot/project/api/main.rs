//! The order and price service.

mod handler;
mod price;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    axum::serve(listener, handler::routes(handler::Orders::default())).await
}
