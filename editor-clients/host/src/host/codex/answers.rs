//! Answers Codex's requests to its client. All approvals are declined, because no user may be present. Pure.

use serde_json::{Value, json};

/// The answer to a request, and a notice for the user.
#[derive(Debug, PartialEq)]
pub(super) struct RequestAnswer {
    /// The reply without its id.
    pub(super) reply: Value,
    pub(super) notice: Option<String>,
}

/// Answers one request of Codex.
pub(super) fn answer(method: &str, params: &Value) -> RequestAnswer {
    let declined = |result: Value, what: &str| RequestAnswer {
        reply: json!({ "result": result }),
        notice: Some(format!(
            "codex requested {what}; declined because rawr runs it without approvals"
        )),
    };
    match method {
        "item/commandExecution/requestApproval" => declined(
            json!({"decision": "decline"}),
            &format!("approval of the command {}", named(params, "command")),
        ),
        "item/fileChange/requestApproval" => {
            declined(json!({"decision": "decline"}), "approval of a file change")
        }
        "execCommandApproval" | "applyPatchApproval" => {
            let rejection = "rawr runs codex without approvals";
            declined(json!({"decision": {"denied": {"rejection": rejection}}}), "an approval")
        }
        "item/permissions/requestApproval" => {
            declined(json!({"permissions": {}, "scope": "turn"}), "further permissions")
        }
        "mcpServer/elicitation/request" => {
            let result = json!({"action": "decline", "content": null, "_meta": null});
            declined(
                result,
                &format!("an input for the MCP server {}", named(params, "serverName")),
            )
        }
        "item/tool/requestUserInput" => declined(json!({"answers": {}}), "an answer by the user"),
        "item/tool/call" => {
            declined(json!({"contentItems": [], "success": false}), "a tool of its client")
        }
        _ => RequestAnswer {
            reply: json!({"error": {"code": -32601, "message": format!("rawr does not support {method}")}}),
            notice: None,
        },
    }
}

fn named<'p>(params: &'p Value, field: &str) -> &'p str {
    params[field].as_str().unwrap_or("that it does not name")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(method: &str, params: Value, reply: Value, notice: Option<&str>) {
        let notice = notice.map(|what| {
            format!("codex requested {what}; declined because rawr runs it without approvals")
        });
        assert_eq!(answer(method, &params), RequestAnswer { reply, notice });
    }

    #[test]
    fn approvals_are_declined_with_a_notice() {
        check(
            "item/commandExecution/requestApproval",
            json!({"command": "rm -r x"}),
            json!({"result": {"decision": "decline"}}),
            Some("approval of the command rm -r x"),
        );
        check(
            "item/fileChange/requestApproval",
            json!({}),
            json!({"result": {"decision": "decline"}}),
            Some("approval of a file change"),
        );
        check(
            "item/permissions/requestApproval",
            json!({}),
            json!({"result": {"permissions": {}, "scope": "turn"}}),
            Some("further permissions"),
        );
    }

    #[test]
    fn an_unknown_request_gets_an_error() {
        let reply =
            json!({"error": {"code": -32601, "message": "rawr does not support new/question"}});
        check("new/question", json!({}), reply, None);
    }
}
