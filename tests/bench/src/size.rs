//! The size of the binary: where its bytes are, and which crates its code is from. The latter needs symbols.

use std::{borrow::Cow, collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind};

use crate::report::{BINARY, Measure, Row};

/// Crates with less code are added up.
const CRATES: usize = 25;

/// The rows of a program.
pub fn of(program: &Path) -> Result<Vec<Row>> {
    let bytes = fs::read(program).with_context(|| program.display().to_string())?;
    let file = object::File::parse(&*bytes)?;
    let mut parts = BTreeMap::new();
    let mut names = 0;
    for section in file.sections() {
        let part = match section.name()? {
            ".text" => "codeMb",
            ".rodata" => "dataMb",
            ".eh_frame" | ".eh_frame_hdr" | ".gcc_except_table" => "unwindMb",
            ".rela.dyn" | ".relr.dyn" | ".data.rel.ro" | ".got" => "pointersMb",
            // Not in a stripped program.
            ".symtab" | ".strtab" => {
                names += section.size();
                continue;
            }
            name if name.starts_with(".debug") => {
                names += section.size();
                continue;
            }
            _ => continue,
        };
        *parts.entry(part).or_default() += section.size();
    }
    let mut cells = vec![("totalMb", mb(bytes.len() as u64 - names))];
    cells.extend(parts.into_iter().map(|(part, size): (_, u64)| (part, mb(size))));
    let mut rows = vec![Row::of(Measure::Size, "stripped", BINARY, &[cells])];
    rows.extend(code_by_crate(&file));
    Ok(rows)
}

fn code_by_crate(file: &object::File<'_>) -> Vec<Row> {
    let mut crates: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text) {
        let Ok(name) = symbol.name() else { continue };
        let (size, functions) = crates.entry(crate_of(name)).or_default();
        *size += symbol.size();
        *functions += 1;
    }
    let mut crates: Vec<_> = crates.into_iter().collect();
    crates.sort_by_key(|(_, (size, _))| std::cmp::Reverse(*size));
    let small = crates.split_off(CRATES.min(crates.len()));
    let rest = small
        .into_iter()
        .fold((0, 0), |(size, functions), (_, (more, number))| (size + more, functions + number));
    if rest.1 != 0 {
        crates.push(("all others".to_owned(), rest));
    }
    let row = |(name, (size, functions)): (String, (u64, u64))| {
        let cells = vec![("codeKb", size as f64 / 1e3), ("functions", functions as f64)];
        Row::of(Measure::Code, "by crate", Cow::Owned(name), &[cells])
    };
    crates.into_iter().map(row).collect()
}

/// The crate that a function is defined in, generic or not.
fn crate_of(symbol: &str) -> String {
    let name = rustc_demangle::demangle(symbol);
    if name.as_str() == symbol && !symbol.starts_with("_R") && !symbol.starts_with("_ZN") {
        return "not Rust".to_owned();
    }
    let name = format!("{name:#}");
    // `<&mut a::B as c::D>::e` is of `a`.
    let start = name.find(|first: char| first.is_ascii_lowercase()).unwrap_or_default();
    let path = name[start..].trim_start_matches("mut ").trim_start_matches("dyn ");
    path.split("::").next().unwrap_or_default().to_owned()
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_of_the_crate_that_defines_it() {
        let crates = [
            "_ZN4core3ptr85drop_in_place$LT$std..rt..lang_start$LT$$LP$$RP$$GT$..$u7b$$u7b$closure$u7d$$u7d$$GT$17h0123456789abcdefE",
            "_ZN73_$LT$$RF$mut$u20$serde_json..de..Deserializer$u20$as$u20$serde..de..D$GT$3any17h0123456789abcdefE",
            "_RNvCs1234_7mycrate3foo",
            "main",
        ];
        let found = crates.map(crate_of);
        assert_eq!(found, ["core", "serde_json", "mycrate", "not Rust"]);
    }

    #[test]
    fn a_program_has_code() {
        let rows = of(&std::env::current_exe().unwrap()).unwrap();
        assert!(rows[0].cell("codeMb").unwrap() > 0.1, "{rows:?}");
        assert!(rows[0].cell("totalMb").unwrap() >= rows[0].cell("codeMb").unwrap(), "{rows:?}");
        let known = rows.iter().any(|row| row.server == "core");
        assert!(known, "{rows:?}");
    }
}
