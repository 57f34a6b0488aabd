//! What other programs and the providers promise, case by case.

mod scene;
mod xbot;
