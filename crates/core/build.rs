//! Embeds the Lua scripts with their SHA-1, which is how EVALSHA names them.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use sha1::{Digest as _, Sha1};

fn main() {
    let lua = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../lua");
    println!("cargo::rerun-if-changed={}", lua.display());
    // `cargo xtask component` sets it, so that what it stamps with a digest is compiled from the
    // sources with that digest.
    println!("cargo::rerun-if-env-changed=LEASELINE_SOURCE_DIGEST");
    let mut files: Vec<_> = fs::read_dir(&lua)
        .unwrap_or_else(|error| panic!("cannot read the scripts in {}: {error}", lua.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "lua"))
        .collect();
    files.sort();

    let mut code = String::new();
    let mut names = Vec::new();
    for file in files {
        println!("cargo::rerun-if-changed={}", file.display());
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let source = fs::read_to_string(&file).unwrap();
        let sha1 = hex::encode(Sha1::digest(source.as_bytes()));
        let constant = name.to_uppercase();
        writeln!(
            code,
            "/// `lua/{name}.lua`.\n\
             pub static {constant}: Script = Script {{ name: {name:?}, source: {source:?}, sha1: {sha1:?} }};"
        )
        .unwrap();
        names.push(constant);
    }
    let list: String = names.iter().map(|name| format!("&{name}, ")).collect();
    writeln!(
        code,
        "/// All scripts, by name.\npub static ALL: &[&Script] = &[{list}];"
    )
    .unwrap();
    fs::write(
        Path::new(&env::var("OUT_DIR").unwrap()).join("scripts.rs"),
        code,
    )
    .unwrap();
}
