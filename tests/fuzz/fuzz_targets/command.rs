//! The target `command` for cargo-fuzz. What it does stands in `src/command.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rawr_fuzz::command::run(data));
