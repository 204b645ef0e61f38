//! Rust programs as users have them: the examples and their repairs, random ones beside their `.fw` twins, and wrong
//! ones.

mod compiled;
mod examples;
mod repairs;
mod twins;
mod wrong;
