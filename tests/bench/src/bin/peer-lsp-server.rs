//! Yardstick of the bench: an echo server on the lsp-server crate, wired as its documentation shows.
//! It must not do more than answer `initialize` and return the params of any request.

use std::error::Error;

use lsp_server::{Connection, Message, Response};
use serde_json::json;

fn main() -> Result<(), Box<dyn Error + Sync + Send>> {
    let (connection, threads) = Connection::stdio();
    connection.initialize(json!({}))?;
    for message in &connection.receiver {
        if let Message::Request(request) = message {
            let reply = Response::new_ok(request.id, request.params);
            connection.sender.send(Message::Response(reply))?;
        }
    }
    drop(connection);
    threads.join()?;
    Ok(())
}
