//! Mistakes that are built into the model must be found.

use leaseline_redis_model::Fault;

use crate::pair::Pair;
use crate::scenario::shortened;
use crate::scenarios::SCENARIOS;

/// The longest sequence that any of the mistakes needs.
const LONGEST: usize = 5;

#[test]
fn every_planted_fault_is_found() {
    let test = "every_planted_fault_is_found";
    let Some(mut sound) = Pair::start(test) else {
        return;
    };
    for fault in Fault::ALL {
        let mut pair = Pair::start(test).expect("another server");
        pair.plant(fault);
        let mut tries = SCENARIOS.into_iter().flat_map(|scenario| {
            let seeds = 1..=scenario.cases;
            seeds.map(move |seed| (scenario, seed))
        });
        let found = tries.find_map(|(scenario, seed)| {
            let difference = scenario.try_seed(&mut pair, seed).err()?;
            Some((scenario, seed, difference))
        });
        let Some((scenario, seed, difference)) = found else {
            panic!("{fault:?} is not found");
        };
        let without = scenario.try_seed(&mut sound, seed);
        assert!(
            without.is_ok(),
            "{without:?} without a fault, {} with seed {seed}",
            scenario.name
        );
        let (steps, difference) = shortened(&mut pair, difference);
        let (name, what) = (scenario.name, difference.what);
        println!("{fault:?} is found by {name} with seed {seed}: {what}");
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
