//! What of a `Cargo.lock` belongs to one package.
//!
//! Cargo writes the file itself and always in the same form, so reading it line by line is enough.

use std::collections::{BTreeMap, BTreeSet};

/// One `[[package]]` of the file.
pub(crate) struct Package {
    /// The package's name.
    pub(crate) name: String,
    /// Its lines, without the list of its dependencies.
    pub(crate) text: String,
    /// Its dependencies as they stand there: `name`, or `name version` where that is not unique.
    dependencies: Vec<String>,
}

/// The package called `root` and everything it depends on, sorted by name and version.
///
/// Build dependencies count, and so do development dependencies: the file does not tell them apart.
/// Those of the workspace's own packages can be named in `left_out`, by package.
pub(crate) fn closure(
    lockfile: &str,
    root: &str,
    left_out: &BTreeMap<String, BTreeSet<String>>,
) -> Vec<Package> {
    let mut unseen = packages(lockfile);
    let mut seen = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(wanted) = open.pop() {
        let (name, version) = wanted.split_once(' ').unwrap_or((&wanted, ""));
        let version = version.split(' ').next().unwrap_or_default();
        let matching: Vec<_> = unseen
            .keys()
            .filter(|key| key.0 == name && (version.is_empty() || key.1 == version))
            .cloned()
            .collect();
        for key in matching {
            if let Some(package) = unseen.remove(&key) {
                let left_out = left_out.get(&package.name);
                let counts = |wanted: &&String| {
                    let name = wanted.split(' ').next().unwrap_or_default();
                    left_out.is_none_or(|names| !names.contains(name))
                };
                open.extend(package.dependencies.iter().filter(counts).cloned());
                seen.insert(key, package);
            }
        }
    }
    seen.into_values().collect()
}

/// Every package by name and version.
fn packages(lockfile: &str) -> BTreeMap<(String, String), Package> {
    lockfile
        .split("[[package]]\n")
        .skip(1)
        .map(package)
        .collect()
}

fn package(block: &str) -> ((String, String), Package) {
    let mut version = String::new();
    let mut package = Package {
        name: String::new(),
        text: String::new(),
        dependencies: Vec::new(),
    };
    for line in block.lines().filter(|line| !line.is_empty()) {
        // An item of the list of dependencies, the list's brackets, or `key = "value"`.
        if let Some(item) = line.strip_prefix(" \"") {
            package
                .dependencies
                .push(item.trim_end_matches("\",").to_owned());
        } else if let Some((key, value)) = line.split_once(" = \"") {
            let value = value.trim_end_matches('"');
            match key {
                "name" => value.clone_into(&mut package.name),
                "version" => value.clone_into(&mut version),
                _ => {}
            }
            package.text.push_str(line);
            package.text.push('\n');
        }
    }
    ((package.name.clone(), version), package)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCKFILE: &str = "\
version = 4

[[package]]
name = \"ours\"
version = \"0.1.0\"
dependencies = [
 \"direct\",
 \"twice 2.0.0\",
]

[[package]]
name = \"direct\"
version = \"1.0.0\"
source = \"registry\"
checksum = \"aa\"
dependencies = [
 \"ours\",
]

[[package]]
name = \"twice\"
version = \"1.0.0\"

[[package]]
name = \"twice\"
version = \"2.0.0\"

[[package]]
name = \"unrelated\"
version = \"3.0.0\"
dependencies = [
 \"twice 1.0.0\",
]
";

    #[test]
    fn a_closure_has_what_is_reached_and_nothing_else() {
        let closure = closure(LOCKFILE, "ours", &BTreeMap::new());
        let texts: Vec<_> = closure
            .iter()
            .map(|package| package.text.as_str())
            .collect();
        assert_eq!(
            texts,
            [
                "name = \"direct\"\nversion = \"1.0.0\"\nsource = \"registry\"\nchecksum = \"aa\"\n",
                "name = \"ours\"\nversion = \"0.1.0\"\n",
                "name = \"twice\"\nversion = \"2.0.0\"\n",
            ]
        );
    }

    #[test]
    fn an_unknown_package_has_no_closure() {
        assert!(closure(LOCKFILE, "nobody", &BTreeMap::new()).is_empty());
    }
    #[test]
    fn what_is_left_out_of_one_package_still_counts_for_another() {
        let names = |left_out: [(&str, &str); 1]| -> Vec<String> {
            let left_out = left_out
                .map(|(package, name)| (package.to_owned(), BTreeSet::from([name.to_owned()])))
                .into();
            closure(LOCKFILE, "unrelated", &left_out)
                .into_iter()
                .map(|package| package.name)
                .collect()
        };
        assert_eq!(names([("unrelated", "twice")]), ["unrelated"]);
        assert_eq!(names([("ours", "twice")]), ["twice", "unrelated"]);
    }
}
