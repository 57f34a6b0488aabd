//! The program from outside: its commands, its screens, and the rules of the house.

mod against;
mod audit;
mod audit_counts;
mod bench_syntax;
mod blame;
mod blocks;
mod cache_lab;
mod check;
mod cli;
mod columns;
mod commands;
mod compare;
mod demo_command;
mod diff;
mod edits;
mod engine;
mod failed_reads;
mod free_run;
mod heads;
#[cfg(unix)]
mod hostile;
mod house;
mod init;
mod injectors;
mod ledger;
mod lints;
mod models_command;
mod overlay;
mod overlay_command;
mod pictures;
mod plain_folder;
mod programs;
mod report;
mod restart;
mod screens;
#[cfg(unix)]
mod serve;
mod session;
mod settings;
mod slips;
#[path = "../support/mod.rs"]
mod support;
mod tours;
mod watch;
mod what_if;
mod wire;
