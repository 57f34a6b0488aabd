//! The rows of the panes, one function for each: what is drawn, moved through, searched and clicked is the same list.

mod blocks;
mod calls;
mod compare;
mod compose;
mod diff;
mod form;
mod injectors;
mod laid;
mod ledger;
mod lints;
mod log;
mod orders;
mod overlay;
mod overlay_life;
mod page;
mod recording;
mod request;
mod steps;
mod what_if;
mod why;
mod zones;

pub use calls::{CallLine, call_line_text, call_lines};
pub use compare::{FIRST_TURN, compared_table, first_turn_only, selected_way};
pub use compose::effect as composed_effect;
pub use diff::{DiffRow, DiffRows, Half, Widths};
pub use laid::Laid;
pub use orders::{Both, StrokeCell, both_orders, meet, order_words, stroke};
pub use overlay::{Answer, ListRow, Pick, ReplyWith, list_keys, list_rows, list_title};
pub use page::{Cell, Column, GAP, Goal, Group, Ink, Line, Page, page, page_cells, page_stands};
pub use request::{BlockRows, Look, Reading, Row, span_in};
pub use why::{WhyKind, WhyLine, why_lines};
pub use zones::{Run, bar, blame_line as zones_blame, lane_of as zone_lane};
