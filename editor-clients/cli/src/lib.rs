//! The `rawr` command line: a client of the sidecar, and the hosts that it drives. It decides nothing about compaction.

pub mod host;
