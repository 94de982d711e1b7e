//! The bench end to end in a debug build: rows come out, and replies are read.
//! It must not look at how fast anything was, and needs neither Node nor a network; `records` needs Python.

use std::process::{Command, Output};

use anyhow::Result;
use serde_json::Value;

fn bench(args: &[&str]) -> Result<(Output, Vec<Value>)> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rawr-bench"));
    let output = command.args(["--quick", "--json"]).args(args).output()?;
    let lines = str::from_utf8(&output.stdout)?.lines().map(serde_json::from_str);
    let lines = lines.collect::<Result<_, _>>()?;
    Ok((output, lines))
}

/// Each of these servers has as many rows as told in each of these tables, with a number in every cell.
fn check(only: &str, servers: &[&str], tables: &[(&str, usize)]) -> Result<()> {
    let (output, lines) = bench(&["--only", only])?;
    let said = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{}", said.join("\n"));
    let rows: Vec<&Value> = lines.iter().filter(|line| line["event"] == "row").collect();
    for server in servers {
        for (table, expected) in tables {
            let of = |row: &&&Value| row["measure"] == *table && row["server"] == *server;
            let found: Vec<_> = rows.iter().filter(of).collect();
            assert_eq!(found.len(), *expected, "{table} of {server}: {rows:#?}");
            // A number that came to nothing is written as null.
            let cells = found.iter().filter_map(|row| row.as_object()).flat_map(|row| row.values());
            assert!(cells.into_iter().all(|cell| !cell.is_null()), "{found:#?}");
        }
    }
    Ok(())
}

const SERVER_TABLES: &[(&str, usize)] =
    &[("verified", 1), ("start", 1), ("round_trip", 2), ("pipelined", 2)];

#[test]
fn native_peers_come_out_in_every_table() -> Result<()> {
    let servers = ["cat", "copy", "lsp-server", "jsonrpsee"];
    check("cat,copy,lsp-server,jsonrpsee", &servers, SERVER_TABLES)
}

#[test]
fn yardsticks_of_the_store_come_out() -> Result<()> {
    check("store", &["write(2)"], &[("append", 1)])?;
    check("store", &["split-lines"], &[("replay", 1)])
}

#[test]
fn tokens_come_out_beside_their_yardsticks() -> Result<()> {
    let servers = ["tiktoken-rs", "exact"];
    check("tokens", &servers, &[("count", 1)])?;
    check("tokens", &["pieces alone", "exact"], &[("grow", 1)])
}

#[test]
fn words_come_out_beside_their_yardstick() -> Result<()> {
    let servers = ["lowercase words", "claim", "work at hand", "next message"];
    check("words", &servers, &[("hear", 1)])
}

#[test]
fn records_come_out_beside_their_yardsticks() -> Result<()> {
    if Command::new("python3").arg("--version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "python3 is missing");
        return Ok(());
    }
    let servers = ["python3", "serde_json", "one core", "all cores"];
    check("records", &servers, &[("records", 1)])
}

#[test]
fn a_server_that_answers_wrongly_is_named_and_fails_the_run() -> Result<()> {
    let copy = env!("CARGO_BIN_EXE_peer-copy");
    let (output, lines) = bench(&["--only", "rawr", "--rawr", copy])?;
    assert!(!output.status.success());
    let failed = lines.iter().filter(|line| line["event"] == "failed");
    assert_eq!(failed.count(), 2, "{lines:#?}");
    Ok(())
}

/// Loads the debug build of the sidecar.
mod long {
    use super::{Result, SERVER_TABLES, check};

    #[test]
    #[ignore = "needs the rawr binary, built in the same profile"]
    fn the_sidecar_comes_out_in_every_table() -> Result<()> {
        check("rawr", &["rawr-usage"], SERVER_TABLES)?;
        check("rawr", &["rawr hook, whole"], &[("start", 1)])?;
        check("rawr", &["rawr"], &[("durable", 1), ("saved", 2)])
    }
}
