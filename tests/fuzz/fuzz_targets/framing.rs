//! The target `framing` for cargo-fuzz. What it does stands in `src/framing.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rawr_fuzz::framing::run(data));
