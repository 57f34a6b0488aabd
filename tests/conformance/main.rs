//! What other programs and the providers promise, case by case.

mod cache;
mod scene;
mod xbot;
