//! What the demo claims, and whether it held.

use serde_json::json;

use crate::failure::Failure;
use crate::output::Output;

/// The story as it is told, and the table at its end.
pub(super) struct Checks<'a> {
    output: &'a mut Output,
    table: Vec<(&'static str, bool)>,
}

impl<'a> Checks<'a> {
    pub(super) fn new(output: &'a mut Output) -> Self {
        Self {
            output,
            table: Vec::new(),
        }
    }

    /// Says what happens, for people.
    pub(super) fn tell(&mut self, text: impl std::fmt::Display) -> Result<(), Failure> {
        if self.output.is_json() {
            return Ok(());
        }
        self.output.line(text)?;
        self.output.flush()
    }

    /// Notes whether something held.
    pub(super) fn that(&mut self, claim: &'static str, held: bool) -> Result<(), Failure> {
        self.table.push((claim, held));
        if self.output.is_json() {
            self.output
                .object(&json!({ "check": claim, "held": held }))?;
        }
        Ok(())
    }

    /// How many held, and how many did not.
    pub(super) fn counts(&self) -> (usize, usize) {
        let held = self.table.iter().filter(|(_, held)| *held).count();
        (held, self.table.len() - held)
    }

    /// Prints the table, for people.
    pub(super) fn print(self) -> Result<(), Failure> {
        if self.output.is_json() {
            return Ok(());
        }
        self.output.line("")?;
        self.output.line("checked:")?;
        for (claim, held) in &self.table {
            let mark = if *held { "  held  " } else { "  FAILED" };
            self.output.line(format_args!("{mark}  {claim}"))?;
        }
        Ok(())
    }
}
