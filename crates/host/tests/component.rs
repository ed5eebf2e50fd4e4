//! The bundled component is what it should be, and other bytes are refused with the reason.

use leaseline_component::{COMPONENT, SOURCE_DIGEST};
use leaseline_wasmtime::{ComponentError, Runtime};
use wasmtime::component::Component;
use wasmtime::{Config, Engine};

#[test]
fn the_bundled_component_imports_and_exports_exactly_this() {
    let engine = Engine::new(&Config::new()).unwrap();
    let world = Component::from_binary(&engine, COMPONENT)
        .unwrap()
        .component_type();

    let mut imports: Vec<_> = world
        .imports(&engine)
        .map(|(name, _)| name.to_owned())
        .collect();
    imports.sort();
    assert_eq!(
        imports,
        [
            "leaseline:redis/client@0.1.0",
            "wasi:clocks/monotonic-clock@0.2.12",
            "wasi:io/poll@0.2.12",
            "wasi:random/random@0.2.12",
        ]
    );
    let mut exports: Vec<_> = world
        .exports(&engine)
        .map(|(name, _)| name.to_owned())
        .collect();
    exports.sort();
    assert_eq!(
        exports,
        [
            "leaseline:queue/queue@0.1.0",
            "leaseline:queue/renewal@0.1.0"
        ]
    );
}

#[test]
fn the_bundled_component_is_small() {
    assert!(COMPONENT.len() < 400_000, "{} bytes", COMPONENT.len());
}

#[test]
fn the_bundled_component_is_current() {
    Runtime::with_digest(COMPONENT, SOURCE_DIGEST).unwrap();
}

#[test]
fn a_component_of_other_sources_is_stale() {
    let error = Runtime::with_digest(COMPONENT, "0123").unwrap_err();
    let stale = ComponentError::Stale {
        expected: "0123".into(),
        found: Some(SOURCE_DIGEST.into()),
    };
    assert_eq!(error, stale);

    let without_digest = wat::parse_str("(component)").unwrap();
    let error = Runtime::with_digest(&without_digest, SOURCE_DIGEST).unwrap_err();
    assert_eq!(
        error,
        ComponentError::Stale {
            expected: SOURCE_DIGEST.into(),
            found: None
        }
    );
}

#[test]
fn bytes_that_are_not_webassembly_are_refused() {
    for bytes in [
        &b""[..],
        b"\0as",
        b"\0asm",
        b"#!/bin/sh",
        b"(component)",
        b"\0asm\x07\0\x01\0",
    ] {
        assert_eq!(
            Runtime::new(bytes).unwrap_err(),
            ComponentError::NotWebAssembly,
            "{bytes:?}"
        );
    }
}

#[test]
fn a_core_module_is_refused() {
    let module = wat::parse_str("(module)").unwrap();
    assert_eq!(
        Runtime::new(&module).unwrap_err(),
        ComponentError::CoreModule
    );
}

#[test]
fn a_damaged_component_is_refused() {
    let error = Runtime::new(&COMPONENT[..COMPONENT.len() / 2]).unwrap_err();
    assert!(matches!(error, ComponentError::Invalid(_)), "{error}");
}

#[test]
fn another_component_is_refused_by_what_it_lacks() {
    let empty = wat::parse_str("(component)").unwrap();
    let error = Runtime::new(&empty).unwrap_err();
    assert_eq!(
        error,
        ComponentError::MissingExport("leaseline:queue/queue".into())
    );
}

#[test]
fn another_component_is_refused_by_what_it_wants() {
    let wants_files =
        wat::parse_str(r#"(component (import "wasi:filesystem/preopens@0.2.0" (instance)))"#)
            .unwrap();
    let error = Runtime::new(&wants_files).unwrap_err();
    assert_eq!(
        error,
        ComponentError::UnknownImport("wasi:filesystem/preopens@0.2.0".into())
    );
}

#[test]
fn an_import_of_another_version_is_a_mismatch() {
    let wants_the_future = wat::parse_str(
        r#"(component
            (import "leaseline:redis/client@7.0.0" (instance (export "open" (func))))
            (instance $queue)
            (export "leaseline:queue/queue@0.1.0" (instance $queue)))"#,
    )
    .unwrap();
    let error = Runtime::new(&wants_the_future).unwrap_err();
    assert!(matches!(error, ComponentError::Mismatch(_)), "{error}");
}
