//! Rust programs as users have them: the examples and their repairs, others beside their `.fw` twins, random
//! ones among them, and wrong ones.

mod aliases;
mod compiled;
mod examples;
mod orders;
mod pairs;
mod printed;
mod repairs;
mod twins;
mod wrong;
