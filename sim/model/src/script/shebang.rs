//! The `#!lua flags=…` line that a script may start with.

use crate::refusal::Refusal;

/// What the first line of a script declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Shebang {
    /// How many bytes of the source it takes; the line's end stays, so that lines keep their
    /// numbers. 0 means that there is none, and that the old rules apply.
    pub(super) length: usize,
    pub(crate) no_writes: bool,
    pub(crate) allow_oom: bool,
    pub(crate) allow_stale: bool,
}

impl Shebang {
    pub(super) fn parse(source: &[u8]) -> Result<Self, Refusal> {
        if !source.starts_with(b"#!") {
            return Ok(Shebang::default());
        }
        let length = source
            .iter()
            .position(|byte| *byte == b'\n')
            .ok_or(Refusal::Text("ERR Invalid script shebang"))?;
        let mut found = Shebang {
            length,
            ..Shebang::default()
        };
        let line = String::from_utf8_lossy(&source[..length]).into_owned();
        let mut words = line.split_ascii_whitespace();
        let engine = words.next().unwrap_or_default();
        if engine != "#!lua" {
            return Err(Refusal::Line(format!(
                "ERR Unexpected engine in script shebang: {engine}"
            )));
        }
        for word in words {
            let Some(flags) = word.strip_prefix("flags=") else {
                return Err(Refusal::Line(format!(
                    "ERR Unknown lua shebang option: {word}"
                )));
            };
            if !flags.is_empty() {
                for flag in flags.split(',') {
                    found.set(flag)?;
                }
            }
        }
        Ok(found)
    }

    fn set(&mut self, flag: &str) -> Result<(), Refusal> {
        match flag {
            "no-writes" => self.no_writes = true,
            "allow-oom" => self.allow_oom = true,
            "allow-stale" => self.allow_stale = true,
            // A single server has nothing to decide by these.
            "no-cluster" | "allow-cross-slot-keys" => {}
            _ => {
                return Err(Refusal::Line(format!(
                    "ERR Unexpected flag in script shebang: {flag}"
                )));
            }
        }
        Ok(())
    }

    pub(crate) fn is_present(&self) -> bool {
        self.length > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags() {
        assert_eq!(Shebang::parse(b"return 1"), Ok(Shebang::default()));
        assert_eq!(
            Shebang::parse(b"#!lua flags=no-writes,allow-oom\nreturn 1"),
            Ok(Shebang {
                length: 31,
                no_writes: true,
                allow_oom: true,
                allow_stale: false,
            })
        );
        assert!(Shebang::parse(b"#!lua flags=\n").is_ok_and(|found| found.is_present()));
    }

    #[test]
    fn refusals() {
        for (source, text) in [
            ("#!lua", "ERR Invalid script shebang"),
            (
                "#!python\n",
                "ERR Unexpected engine in script shebang: #!python",
            ),
            (
                "#!lua flags=bogus\n",
                "ERR Unexpected flag in script shebang: bogus",
            ),
            (
                "#!lua flags=no-writes, allow-oom\n",
                "ERR Unexpected flag in script shebang: ",
            ),
            ("#!lua name=x\n", "ERR Unknown lua shebang option: name=x"),
        ] {
            let refusal = Shebang::parse(source.as_bytes()).unwrap_err();
            assert_eq!(refusal.to_string(), text);
        }
    }
}
