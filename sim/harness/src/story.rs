//! A failure for people: the shortened history, and one line that replays it.

use std::fmt::Write as _;

use crate::case::Case;
use crate::run::Runner;
use crate::violation::Violation;

/// The longest line of a story.
const WIDTH: usize = 200;

/// A text with long lists of bytes cut.
pub(crate) fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(WIDTH).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// The case as one line, for `leaseline_sim::replay`.
pub fn one_line(case: &Case) -> String {
    let text = case.to_string();
    text.trim_end().replace('\n', "; ")
}

/// What happened in a case that fails, and how to see it again.
pub fn tell(runner: &Runner, case: &Case, violation: &Violation) -> String {
    let (outcome, lines) = runner.tell(case);
    let mut text = String::new();
    let _ = writeln!(text, "does not hold: {violation}\n");
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
    if outcome.as_ref().err() != Some(violation) {
        let _ = writeln!(
            text,
            "\ntold again, it ended otherwise: {outcome:?}; a run is not determined by its case"
        );
    }
    let _ = write!(
        text,
        "\nthe case, {} lines:\n\n{case}\nreplay: LEASELINE_SIM_CASE='{}' cargo test -p leaseline-sim --test cases\n",
        case.ops.len(),
        one_line(case)
    );
    text
}
