//! Commands that are made of others.

use std::process::Command;

/// Gives a command the environment and the folder of another one.
pub fn place_as(command: &mut Command, other: &Command) {
    for (name, value) in other.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(folder) = other.get_current_dir() {
        command.current_dir(folder);
    }
}
