//! Each case is named after the rule that it holds.

mod folder;
mod rendered;
mod shipped;
mod text;

use super::*;
