//! One HTTP request to the endpoint and its reply. It must not retry, and must not interpret the reply.

use super::foreign::ForeignText;
use super::key::ApiKey;
use super::{JudgeError, RateLimitHeader, retry, wire};
use bytes::Bytes;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Client, ClientBuilder, Response, Url, redirect};
use serde_json::Value;
use std::error::Error;
use std::io;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// An answer has a few hundred bytes. A reply of this size is not a judgment.
const MAX_REPLY_BYTES: usize = 1 << 20;
const MAX_RATE_LIMITS: usize = 16;

pub(super) struct EndpointCall<'k> {
    client: Client,
    url: Url,
    body: Bytes,
    key: Option<&'k ApiKey>,
    foreign: ForeignText<'k>,
}

#[derive(Debug)]
pub(super) struct EndpointReply {
    pub body: String,
    pub rate_limits: Vec<RateLimitHeader>,
}

impl<'k> EndpointCall<'k> {
    pub(super) fn new(
        base: &str,
        path: &[&str],
        body: &Value,
        key: Option<&'k ApiKey>,
        foreign: ForeignText<'k>,
    ) -> Result<Self, JudgeError> {
        let url = below(base, path)?;
        let client = client(&url, foreign)?;
        Ok(Self { client, url, body: body.to_string().into(), key, foreign })
    }

    pub(super) async fn send(&self) -> Result<EndpointReply, JudgeError> {
        let request = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(self.body.clone());
        let request = match self.key {
            Some(key) => request.header(AUTHORIZATION, key.header()),
            None => request,
        };
        let mut response = request.send().await.map_err(|error| self.failure(error))?;
        let status = response.status();
        if status.is_redirection() {
            let to = self.destination(response.headers());
            return Err(JudgeError::Redirected { status: status.as_u16(), to });
        }
        if status.is_success() {
            let rate_limits = self.rate_limits(response.headers());
            return Ok(EndpointReply { body: self.read(&mut response).await?, rate_limits });
        }
        let retry_after = retry::retry_after(response.headers(), SystemTime::now());
        // An error status is reported even if its explanation cannot be read completely.
        let explanation = self.read(&mut response).await.unwrap_or_default();
        let (code, message) = wire::complaint(&explanation, self.foreign);
        Err(JudgeError::Status { status: status.as_u16(), code, message, retry_after })
    }

    async fn read(&self, response: &mut Response) -> Result<String, JudgeError> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failure(error))? {
            if body.len() + chunk.len() > MAX_REPLY_BYTES {
                return Err(JudgeError::TooLong { max_bytes: MAX_REPLY_BYTES });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    fn failure(&self, error: reqwest::Error) -> JudgeError {
        let detail = self.foreign.told(&innermost(&error).to_string());
        let endpoint = self.foreign.told(&place(&self.url));
        if error.is_builder() {
            JudgeError::BadAddress { detail }
        } else if error.is_connect() && !hung_up(&error) {
            JudgeError::Unreachable { endpoint, detail }
        } else {
            JudgeError::BrokenOff { endpoint, detail }
        }
    }

    fn destination(&self, headers: &HeaderMap) -> String {
        let location = headers.get(LOCATION).and_then(|location| location.to_str().ok());
        let to = location.and_then(|location| self.url.join(location).ok());
        to.map_or_else(|| "nowhere".to_owned(), |to| self.foreign.told(&place(&to)))
    }

    fn rate_limits(&self, headers: &HeaderMap) -> Vec<RateLimitHeader> {
        let ours = headers.iter().filter(|(name, _)| name.as_str().starts_with("x-ratelimit-"));
        ours.filter_map(|(name, value)| {
            let value = self.foreign.told(value.to_str().ok()?);
            Some(RateLimitHeader { name: self.foreign.told(name.as_str()), value })
        })
        .take(MAX_RATE_LIMITS)
        .collect()
    }
}

/// Created for the first judgment, because loading certificates takes longer than starting the sidecar.
fn client(url: &Url, foreign: ForeignText<'_>) -> Result<Client, JudgeError> {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    if let Some(client) = CLIENT.get() {
        return Ok(client.clone());
    }
    // Fails if the process already has a provider, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let made = match client_builder().build() {
        Ok(client) => return Ok(CLIENT.get_or_init(|| client).clone()),
        // A machine without root certificates may still run a local model.
        Err(_) if url.scheme() == "http" => client_builder().tls_certs_only([]).build(),
        Err(error) => Err(error),
    };
    made.map_err(|error| JudgeError::NoClient {
        detail: foreign.told(&innermost(&error).to_string()),
    })
}

fn client_builder() -> ClientBuilder {
    Client::builder()
        .user_agent(concat!("rawr/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_LIMIT)
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        // Judgments are minutes apart, so an idle connection would be closed by then.
        .pool_max_idle_per_host(0)
}

/// Keeps the query of the base address: some endpoints expect their API version there.
fn below(base: &str, path: &[&str]) -> Result<Url, JudgeError> {
    let bad = |detail: String| JudgeError::BadAddress { detail };
    let mut url = Url::parse(base).map_err(|error| bad(error.to_string()))?;
    url.path_segments_mut()
        .map_err(|()| bad("it cannot have a path".to_owned()))?
        .pop_if_empty()
        .extend(path);
    Ok(url)
}

/// Without user, password and query, each of which may hold a secret.
fn place(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}

fn chain(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let first: &(dyn Error + 'static) = error;
    std::iter::successors(Some(first), |error| (*error).source())
}

/// The innermost cause. The outer errors contain the address with its query.
fn innermost(error: &reqwest::Error) -> &(dyn Error + 'static) {
    chain(error).last().unwrap_or(error)
}

fn hung_up(error: &reqwest::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    chain(error).filter_map(|cause| cause.downcast_ref::<io::Error>()).any(|cause| {
        matches!(cause.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
    })
}
