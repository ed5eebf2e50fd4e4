//! Other texts in place of the scripts: a folder with all of them that `LEASELINE_LUA` names. So the
//! tests say whether they see a mistake.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use leaseline_core::script::{self, Script};

static TEXTS: LazyLock<Option<BTreeMap<&'static str, String>>> = LazyLock::new(|| {
    let folder = std::env::var_os("LEASELINE_LUA")?;
    let text = |script: &&'static Script| {
        let path = Path::new(&folder).join(format!("{}.lua", script.name));
        let text = std::fs::read_to_string(&path);
        (
            script.name,
            text.unwrap_or_else(|error| panic!("{}: {error}", path.display())),
        )
    };
    Some(script::ALL.iter().map(text).collect())
});

/// The text that runs for a script.
pub(crate) fn text(script: &Script) -> &'static str {
    match &*TEXTS {
        Some(texts) => &texts[script.name],
        None => script.source,
    }
}
