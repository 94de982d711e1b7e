//! What a replay found: sums, sessions and plots for a terminal, or a page that holds it all.

mod html;
mod text;

pub(crate) use html::page;
pub(crate) use text::{ReplayColumn, ReplayPrinter};
