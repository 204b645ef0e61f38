//! Rust programs as users have them: the examples and their repairs, random ones beside their `.fw` twins, pairs with
//! C programs, and wrong ones.

mod compiled;
mod examples;
mod pairs;
mod repairs;
mod twins;
mod wrong;
