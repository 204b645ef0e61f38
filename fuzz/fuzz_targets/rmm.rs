//! The `.rmm` front end on any text.
#![no_main]

mod front_end;

libfuzzer_sys::fuzz_target!(|text: &str| front_end::try_on("rmm", text));
