//! `string.format`.

use super::expressions::{expression as any, mostly};
use super::values::{number, text};
use crate::random::Random;

const NUMBERS: [&str; 29] = [
    "%d", "%5d", "%-5d|", "%05d", "%+d", "% d", "%i", "%u", "%x", "%X", "%#x", "%o", "%e", "%.2E",
    "%g", "%.3g", "%G", "%f", "%.0f", "%.3f", "%10.4f", "%-10.2f|", "%.14g", "%.17g", "%5.1f",
    "%099d", "%.99f", "%.20d", "%c",
];

const TEXTS: [&str; 7] = ["%s", "%10s", "%-10s|", "%.2s", "%q", "%5.1s", "%.0s"];

const WRONG: [&str; 10] = [
    "%", "%y", "%100d", "%.100f", "%%", "%5", "%#####d", "%-+ #0d", "%1$d", "%ld",
];

fn part(random: &mut Random) -> (String, String) {
    match random.below(8) {
        0 => (random.pick(&WRONG).to_owned(), any(random, 0)),
        1..=4 => {
            let format = random.pick(&NUMBERS).to_owned();
            // The bytes that a letter of a number without one becomes are C's own affair.
            let argument = match format.as_str() {
                "%c" => random.pick(&["65", "'66'", "255", "0"]).to_owned(),
                "%u" | "%x" | "%X" | "%#x" | "%o" => random
                    .pick(&["0", "1", "255", "2^31", "2^53", "'17'", "1.9"])
                    .to_owned(),
                _ => mostly(random, number),
            };
            (format, argument)
        }
        _ => (random.pick(&TEXTS).to_owned(), mostly(random, text)),
    }
}

pub(super) fn expression(random: &mut Random) -> String {
    let (mut format, mut arguments) = (String::new(), String::new());
    for _ in 0..=random.below(3) {
        let (part, argument) = part(random);
        format.push_str(&part);
        arguments.push_str(", ");
        arguments.push_str(&argument);
    }
    format!("string.format('{format}'{arguments})")
}
