//! A process that forks: its child renews what the child starts, and nothing of its parent's.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::os::unix::net::UnixDatagram;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use fork::Fork;
use leaseline_core::ErrorKind;
use leaseline_renewal::{Extend, LeaseRenewal, Outcome, Renewer, Stopped, Terms, Worker};
use tokio::runtime::Builder;

/// Tells the test which process has extended which lease. Both processes have it.
struct Server(UnixDatagram);

impl Extend for Server {
    type Lease = &'static str;

    async fn extend(&self, lease: &&'static str, _: Duration) -> Outcome {
        tell(&self.0, lease);
        Ok(())
    }
}

fn tell(to: &UnixDatagram, what: &str) {
    let told = format!("{} {what}", std::process::id());
    to.send(told.as_bytes()).expect("the parent listens");
}

fn terms() -> Terms {
    Terms::exactly(Duration::from_millis(300)).every(Duration::from_millis(20))
}

/// What the child does.
fn child(server: UnixDatagram, running: &LeaseRenewal<Server>, fresh: &LeaseRenewal<Server>) {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        // What was made in the parent does nothing here, also where it looks as if it did.
        let error = fresh.start().await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Configuration);
        running.stop_soon();
        assert_eq!(running.stop().await, Ok(Stopped::Done));
        // The first renewal of its own starts a worker of its own.
        let renewer = Renewer::new(Server(server));
        assert_eq!(Worker::global().metrics().counts.active, 0);
        let own = renewer.renewal("child", terms());
        own.start().await.unwrap();
        assert_eq!(Worker::global().metrics().counts.active, 1);
        let patience = std::time::Instant::now();
        while Worker::global().metrics().counts.extended < 5 {
            assert!(
                patience.elapsed() < Duration::from_secs(20),
                "nobody renews"
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(own.stop().await, Ok(Stopped::Done));
    });
}

/// How often which process has extended which lease, until `enough`.
fn listen(
    to: &UnixDatagram,
    extended: &mut BTreeMap<(u32, String), u32>,
    enough: impl Fn(&BTreeMap<(u32, String), u32>) -> bool,
) {
    let mut buffer = [0; 1_000];
    while !enough(extended) {
        let length = to
            .recv(&mut buffer)
            .expect("somebody tells something in time");
        let told = String::from_utf8_lossy(&buffer[..length]).into_owned();
        let (process, what) = told.split_once(' ').unwrap();
        let key = (process.parse().unwrap(), what.to_owned());
        *extended.entry(key).or_default() += 1;
    }
}

#[test]
fn a_forked_child_has_a_worker_of_its_own_and_leaves_the_leases_of_its_parent_alone() {
    let (here, there) = UnixDatagram::pair().unwrap();
    here.set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    let renewer = Renewer::new(Server(there.try_clone().unwrap()));
    let (running, fresh) = (
        renewer.renewal("parent", terms()),
        renewer.renewal("fresh", terms()),
    );
    runtime.block_on(running.start()).unwrap();
    let parent = (std::process::id(), "parent".to_owned());
    let mut extended = BTreeMap::new();
    listen(&here, &mut extended, |extended| {
        extended.get(&parent) >= Some(&3)
    });
    // Not in a task, whose runtime would seem to run in the child.
    let pid = match fork::fork().unwrap() {
        Fork::Child => {
            let report = there.try_clone().unwrap();
            let ended = catch_unwind(AssertUnwindSafe(|| child(there, &running, &fresh)));
            tell(&report, if ended.is_ok() { "succeeded" } else { "failed" });
            // What it has of its parent must not be dropped: the parent's threads are not here.
            std::process::exit(i32::from(ended.is_err()));
        }
        Fork::Parent(pid) => pid,
    };
    let process = u32::try_from(pid).unwrap();
    let ended = |extended: &BTreeMap<(u32, String), u32>| {
        extended
            .keys()
            .any(|(of, what)| *of == process && (what == "succeeded" || what == "failed"))
    };
    listen(&here, &mut extended, ended);
    let status = fork::waitpid(pid).unwrap();
    assert_eq!(status, 0, "the child says why");
    // The parent goes on, though the child has stopped what it has of its handle.
    let before = extended.get(&parent).copied().unwrap_or(0);
    listen(&here, &mut extended, |extended| {
        extended.get(&parent) >= Some(&(before + 5))
    });
    assert_eq!(runtime.block_on(running.stop()), Ok(Stopped::Done));
    assert_eq!(runtime.block_on(fresh.start()).map(drop), Ok(()));
    drop(fresh);
    let of = |process: u32, what: &str| extended.get(&(process, what.to_owned())).copied();
    assert!(of(process, "child") >= Some(5), "{extended:?}");
    assert_eq!(of(process, "parent"), None, "{extended:?}");
    assert_eq!(of(parent.0, "child"), None, "{extended:?}");
}
