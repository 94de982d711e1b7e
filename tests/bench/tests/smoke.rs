//! The bench end to end in a debug build: rows come out, and replies are read.
//! It must not look at how fast anything was, and needs neither Node nor a network.

use std::{
    path::Path,
    process::{Command, Output},
};

use serde_json::Value;

fn bench(args: &[&str]) -> (Output, Vec<Value>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rawr-bench"));
    let output = command.args(["--quick", "--json"]).args(args).output().unwrap();
    let lines = String::from_utf8(output.stdout.clone()).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (output, lines)
}

/// Each of these servers has a row in each of these tables, with numbers in it.
fn check(only: &str, servers: &[&str], tables: &[(&str, usize)]) {
    let (output, lines) = bench(&["--only", only]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for server in servers {
        for (table, rows) in tables {
            let of = |line: &&Value| line["measure"] == *table && line["server"] == *server;
            let found: Vec<_> =
                lines.iter().filter(of).filter(|line| line["event"] == "row").collect();
            assert_eq!(found.len(), *rows, "{table} of {server}: {lines:#?}");
            let numbers = found.iter().flat_map(|row| row.as_object().unwrap().values());
            assert!(numbers.filter_map(Value::as_f64).all(f64::is_finite), "{found:#?}");
        }
    }
}

const SERVER_TABLES: &[(&str, usize)] =
    &[("verified", 1), ("start", 1), ("round_trip", 2), ("pipelined", 2)];

#[test]
fn native_peers_come_out_in_every_table() {
    check(
        "cat,copy,lsp-server,jsonrpsee",
        &["cat", "copy", "lsp-server", "jsonrpsee"],
        SERVER_TABLES,
    );
}

#[test]
fn yardsticks_of_the_store_come_out() {
    check("store", &["write(2)"], &[("append", 1)]);
    check("store", &["split-lines"], &[("replay", 1)]);
}

#[test]
fn the_sidecar_comes_out_when_it_is_built() {
    let built = Path::new(env!("CARGO_BIN_EXE_rawr-bench")).with_file_name("rawr");
    if built.exists() {
        check("rawr", &["rawr-usage"], SERVER_TABLES);
        check("rawr", &["rawr"], &[("durable", 1)]);
    }
}

#[test]
fn a_server_that_answers_wrongly_is_named_and_fails_the_run() {
    let copy = env!("CARGO_BIN_EXE_peer-copy");
    let (output, lines) = bench(&["--only", "rawr", "--rawr", copy]);
    assert!(!output.status.success());
    let failed: Vec<_> = lines.iter().filter(|line| line["event"] == "failed").collect();
    assert_eq!(failed.len(), 2, "{lines:#?}");
}
