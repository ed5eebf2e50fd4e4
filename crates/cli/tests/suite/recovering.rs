use std::collections::BTreeSet;
use std::fs;

use crate::engines;
use crate::stage::until;

engines! {
    fn a_killed_worker_loses_no_message(stage: Stage) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out");
        let lines = || -> Vec<String> {
            let text = fs::read_to_string(&file).unwrap_or_default();
            text.lines().map(str::to_owned).collect()
        };
        let all: BTreeSet<String> = (1..=1000).map(|n| n.to_string()).collect();
        let input: String = all.iter().map(|line| format!("{line}\n")).collect();
        stage.run_with(["publish", "--lines", "-"], input.as_bytes()).ok();

        let exec = format!("echo \"$(cat)\" >> {}", file.display());
        let work = ["work", "--exec", &exec, "--concurrency", "8", "--until-empty", "--visibility-timeout", "1.5"];
        let mut first = stage.command(work).spawn().unwrap();
        until("the work is well under way", || lines().len() >= 200);
        first.kill().unwrap();
        first.wait().unwrap();
        let before = lines().len();
        assert!(before < 1000, "killed in the middle");

        // --until-empty does not wait for the leases of others: they must have ended.
        std::thread::sleep(std::time::Duration::from_millis(1_600));
        stage.run(work).ok();
        assert_eq!(lines().into_iter().collect::<BTreeSet<_>>(), all);
        assert_eq!(stage.keys(), ["jobs::processing:lease_token_counter"]);
    }
}
