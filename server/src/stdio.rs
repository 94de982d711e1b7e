//! Opens standard input and output by their real type. A pipe or a socket is read without a helper thread, which would
//! cost a sixth of the processor time. Node gives its child processes sockets; terminals and files are neither.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, Stdin, Stdout};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

#[derive(Debug)]
pub enum InputStream {
    Pipe(pipe::Receiver),
    Socket(UnixStream),
    Other(Stdin),
}

#[derive(Debug)]
pub enum OutputStream {
    Pipe(pipe::Sender),
    Socket(UnixStream),
    Other(Stdout),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamKind {
    Pipe,
    Socket,
    Other,
}

/// Must be called inside a tokio runtime.
pub fn open() -> io::Result<(InputStream, OutputStream)> {
    let (stdin, stdout) = (io::stdin(), io::stdout());
    let input = match kind(&stdin)? {
        StreamKind::Pipe => InputStream::Pipe(pipe::Receiver::from_owned_fd(duplicate(&stdin)?)?),
        StreamKind::Socket => InputStream::Socket(socket(duplicate(&stdin)?)?),
        StreamKind::Other => InputStream::Other(tokio::io::stdin()),
    };
    let output = match kind(&stdout)? {
        StreamKind::Pipe => OutputStream::Pipe(pipe::Sender::from_owned_fd(duplicate(&stdout)?)?),
        StreamKind::Socket => OutputStream::Socket(socket(duplicate(&stdout)?)?),
        StreamKind::Other => OutputStream::Other(tokio::io::stdout()),
    };
    Ok((input, output))
}

fn kind(fd: &impl AsFd) -> io::Result<StreamKind> {
    let stat = rustix::fs::fstat(fd)?;
    Ok(match rustix::fs::FileType::from_raw_mode(stat.st_mode) {
        rustix::fs::FileType::Fifo => StreamKind::Pipe,
        rustix::fs::FileType::Socket => StreamKind::Socket,
        _ => StreamKind::Other,
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

impl AsyncRead for InputStream {
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

impl AsyncWrite for OutputStream {
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
