//! Routes and handlers. Handlers check, call the rules in `price`, and answer; they hold no rules of their own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};

use crate::price;

/// The most items that one order may have.
const MAX_ITEMS: usize = 200;
/// The most pieces of one article in an order.
const MAX_COUNT: u64 = 9_999;

/// All orders, in memory; the real service keeps them in PostgreSQL behind the same interface.
#[derive(Clone, Default)]
pub struct Orders {
    inner: Arc<Mutex<Store>>,
}

#[derive(Default)]
struct Store {
    next: u64,
    orders: BTreeMap<u64, Order>,
}

/// One line of an order.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Item {
    sku: String,
    count: u64,
    /// In fen.
    unit_price: u64,
}

/// What a client sends.
#[derive(Debug, Deserialize)]
pub struct NewOrder {
    items: Vec<Item>,
    #[serde(default = "full_price")]
    discount: u64,
    #[serde(default)]
    coupon: u64,
}

fn full_price() -> u64 {
    100
}

/// The states of an order, in the order in which it passes through them.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Open,
    Paid,
    Shipped,
    Closed,
}

/// What the service keeps and returns.
#[derive(Clone, Debug, Serialize)]
pub struct Order {
    id: u64,
    items: Vec<Item>,
    /// The sum of all items, in fen.
    price: u64,
    /// After discount and coupon, in fen.
    payable: u64,
    status: Status,
}

/// Every error leaves the service in this form.
#[derive(Debug, Serialize)]
pub struct Failure {
    #[serde(skip)]
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl Failure {
    fn unprocessable(code: &'static str, message: impl Into<String>) -> Failure {
        Failure { status: StatusCode::UNPROCESSABLE_ENTITY, code, message: message.into() }
    }

    fn missing(id: u64) -> Failure {
        Failure { status: StatusCode::NOT_FOUND, code: "no_such_order", message: format!("there is no order {id}") }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (self.status, Json(self)).into_response()
    }
}

/// All routes of the service.
pub fn routes(orders: Orders) -> Router {
    Router::new()
        .route("/orders", post(create).get(list))
        .route("/orders/{id}", get(show))
        .route("/orders/{id}/pay", post(pay))
        .route("/health", get(|| async { "ok" }))
        .with_state(orders)
}

async fn create(State(orders): State<Orders>, Json(new): Json<NewOrder>) -> Result<(StatusCode, Json<Order>), Failure> {
    check(&new)?;
    let price = sum(&new.items)?;
    let payable = price::payable(price, new.discount, new.coupon);
    let mut store = orders.inner.lock().expect("no handler panics while it holds the lock");
    store.next += 1;
    let order = Order { id: store.next, items: new.items, price, payable, status: Status::Open };
    store.orders.insert(order.id, order.clone());
    Ok((StatusCode::CREATED, Json(order)))
}

fn check(new: &NewOrder) -> Result<(), Failure> {
    if new.items.is_empty() {
        return Err(Failure::unprocessable("no_items", "an order needs at least one item"));
    }
    if new.items.len() > MAX_ITEMS {
        return Err(Failure::unprocessable("too_many_items", format!("at most {MAX_ITEMS} items")));
    }
    if new.discount > 100 {
        return Err(Failure::unprocessable("bad_discount", format!("{} is not between 0 and 100", new.discount)));
    }
    match new.items.iter().find(|item| item.count == 0 || item.count > MAX_COUNT) {
        Some(item) => Err(Failure::unprocessable("bad_count", format!("{} pieces of {}", item.count, item.sku))),
        None => Ok(()),
    }
}

fn sum(items: &[Item]) -> Result<u64, Failure> {
    items
        .iter()
        .try_fold(0_u64, |sum, item| item.unit_price.checked_mul(item.count).and_then(|line| sum.checked_add(line)))
        .ok_or_else(|| Failure::unprocessable("too_expensive", "the sum does not fit"))
}

/// Which orders to list.
#[derive(Debug, Deserialize)]
pub struct Filter {
    status: Option<Status>,
    #[serde(default)]
    after: u64,
}

async fn list(State(orders): State<Orders>, Query(filter): Query<Filter>) -> Json<Vec<Order>> {
    let store = orders.inner.lock().expect("no handler panics while it holds the lock");
    let page = store
        .orders
        .range(filter.after + 1..)
        .map(|(_, order)| order)
        .filter(|order| filter.status.is_none_or(|status| order.status == status))
        .take(50)
        .cloned()
        .collect();
    Json(page)
}

async fn show(State(orders): State<Orders>, Path(id): Path<u64>) -> Result<Json<Order>, Failure> {
    let store = orders.inner.lock().expect("no handler panics while it holds the lock");
    store.orders.get(&id).cloned().map(Json).ok_or_else(|| Failure::missing(id))
}

async fn pay(State(orders): State<Orders>, Path(id): Path<u64>) -> Result<Json<Order>, Failure> {
    let mut store = orders.inner.lock().expect("no handler panics while it holds the lock");
    let order = store.orders.get_mut(&id).ok_or_else(|| Failure::missing(id))?;
    if order.status != Status::Open {
        return Err(Failure::unprocessable("not_open", format!("order {id} is {:?}", order.status)));
    }
    order.status = Status::Paid;
    Ok(Json(order.clone()))
}
