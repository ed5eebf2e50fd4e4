//! Recipes: scenarios of public reports about queues, each a case with a header that says where it
//! comes from and what it must reach. `recipes/README.md` explains the header.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use leaseline_sim::{Case, Mark, Runner, tell};

/// How many there are of public reports at least.
const LEAST: usize = 40;

struct Recipe {
    name: String,
    case: Case,
    /// Fields of the header by name.
    header: BTreeMap<String, String>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("recipes")
}

fn recipes() -> Vec<Recipe> {
    let mut paths: Vec<_> = std::fs::read_dir(folder())
        .expect("the folder of recipes")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "case"))
        .collect();
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Recipe {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let text = std::fs::read_to_string(path).expect("a recipe");
    let case = text
        .parse()
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut header: BTreeMap<String, String> = BTreeMap::new();
    let mut last = String::new();
    // The header: `# name: text`, and `#   ` goes on.
    let lines = text.lines().skip(1);
    for line in lines.map_while(|line| line.strip_prefix('#')) {
        match line.trim().split_once(": ") {
            Some((field, text)) if !line.starts_with("   ") => {
                last = field.into();
                let twice = header.insert(last.clone(), text.into());
                assert!(twice.is_none(), "{name}: '{last}' is there twice");
            }
            _ => {
                let field = header.get_mut(&last);
                let field = field.unwrap_or_else(|| panic!("{name}: '{line}' has no name"));
                field.push(' ');
                field.push_str(line.trim());
            }
        }
    }
    for field in header.keys() {
        let known = ["from", "cause", "holds", "reaches", "never"];
        assert!(
            known.contains(&field.as_str()),
            "{name}: no field '{field}'"
        );
    }
    for field in ["from", "cause", "holds", "reaches"] {
        assert!(header.contains_key(field), "{name}: '{field}' is missing");
    }
    Recipe {
        name: name.into_owned(),
        case,
        header,
    }
}

/// Marks with how often each must be reached at least: `settled=2, reclaimed`.
fn marks(recipe: &Recipe, field: &str) -> Vec<(Mark, u64)> {
    let text = recipe.header.get(field).map_or("", String::as_str);
    let words = text
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty());
    words
        .map(|word| {
            let (name, times) = word.split_once('=').unwrap_or((word, "1"));
            let mark = Mark::ALL.iter().copied().find(|mark| mark.name() == name);
            let mark = mark.unwrap_or_else(|| panic!("{}: no mark '{name}'", recipe.name));
            let times = times.parse();
            let times = times.unwrap_or_else(|_| panic!("{}: '{word}'", recipe.name));
            assert!(times > 0, "{}: '{word}' asks for nothing", recipe.name);
            (mark, times)
        })
        .collect()
}

fn check(recipe: &Recipe, redis: u32) -> Result<(), String> {
    let runner = Runner::default();
    let mut case = recipe.case.clone();
    case.settings.redis = redis;
    let coverage = match runner.run(&case) {
        Ok(coverage) => coverage,
        Err(violation) => return Err(tell(&runner, &case, &violation)),
    };
    let told = |what: String| {
        let (_, story) = runner.tell(&case);
        let shown: Vec<_> = story.iter().take(150).map(String::as_str).collect();
        Err(format!("{what}\n{}", shown.join("\n")))
    };
    let reaches = marks(recipe, "reaches");
    if reaches.is_empty() {
        return Err("reaches nothing".into());
    }
    for (mark, times) in reaches {
        let found = coverage.in_lines.of(mark);
        if found < times {
            return told(format!("reached {} {found} of {times} times", mark.name()));
        }
    }
    for (mark, _) in marks(recipe, "never") {
        if coverage.in_lines.of(mark) > 0 {
            return told(format!("reached {}, which it must not", mark.name()));
        }
    }
    Ok(())
}

fn check_all(redis: u32) {
    let mut wrong = Vec::new();
    for recipe in recipes() {
        let began = std::time::Instant::now();
        if let Err(what) = check(&recipe, redis) {
            wrong.push(format!("== {} on Redis {redis}: {what}", recipe.name));
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
    let mut recipe = recipes().swap_remove(0);
    assert!(check(&recipe, 70).is_ok());
    recipe.case.ops.clear();
    assert!(check(&recipe, 70).is_err());
}
