//! The target `events` for cargo-fuzz. What it does stands in `src/events.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rawr_fuzz::events::run(data));
