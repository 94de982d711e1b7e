//! The target `router` for cargo-fuzz. What it does stands in `src/router.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rawr_fuzz::router::run(data));
