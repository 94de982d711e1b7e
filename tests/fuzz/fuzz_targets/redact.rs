//! The target `redact` for cargo-fuzz. What it does stands in `src/redact.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rawr_fuzz::redact::run(data));
