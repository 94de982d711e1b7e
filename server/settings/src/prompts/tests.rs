//! The name of each case is the rule that it tests.

mod folder;
mod rendered;
mod shipped;
mod text;

use super::*;
