//! `rawr test`, with its help text.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  rawr test                                the tests of this repository
  rawr test --no-user-config               the same on each machine, for continuous integration
  rawr test --config team.toml             with this file as the user's rawr.toml
  rawr test --filter commit                tests whose name contains `commit`
  rawr test --junit report.xml             a report for continuous integration

A test is a small scenario in rawr.tests.toml and what rawr should make of it. Nothing is changed and no model is asked.
Exit codes: 0 all tests passed, 1 a test failed, 2 a file is wrong or there is no test to run.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TestArgs {
    /// Files of tests, or folders with a rawr.tests.toml [default: the nearest, up to the repository's root]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Test under this rawr.toml instead of your own files
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Test under the built-in values instead of your own files
    #[arg(long, conflicts_with = "config")]
    pub no_user_config: bool,

    /// Only tests whose name contains this text
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,

    /// Print the names of the tests and run none
    #[arg(long, conflicts_with = "junit")]
    pub list: bool,

    /// Also write a report in the JUnit format
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Print JSON, one object per line
    #[arg(long)]
    pub json: bool,
}
