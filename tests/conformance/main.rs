//! What other programs and the providers promise, case by case.

mod cache;
mod mao;
mod scene;
mod xbot;
