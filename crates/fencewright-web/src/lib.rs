//! The local page: a program to edit, its verdict, its run, its fences, and its states to walk through.
//!
//! ```text
//!   browser ──▶ http (one small request) ──▶ guard (who may ask) ──▶ routes ──▶ page (embedded)
//!                                                                      ╰──▶ api ──▶ jobs: checks in the background
//! ```
//!
//! The server listens on the loopback interface only, answers nobody who does not know its token, and touches no file.
//! The library decides everything; here is only what a browser and its protocol need.

mod api;
mod asked;
mod guard;
mod http;
mod jobs;
mod question;
mod routes;
mod server;

pub use server::{MAX_TEXT_BYTES, Server, Settings};
