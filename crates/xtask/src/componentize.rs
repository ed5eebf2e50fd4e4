//! From a module to a component.

use anyhow::{Context, Result, bail, ensure};
use wit_component::{ComponentEncoder, DecodedWasm, decode};
use wit_parser::{Resolve, WorldItem};

use crate::section::{self, SOURCE_SECTION};

/// A larger component is a mistake: formatting or unwinding code has crept in.
const MAX_BYTES: usize = 400_000;

/// Everything that the component may ask of its host.
const IMPORTS: [&str; 4] = [
    "leaseline:redis/client@0.1.0",
    "wasi:clocks/monotonic-clock@0.2.12",
    "wasi:io/poll@0.2.12",
    "wasi:random/random@0.2.12",
];

const EXPORTS: [&str; 2] = [
    "leaseline:queue/queue@0.1.0",
    "leaseline:queue/renewal@0.1.0",
];

/// Wraps the module, whose custom section describes its world, and notes the digest of the
/// sources in a section of its own.
pub(crate) fn encode(module: &[u8], digest: &str) -> Result<Vec<u8>> {
    let mut component = ComponentEncoder::default()
        .validate(true)
        .module(module)
        .and_then(|encoder| encoder.encode())
        .context("the module cannot become a component")?;
    append_section(&mut component, SOURCE_SECTION, digest.as_bytes());
    Ok(component)
}

/// Checks size, imports, exports and the digest's section.
pub(crate) fn check(component: &[u8]) -> Result<()> {
    ensure!(
        component.len() < MAX_BYTES,
        "the component has {} bytes; the limit is {MAX_BYTES}",
        component.len()
    );
    ensure!(
        section::find(component, SOURCE_SECTION).is_some(),
        "the component lost its section {SOURCE_SECTION}"
    );
    let decoded = decode(component).context("the component cannot be read back")?;
    let DecodedWasm::Component(resolve, world) = decoded else {
        bail!("the result is no component");
    };
    let world = &resolve.worlds[world];
    ensure_names("imports", names(&resolve, world.imports.values()), &IMPORTS)?;
    ensure_names("exports", names(&resolve, world.exports.values()), &EXPORTS)
}

/// The names of the interfaces, sorted; other items are named after their kind.
fn names<'a>(resolve: &Resolve, items: impl Iterator<Item = &'a WorldItem>) -> Vec<String> {
    let mut names: Vec<_> = items
        .map(|item| match item {
            WorldItem::Interface { id, .. } => resolve
                .id_of(*id)
                .unwrap_or_else(|| "an interface without name".into()),
            WorldItem::Function(function) => format!("the function {}", function.name),
            WorldItem::Type { .. } => "a type".into(),
        })
        .collect();
    names.sort();
    names
}

fn ensure_names(what: &str, found: Vec<String>, expected: &[&str]) -> Result<()> {
    ensure!(
        found == expected,
        "the component {what}\n  {}\nand not\n  {}",
        found.join("\n  "),
        expected.join("\n  ")
    );
    Ok(())
}

/// Appends a custom section: its kind (0), its length, and in it the name with its length.
fn append_section(wasm: &mut Vec<u8>, name: &str, contents: &[u8]) {
    let mut section = Vec::new();
    push_length(&mut section, name.len());
    section.extend_from_slice(name.as_bytes());
    section.extend_from_slice(contents);
    wasm.push(0);
    push_length(wasm, section.len());
    wasm.append(&mut section);
}

/// A length in LEB128: seven bits a byte, the lowest first.
fn push_length(bytes: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        bytes.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_appended_section_is_found_again() {
        for length in [0, 1, 100, 127, 128, 20_000] {
            let mut wasm = b"\0asm\x0d\0\x01\0".to_vec();
            let contents = vec![b'x'; length];
            append_section(&mut wasm, "name", &contents);
            append_section(&mut wasm, "other", b"y");
            assert_eq!(section::find(&wasm, "name"), Some(&contents[..]));
            assert_eq!(section::find(&wasm, "other"), Some(&b"y"[..]));
        }
    }

    #[test]
    fn a_core_module_is_refused() {
        let mut module = b"\0asm\x01\0\0\0".to_vec();
        append_section(&mut module, SOURCE_SECTION, b"0");
        assert!(check(&module).is_err());
    }
}
