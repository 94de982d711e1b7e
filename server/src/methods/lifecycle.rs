//! The beginning and the end of a connection.

use super::{Module, Session, document, on};
use crate::config::Home;
use crate::desk::{Desk, Notice, Setup};
use crate::publish::publish;
use crate::redact::redact;
use crate::wire::RpcError;
use jsonrpsee::core::RegisterMethodError;
use rawr_protocol::methods::{Initialize, Shutdown};
use rawr_protocol::{Empty, ErrorCode, InitializeParams, InitializeResult};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<Initialize>(module, initialize)?;
    on::<Shutdown>(module, shutdown)
}

fn initialize(session: &Session, params: InitializeParams) -> Result<InitializeResult, RpcError> {
    if let Some(wanted) = params.trace {
        session.trace.set(wanted);
    }
    let options = params.initialization_options;
    let explicit = options.home.map(PathBuf::from).or_else(|| session.home.clone());
    let home =
        Home::resolve(explicit.as_deref(), options.config_file.as_deref()).map_err(|problem| {
            RpcError::new(
                ErrorCode::InvalidParams,
                problem.message,
                "set RAWR_HOME, or give `home` in initializationOptions",
            )
        })?;
    let setup = Setup {
        home,
        prompt_folder: options.prompt_dir.map(PathBuf::from),
        overrides: (!options.config.is_empty())
            .then_some(serde_json::Value::Object(options.config)),
    };
    let outbox = session.outbox.clone();
    let edited = Arc::clone(&session.edited);
    let tell = Box::new(move |notice: Notice<'_>| {
        if matches!(notice, Notice::PromptChanged { .. } | Notice::ConfigChanged { .. }) {
            edited.store(true, Ordering::Relaxed);
        }
        publish(&notice, &outbox);
    });
    let desk = Desk::new(setup, session.changes.clone(), tell);
    if !session.set_desk(desk) {
        return Err(RpcError::new(
            ErrorCode::InvalidRequest,
            "initialize is sent once",
            "go on with this connection",
        ));
    }
    if let Some(client) = params.client_info {
        session.client.get_or_init(|| redact(&client.name).into_owned());
    }
    let documents = document::greet(session, &params.capabilities);
    Ok(InitializeResult::new(env!("CARGO_PKG_VERSION")).with(documents))
}

fn shutdown(session: &Session, _: Empty) -> Result<(), RpcError> {
    session.leave();
    Ok(())
}
