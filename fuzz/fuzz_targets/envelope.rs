#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(violation) = leaseline_sim::fuzz::envelope(bytes) {
        panic!("{violation}");
    }
});
