//! The protocol's document names exactly the methods that are served and the notifications that are sent.

use super::{ClientSession, document, module};
use crate::connection::NOTIFICATIONS;
use rawr_protocol::lsp::LSP_METHODS;
use rawr_protocol::methods::{Direction, METHODS, MethodKind};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// As in `openrpc.json`, which is generated from the same tables.
fn documented(direction: Direction, kind: Option<MethodKind>) -> BTreeSet<&'static str> {
    let ours = METHODS.iter().map(|method| (method.name, method.direction, method.kind));
    let lsp = LSP_METHODS.iter().map(|method| (method.name, method.direction, method.kind));
    let is_meant = |(_, of, is): &(_, Direction, MethodKind)| {
        *of == direction && kind.is_none_or(|kind| kind == *is)
    };
    ours.chain(lsp).filter(is_meant).map(|(name, ..)| name).collect()
}

#[test]
fn exactly_the_served_requests_are_documented() {
    let session =
        ClientSession::new(Default::default(), Default::default(), Default::default(), None);
    let module = module(Arc::new(session)).unwrap();
    let served: BTreeSet<_> = module.method_names().collect();
    assert_eq!(served, documented(Direction::ToServer, Some(MethodKind::Request)));
}

#[test]
fn exactly_the_accepted_notifications_are_documented() {
    let taken = NOTIFICATIONS.into_iter().chain(document::TOLD.iter().map(|(name, _)| *name));
    let taken: BTreeSet<_> = taken.collect();
    assert_eq!(taken, documented(Direction::ToServer, Some(MethodKind::Notification)));
}

fn sources(folder: &Path, found: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if !path.ends_with("tests.rs") {
            found.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}

fn capitalized(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

#[test]
fn every_documented_notification_is_sent() {
    let mut source = String::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut source);
    for name in documented(Direction::ToClient, None) {
        // Sent by a marker type that is named like the method, or by the method's name.
        let words = name.split('/').filter(|word| !["rawr", "window", "$"].contains(word));
        let marker: String = words.map(capitalized).collect();
        // This one has a marker type with another name.
        let last = if name == "workspace/applyEdit" { "applyWorkspaceEdit" } else { name };
        let lsp = last.rsplit('/').next().map(capitalized);
        let sent = |how: &str, marker: &str| source.contains(&format!("{how}::<{marker}>"));
        let is_sent = sent("notify", &marker)
            || sent("order", &marker)
            || source.contains(&format!("\"{name}\""))
            || lsp.is_some_and(|lsp| source.contains(&format!("lsp::{lsp}")));
        assert!(is_sent, "{name} is never sent");
    }
}
