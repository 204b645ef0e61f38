//! The front end for C on any text.
#![no_main]

mod typed_front_end;

libfuzzer_sys::fuzz_target!(|text: &str| typed_front_end::try_on(&fencewright_c::C, text));
