//! The target `config` for cargo-fuzz. What it does stands in `src/config.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rawr_fuzz::config::run(data));
