//! `rawr test`: runs the policy tests of a repository. It needs no sidecar; `rawr-analysis` does the work.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use rawr_analysis::policy_tests::{
    FILE_NAME, PolicyTestError, PolicyTestRequest, PolicyTestResult, PolicyTestSuite, UserConfig,
    nearest_file,
};
use rawr_settings::config::Preset;
use rawr_settings::problem::{FileProblem, RenderMode};
use serde_json::json;

use super::common::{CommonOptions, write_whole};
use super::is_broken_pipe;
use super::threads::{complain, print_result};
use super::user_files::show;
use crate::args::TestArgs;
use crate::render::{causes, junit, policy_tests};

/// A file is wrong, there is no test to run, or the report cannot be written.
const NOTHING_TESTED: u8 = 2;

/// Runs the command. Its exit codes tell a failed test from everything else that fails.
pub(super) fn run(common: &CommonOptions, args: &TestArgs) -> ExitCode {
    test(common, args).unwrap_or_else(|error| {
        if let Some(PolicyTestError::Files(problems)) = error.downcast_ref() {
            // If the output is closed, the exit code still reports them.
            let _ = print_problems(problems, args.json);
        }
        complain(&causes(&error));
        ExitCode::from(NOTHING_TESTED)
    })
}

fn test(common: &CommonOptions, args: &TestArgs) -> anyhow::Result<ExitCode> {
    let suite = PolicyTestSuite::load(&request(common, args)?)?;
    if args.list {
        return unless_closed(list(&suite, args.json), ExitCode::SUCCESS);
    }
    let results: Vec<_> = suite.run().collect();
    if let Some(file) = &args.junit {
        write_whole(file, junit::report(&results).as_bytes())
            .with_context(|| format!("failed to write {}", file.display()))?;
    }
    let passed = results.iter().all(|result| result.passed);
    let code = if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    unless_closed(print(&suite, &results, args.json), code)
}

/// A reader that has seen enough does not change what came of the tests.
fn unless_closed(printed: anyhow::Result<()>, code: ExitCode) -> anyhow::Result<ExitCode> {
    match printed {
        Err(error) if !is_broken_pipe(&error) => Err(error),
        _ => Ok(code),
    }
}

fn list(suite: &PolicyTestSuite, as_json: bool) -> anyhow::Result<()> {
    for test in suite.names() {
        print_result(as_json, "policy_test_listed", &test, &[policy_tests::name(&test)])?;
    }
    Ok(())
}

fn print(
    suite: &PolicyTestSuite,
    results: &[PolicyTestResult],
    as_json: bool,
) -> anyhow::Result<()> {
    print_problems(&suite.warnings, as_json)?;
    for result in results {
        print_result(as_json, "policy_test", result, &policy_tests::result(result))?;
    }
    let failed = results.iter().filter(|result| !result.passed).count();
    let body =
        json!({ "tests": results.len(), "passed": results.len() - failed, "failed": failed });
    print_result(as_json, "policy_tests_done", &body, &policy_tests::summary(results.len(), failed))
}

fn request(common: &CommonOptions, args: &TestArgs) -> anyhow::Result<PolicyTestRequest> {
    let user = match &args.config {
        Some(file) if !file.is_file() => bail!("there is no file {}", file.display()),
        Some(file) => UserConfig::File(file.clone()),
        None if args.no_user_config => UserConfig::Preset(Preset::default()),
        None => UserConfig::Home(common.home()?),
    };
    let paths = if args.paths.is_empty() { vec![nearest()?] } else { args.paths.clone() };
    Ok(PolicyTestRequest { paths, user, filter: args.filter.clone() })
}

fn nearest() -> anyhow::Result<PathBuf> {
    let folder = std::env::current_dir()
        .context("the current folder no longer exists; pass the path of a file of tests")?;
    let Some(file) = nearest_file(&folder) else {
        bail!(
            "there is no {FILE_NAME} in {}, nor above it in its repository; pass the path of one",
            folder.display()
        )
    };
    Ok(file.strip_prefix(&folder).map(PathBuf::from).unwrap_or(file))
}

/// To people on standard error, so that the output holds tests alone.
fn print_problems(problems: &[FileProblem], as_json: bool) -> anyhow::Result<()> {
    for problem in show(problems, RenderMode::Coloured) {
        if as_json {
            print_result(true, "problem", &problem.wire, &[])?;
        } else {
            // A closed stderr leaves the exit code.
            let _ = writeln!(anstream::stderr(), "{}\n", problem.text);
        }
    }
    Ok(())
}
