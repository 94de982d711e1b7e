//! Yardstick of the bench: copies standard input to standard output, byte for byte.
//! It must not frame, parse or buffer across reads: it is the floor under any server written in Rust.

use rustix::{io, stdio};

fn main() -> std::io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = io::read(stdio::stdin(), &mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        let mut rest = &buffer[..read];
        while !rest.is_empty() {
            let written = io::write(stdio::stdout(), rest)?;
            rest = &rest[written..];
        }
    }
}
