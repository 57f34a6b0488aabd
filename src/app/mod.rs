//! The workbench without a terminal: state, events, effects, and the engine that composes.

pub mod action;
pub mod blast;
pub mod blocks;
pub mod cells;
pub mod compose;
pub mod copy;
pub mod diff;
pub mod editor;
pub mod effect;
pub mod engine;
pub mod event;
pub mod folders;
pub mod form;
pub mod highlight;
pub mod key;
pub mod keymap;
pub mod line_editor;
pub mod marks;
pub mod rows;
pub mod setup;
pub mod snapshot;
pub mod state;
pub mod tables;
pub mod update;
pub mod views;
