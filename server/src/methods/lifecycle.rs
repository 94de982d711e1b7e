//! `initialize` and `shutdown`.

use super::{ClientSession, Module, document, on};
use crate::config::Home;
use crate::publish::{publish, publish_workspace};
use crate::redact::redact;
use crate::registry::{RegistryNotice, ThreadRegistry};
use crate::store::Store;
use crate::wire::RpcError;
use crate::workspace::{Workspace, WorkspaceNotice, WorkspaceSetup};
use jsonrpsee::core::RegisterMethodError;
use rawr_protocol::methods::{ConnectionCheck, Initialize, Shutdown};
use rawr_protocol::{Empty, ErrorCode, InitializeParams, InitializeResult};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on::<Initialize>(module, initialize)?;
    on::<ConnectionCheck>(module, |_, _| Ok(Empty {}))?;
    on::<Shutdown>(module, shutdown)
}

fn initialize(
    session: &ClientSession,
    params: InitializeParams,
) -> Result<InitializeResult, RpcError> {
    if let Some(wanted) = params.trace {
        session.trace.set(wanted);
    }
    let options = params.initialization_options;
    let is_usable =
        |home: &String| Path::new(home).starts_with("~") || Path::new(home).is_absolute();
    if options.home.as_ref().is_some_and(|home| !is_usable(home)) {
        // A client's current folder may be any, and the home would be created there.
        let problem = "home must be an absolute path, or one that begins with ~/";
        return Err(RpcError::bad_field("initializationOptions.home", problem));
    }
    let explicit = options.home.map(PathBuf::from).or_else(|| session.home.clone());
    let home =
        Home::resolve(explicit.as_deref(), options.config_file.as_deref()).map_err(|problem| {
            RpcError::new(
                ErrorCode::InvalidParams,
                problem.message,
                "set RAWR_HOME, or send `home` in initializationOptions",
            )
        })?;
    let setup = WorkspaceSetup {
        home,
        prompt_folder: options.prompt_dir.map(PathBuf::from),
        overrides: (!options.config.is_empty())
            .then_some(serde_json::Value::Object(options.config)),
    };
    let store = Store::new(&setup.home.dir);
    let (outbox, edited) = (session.outbox.clone(), Arc::clone(&session.edited));
    let tell = Box::new(move |notice: WorkspaceNotice<'_>| {
        if !matches!(notice, WorkspaceNotice::Problems { .. }) {
            edited.store(true, Ordering::Relaxed);
        }
        publish_workspace(&notice, &outbox);
    });
    let changes = session.changes.clone();
    let workspace = Workspace::open(setup, store.root().to_owned(), changes, tell);
    let outbox = session.outbox.clone();
    let tell = Box::new(move |notice: RegistryNotice<'_>| publish(&notice, &outbox));
    if !session.set_registry(ThreadRegistry::new(store, workspace, tell)) {
        return Err(RpcError::new(
            ErrorCode::InvalidRequest,
            "send initialize only once",
            "continue with this connection",
        ));
    }
    if let Some(client) = params.client_info {
        session.client.get_or_init(|| redact(&client.name).into_owned());
    }
    let documents = document::greet(session, &params.capabilities);
    Ok(InitializeResult::new(env!("CARGO_PKG_VERSION")).with(documents))
}

fn shutdown(session: &ClientSession, _: Empty) -> Result<(), RpcError> {
    session.leave();
    Ok(())
}
