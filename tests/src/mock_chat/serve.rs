//! The HTTP server of the mock: one thread and one request per connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, PoisonError};

use super::{ChatPurpose, ChatRequest, Shared};

/// Serves on a thread of its own until the mock is stopped.
pub(super) fn listen(shared: Arc<Shared>) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    std::thread::Builder::new().name("mock chat".to_owned()).spawn(move || {
        for connection in listener.incoming().flatten() {
            if shared.seen().stopped {
                return;
            }
            let shared = Arc::clone(&shared);
            // A client that hangs up in the middle is part of the tests.
            std::thread::spawn(move || drop(answer(&shared, &connection)));
        }
    })?;
    Ok(address)
}

fn answer(shared: &Shared, connection: &TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(connection);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim().split_once(':') else { break };
        match name.to_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "authorization" => authorization = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    let mut request = ChatRequest { purpose: ChatPurpose::Turn, authorization, body };
    request.purpose = match path.as_str() {
        "/v1/responses/compact" => ChatPurpose::Compaction,
        _ if request.body.get("response_format").is_some() => ChatPurpose::Judgment,
        _ if request.body["tool_choice"] == "none" => ChatPurpose::Summary,
        _ => ChatPurpose::Turn,
    };
    let number = shared.seen().requests.len() + 1;
    let reply = shared.take(request.clone());
    reply.await_gate();
    let written = reply.written(number, &request);
    let mut connection = connection;
    let (status, headers, body) = (written.status, written.headers, written.body);
    // The end of the connection is the end of the body.
    let head = format!("HTTP/1.1 {status} Scripted\r\nConnection: close\r\n{headers}\r\n");
    connection.write_all(head.as_bytes())?;
    connection.write_all(body.as_bytes())?;
    connection.flush()?;
    let mut seen = shared.seen();
    while written.stays_open && !seen.stopped {
        seen = shared.changed.wait(seen).unwrap_or_else(PoisonError::into_inner);
    }
    Ok(())
}
