//! The target `front_matter` for cargo-fuzz. What it does stands in `src/front_matter.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rawr_fuzz::front_matter::run(data));
