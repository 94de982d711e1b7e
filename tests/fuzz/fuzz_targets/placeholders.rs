//! The target `placeholders` for cargo-fuzz. What it does stands in `src/placeholders.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rawr_fuzz::placeholders::run(data));
