//! The front end for Rust on any text.
#![no_main]

mod typed_front_end;

libfuzzer_sys::fuzz_target!(|text: &str| typed_front_end::try_on(&fencewright_rust::Rust::ANY, text));
