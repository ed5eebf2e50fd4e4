//! `leaseline sim`: what is refused, what a violated case prints, and what a campaign says.

use std::fs;
use std::path::{Path, PathBuf};

use crate::refusal::refused;
use crate::stage::{finish, leaseline};

/// The shipped scripts.
fn lua() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lua")
}

/// A folder with all scripts, to change some.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sim-{name}"));
        fs::create_dir_all(&path).unwrap();
        for entry in fs::read_dir(lua()).unwrap() {
            let from = entry.unwrap().path();
            if from.extension().is_some_and(|ending| ending == "lua") {
                fs::copy(&from, path.join(from.file_name().unwrap())).unwrap();
            }
        }
        Self(path)
    }

    /// One without the look at the token in a settlement.
    fn without_fencing(name: &str) -> Self {
        let folder = Self::new(name);
        let path = folder.0.join("remove_lease.lua");
        let source = fs::read_to_string(&path).unwrap();
        let guard = "redis.call('HGET', TOKENS, stored) ~= token";
        assert!(source.contains(guard));
        fs::write(&path, source.replace(guard, "false")).unwrap();
        folder
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    fn path(&self) -> String {
        self.0.display().to_string()
    }
}

const STALE: &str = "leaseline-sim case 1
publish client=0 queue=0 payload=0
claim client=0 queue=0 more=0 wait=0
advance by=lease
claim client=1 queue=0 more=0 wait=0
ack client=0 queue=0 pick=0
";

#[test]
fn numbers_and_profiles_that_are_none() {
    for (arguments, text) in [
        (&["sim", "--seed", "x"][..], "--seed"),
        (&["sim", "--seed", "-1"], "-1"),
        (&["sim", "--seed", "18446744073709551616"], "--seed"),
        (&["sim", "--seeds", "0"], "--seeds"),
        (&["sim", "--minutes", "0"], "--minutes"),
        (
            &["sim", "--seed", "1", "--seeds", "2"],
            "cannot be used with",
        ),
        (
            &["sim", "--seed", "1", "--case", "x"],
            "cannot be used with",
        ),
        (
            &["sim", "--profile", "stormy"],
            "there is no profile 'stormy'; use one of swarm, calm, network, workers, server",
        ),
    ] {
        let message = refused(arguments, 2);
        assert!(message.contains(text), "{arguments:?}: {message}");
    }
}

#[test]
fn case_files_that_are_none() {
    let folder = Folder::new("cases");
    for (name, text, expected) in [
        ("empty.case", "", "line 1: "),
        (
            "operation.case",
            "leaseline-sim case 1\npublish client=0 queue=0 payload=0\nexplode\n",
            "line 3: there is no operation 'explode'",
        ),
        (
            "number.case",
            "leaseline-sim case 1\npublish client=9 queue=0 payload=0\n",
            "line 2: ",
        ),
        (
            "setting.case",
            "leaseline-sim case 1\nset queues=0\n",
            "line 1: queues=0: use 1 to 3",
        ),
    ] {
        let path = folder.file(name, text);
        let message = refused(&["sim", "--case", &path], 2);
        let start = format!("--case {path}: {expected}");
        assert!(message.starts_with(&start), "{message}");
    }
    let message = refused(&["sim", "--case", "/no/such.case"], 2);
    assert!(message.starts_with("--case /no/such.case: "), "{message}");
}

#[test]
fn script_folders_that_are_none() {
    let message = refused(&["sim", "--lua", "/no/such"], 2);
    assert!(
        message.contains("/no/such/") && message.contains(".lua: "),
        "{message}"
    );
    assert!(
        message.contains("give a folder with all scripts"),
        "{message}"
    );

    let folder = Folder::new("without-one");
    fs::remove_file(folder.0.join("renew.lua")).unwrap();
    let message = refused(&["sim", "--lua", &folder.path()], 2);
    assert!(message.contains("renew.lua: "), "{message}");

    let folder = Folder::new("does-not-compile");
    folder.file("stats.lua", "local a = 1\nlocal b = = 2\n");
    let message = refused(&["sim", "--lua", &folder.path()], 2);
    let start = format!("--lua {}: stats.lua does not compile: ", folder.path());
    assert!(
        message.starts_with(&start) && message.contains(":2: "),
        "{message}"
    );
}

#[test]
fn a_case_that_holds_is_told_and_drawn() {
    let folder = Folder::new("holds");
    let path = folder.file("stale.case", STALE);
    let finished = finish(leaseline(["sim", "--case", &path]), b"").ok();
    let text = finished.text();
    for part in [
        "remove_lease m0 token 1",
        "client 0 holds m0 of q0 token 1, 0 to 400 ms: reclaimed by client 1",
        "everything holds after ",
    ] {
        assert!(text.contains(part), "'{part}' is missing: {text}");
    }
}

#[test]
fn a_case_that_is_violated_prints_its_history() {
    let folder = Folder::without_fencing("violated");
    let path = folder.file("stale.case", STALE);
    let lua = folder.path();
    let arguments = ["sim", "--lua", &lua, "--case", &path];
    let finished = finish(leaseline(arguments), b"").ends(1);
    let text = finished.text();
    for part in [
        "claim_lease c0 -> m0 token 1",
        "does not hold: ",
        "client 1 holds m0 of q0 token 2",
    ] {
        assert!(text.contains(part), "'{part}' is missing: {text}");
    }
    let arguments = ["--json", "sim", "--lua", &lua, "--case", &path];
    let finished = finish(leaseline(arguments), b"").ends(1);
    let objects = finished.objects();
    assert_eq!(objects.len(), 1);
    assert!(objects[0]["violation"].is_string());
    assert!(
        objects[0]["case"]
            .as_str()
            .unwrap()
            .starts_with("leaseline-sim case 1; ")
    );
}

#[test]
fn a_seed_that_fails_is_made_short_and_can_be_replayed() {
    let folder = Folder::without_fencing("campaign");
    let lua = folder.path();
    let arguments = ["--json", "sim", "--lua", &lua, "--seeds", "2000"];
    let finished = finish(leaseline(arguments), b"").ends(1);
    let object = finished.objects().remove(0);
    let case = object["failed_case"].as_str().unwrap().replace("; ", "\n");
    let path = folder.file("failed.case", &case);
    assert!(case.lines().count() < 20, "{case}");
    finish(leaseline(["sim", "--lua", &lua, "--case", &path]), b"").ends(1);
    finish(leaseline(["sim", "--case", &path]), b"").ok();
    let seed = object["failed_seed"].to_string();
    finish(leaseline(["sim", "--lua", &lua, "--seed", &seed]), b"").ends(1);
}

#[test]
fn seeds_hold_and_a_campaign_says_what_it_reached() {
    for profile in ["swarm", "calm"] {
        let arguments = ["--json", "sim", "--seeds", "30", "--profile", profile];
        let object = finish(leaseline(arguments), b"").ok().objects().remove(0);
        assert_eq!(object["profile"], profile);
        assert_eq!(object["simulations"], 30);
        assert!(object["violation"].is_null());
        assert_eq!(object["faults"] == 0, profile == "calm", "{object}");
    }
    let finished = finish(leaseline(["sim", "--seeds", "5"]), b"").ok();
    assert!(
        finished.text().starts_with("5 simulations in "),
        "{finished:?}"
    );
}
