//! Writes the pages of the manual, one for each command, for packages: `cargo run -p rawr-sidecar --example man -- DIR`. They come from
//! the command line's own definition. Not a command of rawr, whose binary would grow.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// Write the manual pages of rawr
#[derive(Debug, Parser)]
struct ManArgs {
    /// The folder to write to, such as share/man/man1
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

fn main() -> anyhow::Result<ExitCode> {
    let args = ManArgs::parse();
    std::fs::create_dir_all(&args.folder)?;
    clap_mangen::generate_to(rawr_cli::visible_command(), &args.folder)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use clap::Command;

    /// The pages as a reader sees their words.
    fn pages(folder: &Path) -> BTreeMap<String, String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let page = |path: &Path| {
            let text = std::fs::read_to_string(path).unwrap();
            let text = text.replace("\\-", "-").replace("\\*(Aq", "'");
            (path.file_name().unwrap().to_str().unwrap().to_owned(), text)
        };
        entries.map(|entry| page(&entry.unwrap().path())).collect()
    }

    /// Moves the page of a command, and of each command below it, out of `pages`.
    fn check(command: &Command, name: &str, pages: &mut BTreeMap<String, String>) {
        let page = pages.remove(&format!("{name}.1")).unwrap_or_else(|| panic!("no {name}.1"));
        let about = command.get_about().unwrap().to_string();
        assert!(page.contains(&format!("{name} - {about}")), "{about}: {page}");
        for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
            let is_named =
                argument.get_long().is_none_or(|long| page.contains(&format!("--{long}")));
            assert!(is_named, "{argument}: {page}");
        }
        for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = format!("{name}-{}", command.get_name());
            assert!(page.contains(&format!("{name}(1)")), "{name}: {page}");
            check(command, &name, pages);
        }
    }

    #[test]
    fn every_command_has_a_page_with_its_options() {
        let folder = tempfile::tempdir().unwrap();
        clap_mangen::generate_to(rawr_cli::visible_command(), folder.path()).unwrap();
        let mut pages = pages(folder.path());
        check(&rawr_cli::visible_command(), "rawr", &mut pages);
        assert!(pages.is_empty(), "without a command: {:?}", pages.keys());
    }
}
