//! `initialize` and `shutdown`.

use super::document::{self, DocumentCapabilities, DocumentsHandle};
use super::session::SessionTasks;
use super::{ClientSession, Module, now, on, on_sync};
use crate::publish::{publish, publish_workspace};
use crate::registry::{Registry, RegistryNotice, ThreadContext};
use crate::wire::RpcError;
use crate::workspace::{Workspace, WorkspaceHandle, WorkspaceNotice, WorkspaceSetup};
use jsonrpsee::core::RegisterMethodError;
use rawr_protocol::methods::{ConnectionCheck, Initialize, Shutdown};
use rawr_protocol::{Empty, ErrorCode, InitializeParams, InitializeResult};
use rawr_settings::config::Home;
use rawr_storage::redact::redact;
use rawr_storage::store::Store;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Notify;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on_sync::<Initialize>(module, initialize)?;
    on_sync::<ConnectionCheck>(module, |_, _| Ok(Empty {}))?;
    on::<Shutdown, _>(module, shutdown)
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
    let can = DocumentCapabilities::of(&params.capabilities);
    let capabilities = document::capabilities(&can);
    if !session.start(|| start(session, setup, can)) {
        return Err(RpcError::new(
            ErrorCode::InvalidRequest,
            "send initialize only once",
            "continue with this connection",
        ));
    }
    if let Some(client) = params.client_info {
        session.client.get_or_init(|| redact(&client.name).into_owned());
    }
    Ok(InitializeResult::new(env!("CARGO_PKG_VERSION")).with(capabilities))
}

fn start(
    session: &ClientSession,
    setup: WorkspaceSetup,
    can: DocumentCapabilities,
) -> SessionTasks {
    let store = Store::new(&setup.home.dir);
    let edited = Arc::new(Notify::new());
    let (outbox, reloads) = (session.outbox.clone(), Arc::clone(&edited));
    let listener = Box::new(move |notice: WorkspaceNotice<'_>| {
        if !matches!(notice, WorkspaceNotice::Problems { .. }) {
            reloads.notify_one();
        }
        publish_workspace(&notice, &outbox);
    });
    let changes = session.changes.clone();
    let workspace = Workspace::open(setup, store.root().to_owned(), changes.clone(), listener);
    let workspace = WorkspaceHandle::start(workspace, Arc::new(now));
    // After the client has its answer, because it takes longer than that.
    workspace.go_live();
    let outbox = session.outbox.clone();
    let documents =
        DocumentsHandle::start(can, (store.clone(), outbox.clone()), workspace.clone(), edited);
    let listener = Arc::new(move |notice: RegistryNotice<'_>| publish(&notice, &outbox));
    let context = ThreadContext { store, workspace, listener, clock: Arc::new(now) };
    SessionTasks { registry: Registry::start(context, changes), documents }
}

async fn shutdown(session: Arc<ClientSession>, _: Empty) -> Result<(), RpcError> {
    session.leave().await;
    Ok(())
}
