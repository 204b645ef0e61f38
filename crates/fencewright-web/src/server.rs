//! The server: a thread that takes connections, and one for each of them, in bounded number.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fencewright::frontend::Frontend;
use fencewright::memory::Model;
use fencewright::source::Source;
use fencewright::watch::Limits;

use crate::guard::Guard;
use crate::http::{self, Request, Response, Status};
use crate::jobs::{Allowed, Jobs};
use crate::routes;

/// The longest program that the page takes: with what stands around it, it must fit into a request.
pub const MAX_TEXT_BYTES: usize = http::MAX_BODY / 2;
/// So many connections are served at once.
const MAX_CONNECTIONS: usize = 256;
/// As much as the main thread of a command has, for front ends go as deep.
pub(crate) const STACK_BYTES: usize = 8 << 20;

/// What the page shows, and how far its checks go.
#[derive(Clone)]
pub struct Settings {
    /// The text, with the files that it names: no others are read.
    pub source: Source,
    /// Who reads it.
    pub frontend: &'static dyn Frontend,
    /// Who else may be asked to.
    pub frontends: &'static [&'static dyn Frontend],
    /// Constants that get other values.
    pub defines: Vec<(String, i64)>,
    /// The memory model that is chosen at first.
    pub model: Model,
    /// The time that each check may take, and the memory that the process may hold.
    pub limits: Limits,
    /// How much memory the process holds, where the system tells.
    pub resident: fn() -> Option<u64>,
    /// Where to listen; 0 is any port that is free.
    pub port: u16,
}

/// A running server. It stops when it is dropped, and its checks with it.
pub struct Server {
    shared: Arc<Shared>,
    address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

/// What all connections share.
pub(crate) struct Shared {
    /// What the page shows.
    pub settings: Settings,
    /// The checks.
    pub jobs: Jobs,
    guard: Guard,
    n_connections: AtomicUsize,
    is_stopped: AtomicBool,
}

impl Server {
    /// Starts to serve, on the loopback interface.
    ///
    /// # Errors
    /// The port is taken, or the system refuses.
    pub fn start(settings: Settings) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            jobs: Jobs::new(Allowed { limits: settings.limits, resident: settings.resident }),
            settings,
            guard: Guard::new(address.port())?,
            n_connections: AtomicUsize::new(0),
            is_stopped: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        let thread = thread::Builder::new().spawn(move || serve(&listener, &serving))?;
        Ok(Self { shared, address, thread: Some(thread) })
    }

    /// The address of the page, with the token in it.
    pub fn url(&self) -> String {
        self.shared.guard.url()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::Relaxed);
        self.shared.jobs.cancel_all();
        // The thread waits for a connection, so it gets one.
        let is_awake = TcpStream::connect(self.address).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| is_awake) {
            let _ = thread.join();
        }
    }
}

fn serve(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_stopped.load(Ordering::Relaxed) {
            return;
        }
        let Ok(stream) = stream else {
            // Out of descriptors, perhaps: others will end soon.
            thread::sleep(Duration::from_millis(20));
            continue;
        };
        let Some(place) = Place::take(shared) else {
            http::refuse(stream, &Response::text(Status::Busy, "too many connections; try again"));
            continue;
        };
        // Without a thread the connection is closed, as one too many is.
        let _ = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
            http::answer(stream, |request| respond(&place.0, request));
            drop(place);
        });
    }
}

/// A defect costs one answer, not the server.
fn respond(shared: &Shared, request: &Request) -> Response {
    let answer = AssertUnwindSafe(|| match shared.guard.admit(request) {
        Ok(name) => routes::respond(shared, name, request),
        Err(refusal) => refusal,
    });
    catch_unwind(answer).unwrap_or_else(|_| Response::text(Status::Defect, "a defect of the tool; please report it"))
}

/// One of the connections that are served at once.
struct Place(Arc<Shared>);

impl Place {
    fn take(shared: &Arc<Shared>) -> Option<Self> {
        // Only the one thread that takes connections adds to them.
        let is_free = shared.n_connections.load(Ordering::Relaxed) < MAX_CONNECTIONS;
        is_free.then(|| {
            shared.n_connections.fetch_add(1, Ordering::Relaxed);
            Self(Arc::clone(shared))
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.n_connections.fetch_sub(1, Ordering::Relaxed);
    }
}
