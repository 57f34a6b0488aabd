//! What other programs and the providers promise, case by case.

mod cache;
mod compare;
mod lost_updates;
mod mao;
mod netaclaw;
mod omx;
mod registry;
mod scene;
mod wegent;
mod xbot;
mod xbot_pipeline;
