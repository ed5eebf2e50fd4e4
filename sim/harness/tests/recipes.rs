//! All recipes hold, on both profiles of the model.

use std::path::{Path, PathBuf};

use leaseline_sim::{Recipe, Runner, tell};

/// How many there are of public reports at least.
const LEAST: usize = 40;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("recipes")
}

fn recipes() -> Vec<Recipe> {
    Recipe::of_folder(&folder()).expect("recipes")
}

fn check_all(redis: u32) {
    let mut wrong = Vec::new();
    let runner = Runner::default();
    for mut recipe in recipes() {
        recipe.case.settings.redis = redis;
        let began = std::time::Instant::now();
        if let Err(violation) = recipe.check(&runner) {
            let text = match violation.property {
                "recipe" => violation.to_string(),
                _ => tell(&runner, &recipe.case, &violation),
            };
            wrong.push(format!("== {} on Redis {redis}: {text}", recipe.name));
        }
        println!("{} {:?}", recipe.name, began.elapsed());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_recipe_holds_on_redis_7_0() {
    check_all(70);
}

#[test]
fn every_recipe_holds_on_redis_7_2() {
    check_all(72);
}

#[test]
fn recipes_come_from_public_reports() {
    let recipes = recipes();
    let reported = recipes
        .iter()
        .filter(|recipe| recipe.header["from"].contains('#'));
    assert!(reported.count() >= LEAST, "{} recipes", recipes.len());
}

#[test]
fn a_recipe_that_reaches_nothing_fails() {
    let runner = Runner::default();
    let mut recipe = recipes().swap_remove(0);
    assert!(recipe.check(&runner).is_ok());
    recipe.case.ops.clear();
    assert!(recipe.check(&runner).is_err());
}
