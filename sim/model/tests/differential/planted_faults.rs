//! Mistakes that are built into the model must be found.

use leaseline_redis_model::Fault;

use crate::pair::Pair;
use crate::scenario::shortened;

/// The longest sequence that any of the mistakes needs.
const LONGEST: usize = 5;

#[test]
fn every_planted_fault_is_found() {
    for fault in Fault::ALL {
        let Some(mut pair) = Pair::start("every_planted_fault_is_found") else {
            return;
        };
        pair.plant(fault);
        let mut tries = crate::SCENARIOS.into_iter().flat_map(|scenario| {
            let seeds = 1..=scenario.cases;
            seeds.map(move |seed| (scenario, seed))
        });
        let found = tries.find_map(|(scenario, seed)| {
            let difference = scenario.try_seed(&mut pair, seed).err()?;
            Some((scenario.name, seed, difference))
        });
        let Some((name, seed, difference)) = found else {
            panic!("{fault:?} is not found");
        };
        assert!(!difference.is_gap, "{}", difference.what);
        let (steps, difference) = shortened(&mut pair, difference);
        println!(
            "{fault:?} is found by {name} with seed {seed}: {}",
            difference.what
        );
        for step in &steps {
            println!("{step}");
        }
        assert!(
            steps.len() <= LONGEST,
            "{fault:?} takes {} steps",
            steps.len()
        );
    }
}
