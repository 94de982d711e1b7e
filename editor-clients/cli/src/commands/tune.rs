//! `rawr tune`: proposes a change of the configuration that reaches a target in recorded sessions. It needs no sidecar; the
//! `rawr-analysis` searches.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use rawr_analysis::replay::{PolicySource, ReplayRequest};
use rawr_analysis::tune::{TuneResult, tune};
use rawr_host::stop::StopRequest;

use super::common::{CommonOptions, print_json};
use super::long_read::{ReadProgress, until_stopped};
use crate::args::TuneArgs;
use crate::render::tune::{print_diff, print_tuned};

/// Runs the command. The exit code is 1 where the target is not reached.
pub(super) async fn run(common: &CommonOptions, args: TuneArgs) -> anyhow::Result<ExitCode> {
    let mut stop = StopRequest::on_signals()?;
    let request = ReplayRequest {
        policies: vec![args.config.clone().map_or(PolicySource::Own, PolicySource::File)],
        ..args.sessions.request(common.home()?, &args.paths)
    };
    let progress = ReadProgress::of("sessions", !args.json);
    let target = args.target;
    let result = until_stopped(&mut stop, move |stop| {
        let result = tune(request, target, stop, &|done, of| progress.show(done, of));
        progress.clear();
        Ok(result?)
    });
    let result = result.await?;
    if result.is_stopped {
        let _ = writeln!(anstream::stderr(), "rawr: interrupted; nothing is proposed");
        return Ok(ExitCode::from(stop.exit_code()));
    }
    print(&result, &args)?;
    let is_reached = result.best().reaches_target;
    Ok(if is_reached { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print(result: &TuneResult, args: &TuneArgs) -> anyhow::Result<()> {
    if args.json {
        let mut out = io::BufWriter::new(io::stdout().lock());
        print_json(&mut out, result)?;
        return Ok(out.flush()?);
    }
    let mut out = anstream::AutoStream::auto(io::stdout());
    let text = match &result.diff {
        // For `patch`, as it is.
        diff if args.diff && !io::stdout().is_terminal() => diff.clone().unwrap_or_default(),
        _ if args.diff => print_diff(result),
        _ => print_tuned(result),
    };
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}
