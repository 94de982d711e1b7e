//! `rawr/capsule/*`: capsules, compared with the current state of the work tree.

use super::errors::unknown_name;
use super::{ClientSession, Module, aside, directive, on_large};
use crate::registry::{OpenThread, RegistryError};
use crate::repo;
use crate::wire::{self, RpcError, ToWire};
use jsonrpsee::core::RegisterMethodError;
use rawr_core::event::Repo;
use rawr_core::policy::PacketAuthor;
use rawr_core::units::{SequenceId, Timestamp};
use rawr_protocol::methods::{CapsuleAttach, CapsuleGet, CapsuleList};
use rawr_protocol::{
    CapsuleAttachParams, CapsuleAttachResult, CapsuleGetParams, CapsuleGetResult, CapsuleHost,
    CapsuleListParams, CapsuleListResult, CapsulePacket, CapsuleScratch, CapsuleSummary, HeldInput,
    PlanStep, TranscriptPosition, Unread, WorkTree,
};
use rawr_storage::capsule::{CapsuleHistoryItem, CapsuleState, CapsuleStore, StoredCapsule};
use rawr_storage::redact::redact_counting;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

pub fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    on_large::<CapsuleList, _>(module, list)?;
    on_large::<CapsuleGet, _>(module, get)?;
    on_large::<CapsuleAttach, _>(module, attach)
}

async fn list(
    session: Arc<ClientSession>,
    params: CapsuleListParams,
) -> Result<CapsuleListResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let capsules = session.registry()?.read(&id, |open| capsules_of(open)).await?;
    let read = move || capsules.list().map(|listed| (listed, capsules));
    let (listed, capsules) = aside(read).await?.map_err(RegistryError::from)?;
    let summary = |capsule: &StoredCapsule| summary(capsule, capsules.has_history(&capsule.id));
    let unread = listed.unread.iter().map(|error| Unread {
        file: error.path().map(|path| path.display().to_string()).unwrap_or_default(),
        error: error.to_string(),
    });
    Ok(CapsuleListResult {
        capsules: listed.capsules.iter().map(summary).collect(),
        unread: unread.collect(),
    })
}

/// Reading the repository takes no longer than the user allows.
async fn get(
    session: Arc<ClientSession>,
    params: CapsuleGetParams,
) -> Result<CapsuleGetResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let name = wire::capsule_id(&params.capsule_id)?;
    let read = session.registry()?.read(&id, |open| {
        let cwd = PathBuf::from(&open.thread().session.cwd);
        (capsules_of(open), (cwd, open.config().repo_observation))
    });
    let (capsules, (cwd, settings)) = read.await?;
    let (wanted, with_history) = (name.to_owned(), params.with_history);
    let read = move || {
        let unknown = || unknown_name("capsule", &wanted);
        let read = capsules.read(&wanted).map_err(RegistryError::from)?;
        let capsule = read.ok_or_else(unknown)?;
        let history = match with_history {
            true => capsules.history(&wanted).map_err(RegistryError::from)?,
            false => Vec::new(),
        };
        Ok::<_, RpcError>((shown(&capsule, capsules.has_history(&wanted)), history))
    };
    let (capsule, history) = aside(read).await??;
    let now = match settings.enabled {
        true => repo::observe(&cwd, &settings, None, None).await,
        false => None,
    };
    let work_tree_now = now.map(|seen| work_tree(&seen.repo, None));
    Ok(CapsuleGetResult { capsule, history, work_tree_now })
}

