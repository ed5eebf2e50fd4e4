//! A secret in a wrong place is not shown, whatever characters it has.

use crate::refusal::refused;

#[test]
fn where_the_command_line_has_no_use_for_it() {
    for arguments in [
        &["redis://:s3cret@h", "stats"][..],
        &["stats", "redis://:s3cret@h"],
        &["stats", "--redi=redis://u:s3cret@h"],
        &["stats", "user:s3cret@host:6379"],
        &["--engine", "redis://u:pa's3cret@127.0.0.1", "stats"],
        &["--engine", "redis://u:pa s3cret@127.0.0.1", "stats"],
        &["--engine=redis://u:pa\" s3cret@127.0.0.1", "stats"],
        &["stats", "redis://u:pa's3cret@h"],
        &["claim", "--wait", "user:pa s3cret@h"],
        &["claim", "--wait", "redis+unix:///s?pass=pa s3cret"],
    ] {
        refused(arguments, 2);
    }
}

#[test]
fn where_another_thing_is_expected() {
    for arguments in [
        &["publish", "--file", "redis://u:pa's3cret@h"][..],
        &["publish", "--file", "redis://u:pa s3cret@h"],
        &["publish", "--file", "redis+unix:///s?pass=pa' s3cret"],
        &["--component", "redis://u:pa\"s3cret@h", "stats"],
        &[
            "ack",
            "--lease",
            "{\"lease\":{\"queue\":\"q\",\"stored_base64\":\"\",\"token\":null,\"deadline_ms\":\"redis://u:pa' s3cret@h\"}}",
        ],
    ] {
        refused(arguments, 2);
    }
}

#[test]
fn where_a_command_is_expected() {
    for exec in [
        "psql://u:hunt;s3cret@h",
        "psql://u:s3cret;er2@h",
        "psql://u:'s3cret@h",
        "user:s3cret;er2@h",
        "user:s3cret@h --flag",
    ] {
        refused(&["work", "--exec", exec], 2);
    }
}
