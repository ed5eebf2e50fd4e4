#![no_main]

use leaseline_sim::{Runner, decode, minimise, tell};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (runner, case) = (Runner::default(), decode(bytes));
    if let Err(violation) = runner.run(&case) {
        // Told as everywhere else: short, and with the line that replays it.
        let (case, violation) = minimise(&runner, &case, &violation);
        panic!("{}", tell(&runner, &case, &violation));
    }
});