async fn attach(
    session: Arc<ClientSession>,
    params: CapsuleAttachParams,
) -> Result<CapsuleAttachResult, RpcError> {
    let id = wire::thread_id(&params.thread_id)?;
    let name = wire::capsule_id(&params.capsule_id)?;
    let capsules = session.registry()?.read(&id, |open| {
        let capsules = open.is_owned().then(|| capsules_of(open));
        capsules.ok_or_else(|| RegistryError::NotOwner(open.id().clone()))
    });
    let capsules = capsules.await??;
    if !capsules.has(name) {
        return Err(unknown_name("capsule", name));
    }
    let (name, mut history) = (name.to_owned(), params.history);
    let attach = move || {
        let fields = history.iter_mut().flat_map(CapsuleHistoryItem::values_mut);
        let secrets: usize = fields.map(without_secrets).sum();
        capsules.attach(&name, &history).map(|()| secrets)
    };
    let secrets = aside(attach).await?.map_err(RegistryError::from)?;
    Ok(CapsuleAttachResult { redactions: secrets as u64 })
}

fn capsules_of(open: &OpenThread) -> CapsuleStore {
    CapsuleStore::on(open.store().disk().clone(), open.folder())
}

/// Redacts all strings and returns the number of secrets.
fn without_secrets(value: &mut Value) -> usize {
    match value {
        Value::String(text) => {
            let (cleaned, secrets) = redact_counting(text);
            if secrets > 0 {
                *text = cleaned.into_owned();
            }
            secrets
        }
        Value::Array(values) => values.iter_mut().map(without_secrets).sum(),
        Value::Object(fields) => fields.values_mut().map(without_secrets).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn summary(capsule: &StoredCapsule, has_history: bool) -> CapsuleSummary {
    let CapsuleState { trigger, sequence, packet, context, .. } = &capsule.kept;
    let author = packet.as_ref().map(|packet| packet.author);
    let sequence = sequence.clone().unwrap_or_else(|| SequenceId::new(capsule.id.as_str()));
    CapsuleSummary {
        capsule_id: capsule.id.clone(),
        thread_id: capsule.thread.to_string(),
        at_ms: capsule.at.0,
        trigger: wire::trigger(trigger, &sequence, author.unwrap_or(PacketAuthor::Agent)),
        tokens_before: context.map(|tokens| tokens.0),
        packet_author: author.map(ToWire::to_wire),
        has_history,
    }
}

fn shown(capsule: &StoredCapsule, has_history: bool) -> rawr_protocol::Capsule {
    let kept = &capsule.kept;
    rawr_protocol::Capsule {
        summary: summary(capsule, has_history),
        host: CapsuleHost { name: kept.host.name.clone(), version: kept.host.version.clone() },
        cwd: kept.cwd.clone(),
        model: kept.model.clone(),
        context_window: kept.window.map(|tokens| tokens.0),
        transcript: kept.transcript.as_ref().map(|transcript| TranscriptPosition {
            path: transcript.path.clone(),
            bytes: transcript.bytes,
        }),
        last_turn_id: kept.last_turn.as_ref().map(ToString::to_string),
        inside_turn_id: kept.inside_turn.as_ref().map(ToString::to_string),
        turns_ended: kept.turns_ended.into(),
        packet: kept.packet.as_ref().map(|packet| CapsulePacket {
            author: packet.author.to_wire(),
            resume_state: packet.resume.to_wire(),
            text: packet.text.clone(),
        }),
        scratch: kept.scratch.as_ref().map(|scratch| CapsuleScratch {
            scratch_file: scratch.file.clone(),
            content_hash: scratch.hash.clone(),
            content: scratch.content.clone(),
        }),
        plan: kept
            .plan
            .iter()
            .map(|step| PlanStep { step: step.step.clone(), status: step.status.to_wire() })
            .collect(),
        directives: kept.directives.iter().map(directive::shown).collect(),
        work_tree: kept.repo.as_ref().map(|repo| work_tree(repo, kept.repo_seen_at)),
        held_inputs: kept
            .held
            .iter()
            .map(|held| HeldInput { input_id: held.id.to_string(), text: held.text.clone() })
            .collect(),
    }
}

fn work_tree(repo: &Repo, seen_at: Option<Timestamp>) -> WorkTree {
    WorkTree {
        branch: repo.branch.clone(),
        head: repo.head.clone(),
        dirty: repo.dirty.into(),
        files: repo.files.clone(),
        seen_at_ms: seen_at.map(|at| at.0),
    }
}
