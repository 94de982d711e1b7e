//! Where Codex compacts by itself: its setting, else a share of the window.

use std::path::Path;

use rawr_records::profile::CODEX;
use serde::Deserialize;

use super::connection::CodexConnection;
use super::requests;
use crate::host::HostError;

/// The settings of Codex's own compaction that are in force.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub(super) struct OwnLimit {
    model_auto_compact_token_limit: Option<i64>,
    model_auto_compact_token_limit_scope: Option<String>,
}

impl OwnLimit {
    /// Asks Codex. One that does not tell its configuration has the built-in limit.
    pub(super) async fn ask(
        connection: &mut CodexConnection,
        cwd: &Path,
    ) -> Result<Self, HostError> {
        let answer = connection.ask(requests::config_read_in(cwd)).await?;
        let config = answer.ok().and_then(|answer| Self::deserialize(&answer["config"]).ok());
        Ok(config.unwrap_or_default())
    }

    /// Above how many tokens it compacts in a window that it reports as this large; `None` if only the full window makes it
    /// compact.
    pub(super) fn of(&self, window: u64) -> Option<u64> {
        if self.model_auto_compact_token_limit_scope.as_deref() == Some("body_after_prefix") {
            return None;
        }
        let built_in = CODEX.compacts_above(window);
        let configured =
            self.model_auto_compact_token_limit.map(|limit| limit.max(0).unsigned_abs());
        built_in.into_iter().chain(configured).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_lower_one_of_setting_and_share_counts() {
        let check = |config: serde_json::Value, expected: Option<u64>| {
            let limit = OwnLimit::deserialize(&config).unwrap();
            assert_eq!(limit.of(200_000), expected, "{config}");
        };
        check(json!({}), Some(189_400));
        check(json!({"model_auto_compact_token_limit": null}), Some(189_400));
        check(json!({"model_auto_compact_token_limit": 125_000}), Some(125_000));
        check(json!({"model_auto_compact_token_limit": i64::MAX}), Some(189_400));
        check(json!({"model_auto_compact_token_limit": -1}), Some(0));
        let body = "body_after_prefix";
        check(
            json!({"model_auto_compact_token_limit": i64::MAX, "model_auto_compact_token_limit_scope": body}),
            None,
        );
    }
}
