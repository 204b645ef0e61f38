//! The tests of the page, in one binary, so that it is linked once: a file for each matter.

mod common;

mod api;
mod attack;
mod browser;
