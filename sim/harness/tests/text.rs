//! Cases as text and as bytes.

use leaseline_sim::{Case, Op, case_of, decode, one_line};

#[test]
fn a_case_is_read_as_it_was_written() {
    for seed in 0..300 {
        let case = case_of(seed);
        assert_eq!(case.to_string().parse(), Ok(case.clone()), "seed {seed}");
        let line = one_line(&case).replace("; ", "\n");
        assert_eq!(line.parse(), Ok(case), "seed {seed}");
    }
}

#[test]
fn no_bytes_are_the_mildest_case() {
    let case = decode(&[]);
    assert_eq!(case, Case::default());
    assert!(case.ops.is_empty());
}

#[test]
fn mistakes_name_their_line_and_the_remedy() {
    for (text, line, part) in [
        ("", 1, "begins with 'leaseline-sim case 1'"),
        ("leaseline-sim case 9", 1, "begins with"),
        (
            "leaseline-sim case 1\npublisch client=0",
            2,
            "no operation 'publisch'",
        ),
        (
            "leaseline-sim case 1\n# note\npublish who=0",
            3,
            "it has: client, queue, payload",
        ),
        ("leaseline-sim case 1\npublish client=9", 2, "use 0 to 4"),
        ("leaseline-sim case 1\npublish client=x", 2, "not a number"),
        (
            "leaseline-sim case 1\nadvance by=soon",
            2,
            "none of: 0, 1, lease-1",
        ),
        ("leaseline-sim case 1\nset clients", 2, "form name=number"),
        ("leaseline-sim case 1\nset color=1", 2, "no setting 'color'"),
        ("leaseline-sim case 1\nset clients=0", 1, "use 1 to 5"),
    ] {
        let error = text.parse::<Case>().expect_err(text);
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.to_string().contains(part), "{text}: {error}");
    }
}

#[test]
fn moments_have_names() {
    let op: Op = "advance by=lease+1".parse().expect("an operation");
    assert_eq!(op, Op::Advance { by: 4 });
    assert_eq!(op.to_string(), "advance by=lease+1");
}
