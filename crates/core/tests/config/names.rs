//! Names, separators, and the slots of a cluster.

use crate::{accepted, config, named, refused};

#[test]
fn a_name_is_not_blank() {
    // The last two are blank to Python only.
    for name in ["", " ", "\t\n", "\u{85}", "\u{2028}", "\x1c", "\x1f "] {
        refused(named(name), &["the queue name is blank", "give it a name"]);
    }
    // Everything else is accepted as it is.
    for name in [" a ", "a\nb", "\x1b[31m", "\u{200b}", "'\"", "ключ"] {
        accepted(named(name));
    }
}

#[test]
fn a_name_has_no_nul() {
    refused(named("a\0b"), &["NUL", "use another name"]);
}

#[test]
fn a_separator_is_not_blank() {
    for separator in ["", " ", "\x1d"] {
        refused(
            config(|config| config.key_separator = separator.into()),
            &["the key separator is blank", "'::'"],
        );
    }
    accepted(config(|config| config.key_separator = "\0".into()));
}

#[test]
fn a_name_does_not_contain_the_separator() {
    refused(
        named("q::deduplication"),
        &["contains the key separator '::'"],
    );
    refused(
        config(|config| config.key_separator = "q".into()),
        &["contains the key separator 'q'"],
    );
    accepted(named("a:b"));
}

#[test]
fn names_are_checked_in_order() {
    refused(named("\0"), &["NUL"]);
    let mut both = named("a\0b");
    both.key_separator = " ".into();
    refused(both, &["NUL"]);
    let mut and_limits = named("a::b");
    and_limits.max_payload_bytes = Some(0);
    refused(and_limits, &["separator"]);
}

#[test]
fn a_cluster_needs_a_hash_tag_and_one_slot() {
    let clustered = |name: &str| {
        let mut config = named(name);
        config.cluster = true;
        config
    };
    for name in ["{x}", "pre{x}post", "{{x}}", "}{x}", "{ }"] {
        accepted(clustered(name));
    }
    for name in ["q", "{}", "{x", "{{}x}", "{{}}"] {
        refused(clustered(name), &["put a hash tag into the name"]);
    }
    // The first pair is empty, so Redis hashes each key as a whole.
    refused(
        clustered("{}{x}"),
        &["has another one than", "one hash tag"],
    );

    let mut elsewhere = clustered("{x}");
    elsewhere.dead_letter_queue = Some("{y}dead".into());
    refused(elsewhere.clone(), &["'{y}dead'"]);
    elsewhere.dead_letter_queue = Some("dead{x}".into());
    accepted(elsewhere);
    accepted(named("q"));
}
