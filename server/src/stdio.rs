//! Standard input and output as what they really are. A pipe and a socket are read without a helper thread, which
//! costs a sixth of the processor time; Node hands its children sockets, terminals and files are neither.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, Stdin, Stdout};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

#[derive(Debug)]
pub enum Input {
    Pipe(pipe::Receiver),
    Socket(UnixStream),
    Other(Stdin),
}

#[derive(Debug)]
pub enum Output {
    Pipe(pipe::Sender),
    Socket(UnixStream),
    Other(Stdout),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pipe,
    Socket,
    Other,
}

/// Must be called inside a runtime.
pub fn open() -> io::Result<(Input, Output)> {
    let (stdin, stdout) = (io::stdin(), io::stdout());
    let input = match kind(&stdin)? {
        Kind::Pipe => Input::Pipe(pipe::Receiver::from_owned_fd(duplicate(&stdin)?)?),
        Kind::Socket => Input::Socket(socket(duplicate(&stdin)?)?),
        Kind::Other => Input::Other(tokio::io::stdin()),
    };
    let output = match kind(&stdout)? {
        Kind::Pipe => Output::Pipe(pipe::Sender::from_owned_fd(duplicate(&stdout)?)?),
        Kind::Socket => Output::Socket(socket(duplicate(&stdout)?)?),
        Kind::Other => Output::Other(tokio::io::stdout()),
    };
    Ok((input, output))
}

fn kind(fd: &impl AsFd) -> io::Result<Kind> {
    let stat = rustix::fs::fstat(fd)?;
    Ok(match rustix::fs::FileType::from_raw_mode(stat.st_mode) {
        rustix::fs::FileType::Fifo => Kind::Pipe,
        rustix::fs::FileType::Socket => Kind::Socket,
        _ => Kind::Other,
    })
}

fn duplicate(fd: &impl AsFd) -> io::Result<OwnedFd> {
    fd.as_fd().try_clone_to_owned()
}

fn socket(fd: OwnedFd) -> io::Result<UnixStream> {
    let stream = StdStream::from(fd);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

impl AsyncRead for Input {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Pipe(it) => Pin::new(it).poll_read(cx, buf),
            Self::Socket(it) => Pin::new(it).poll_read(cx, buf),
            Self::Other(it) => Pin::new(it).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Output {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Pipe(it) => Pin::new(it).poll_write(cx, buf),
            Self::Socket(it) => Pin::new(it).poll_write(cx, buf),
            Self::Other(it) => Pin::new(it).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Pipe(it) => Pin::new(it).poll_flush(cx),
            Self::Socket(it) => Pin::new(it).poll_flush(cx),
            Self::Other(it) => Pin::new(it).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Pipe(it) => Pin::new(it).poll_shutdown(cx),
            Self::Socket(it) => Pin::new(it).poll_shutdown(cx),
            Self::Other(it) => Pin::new(it).poll_shutdown(cx),
        }
    }
}
