//! Checks of the interfaces in `wit/`.

use std::path::Path;

use wit_parser::{Resolve, Stability, Type, TypeDefKind, WorldItem};

/// Says what an item of our packages lacks.
fn gaps(resolve: &Resolve) -> Vec<String> {
    let mut gaps = Vec::new();
    let mut check = |name: String, docs: Option<&str>, stability: &Stability| {
        if docs.is_none_or(|text| text.trim().is_empty()) {
            gaps.push(format!("{name} has no documentation"));
        }
        if !matches!(stability, Stability::Stable { .. }) {
            gaps.push(format!("{name} has no @since"));
        }
    };
    for (_, package) in &resolve.packages {
        if package.name.namespace != "leaseline" {
            continue;
        }
        for (name, id) in &package.interfaces {
            let interface = &resolve.interfaces[*id];
            check(
                name.clone(),
                interface.docs.contents.as_deref(),
                &interface.stability,
            );
            for (item, id) in &interface.types {
                let ty = &resolve.types[*id];
                if let TypeDefKind::Type(Type::Id(used)) = ty.kind
                    && resolve.types[used].owner != ty.owner
                {
                    // Of another interface, where it is documented.
                    continue;
                }
                check(
                    format!("{name}.{item}"),
                    ty.docs.contents.as_deref(),
                    &ty.stability,
                );
            }
            for (item, function) in &interface.functions {
                check(
                    format!("{name}.{item}"),
                    function.docs.contents.as_deref(),
                    &function.stability,
                );
            }
        }
        for (name, id) in &package.worlds {
            let world = &resolve.worlds[*id];
            check(
                name.clone(),
                world.docs.contents.as_deref(),
                &world.stability,
            );
            for item in world.imports.values().chain(world.exports.values()) {
                if let WorldItem::Interface { stability, .. } = item {
                    // The interface has its own documentation.
                    check(format!("an item of {name}"), Some("its own"), stability);
                }
            }
        }
    }
    gaps
}

fn resolve() -> Resolve {
    let mut resolve = Resolve::default();
    let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit");
    resolve.push_dir(&wit).expect("the interfaces parse");
    resolve
}

#[test]
fn every_item_is_documented_and_says_since_when_it_is_there() {
    assert_eq!(gaps(&resolve()), [""; 0]);
}

/// Names that a reader knows one by one: cases, flags and fields are documented where the name
/// alone does not say it.
#[test]
fn every_case_of_a_variant_is_documented() {
    let resolve = resolve();
    for (_, ty) in &resolve.types {
        let TypeDefKind::Variant(variant) = &ty.kind else {
            continue;
        };
        for case in &variant.cases {
            assert!(
                case.docs.contents.is_some(),
                "{:?}.{}",
                ty.name.as_deref(),
                case.name
            );
        }
    }
}
