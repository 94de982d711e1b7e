//! The target `message` for cargo-fuzz. What it does stands in `src/message.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rawr_fuzz::message::run(data));
