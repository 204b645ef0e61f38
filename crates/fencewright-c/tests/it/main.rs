//! C programs as users have them: the examples and their repairs, random ones beside their `.fw` twins and on the
//! machine, litmus tests, and wrong ones.

mod compiled;
mod examples;
mod hardware;
mod litmus;
mod memory;
mod orders;
mod pairs;
mod printed;
mod repairs;
mod sync;
mod twins;
mod wrong;
