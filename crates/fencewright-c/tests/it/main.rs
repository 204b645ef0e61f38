//! C programs as users have them: the examples, random ones beside their `.fw` twins, and wrong ones.

mod examples;
mod twins;
mod wrong;
