//! The program from outside: its commands, its screens, and the rules of the house.

mod cli;
mod house;
