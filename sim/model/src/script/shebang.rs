//! The `#!lua flags=…` line that a script may start with.

use crate::arguments::spaced;
use crate::refusal::Refusal;
use crate::words::words;

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
        // A NUL hides what comes after it, the end of the line too.
        let length = source
            .iter()
            .position(|byte| matches!(byte, b'\n' | 0))
            .filter(|end| source[*end] == b'\n')
            .ok_or(Refusal::Text("ERR Invalid script shebang"))?;
        let mut found = Shebang {
            length,
            ..Shebang::default()
        };
        let words = words(&source[..length])
            .ok_or(Refusal::Text("ERR Invalid engine in script shebang"))?;
        let mut words = words.iter();
        let engine = words.next().map(Vec::as_slice).unwrap_or_default();
        if engine != b"#!lua" {
            return Err(Refusal::line(&[
                &"ERR Unexpected engine in script shebang: ",
                &spaced(engine),
            ]));
        }
        for option in words {
            let Some(flags) = option.strip_prefix(b"flags=") else {
                return Err(Refusal::line(&[
                    &"ERR Unknown lua shebang option: ",
                    &spaced(option),
                ]));
            };
            if !flags.is_empty() {
                for flag in flags.split(|byte| *byte == b',') {
                    found.set(flag)?;
                }
            }
        }
        Ok(found)
    }

    fn set(&mut self, flag: &[u8]) -> Result<(), Refusal> {
        match flag {
            b"no-writes" => self.no_writes = true,
            b"allow-oom" => self.allow_oom = true,
            b"allow-stale" => self.allow_stale = true,
            // A single server has nothing to decide by these.
            b"no-cluster" | b"allow-cross-slot-keys" => {}
            _ => {
                return Err(Refusal::line(&[
                    &"ERR Unexpected flag in script shebang: ",
                    &spaced(flag),
                ]));
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
        let quoted = b"#!\"lua\"\t\"fl\\x61gs=no-writes\"\n";
        assert!(Shebang::parse(quoted).is_ok_and(|found| found.no_writes));
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
            ("#!lua ''\n", "ERR Unknown lua shebang option: "),
            (
                "#!lua \"flags=no-writes\n",
                "ERR Invalid engine in script shebang",
            ),
            ("#!lua 'a'b\n", "ERR Invalid engine in script shebang"),
            ("#!lua\0x\n", "ERR Invalid script shebang"),
            (
                "#!lua\u{b}flags=no-writes\n",
                "ERR Unexpected engine in script shebang: #!lua\u{b}flags=no-writes",
            ),
            (
                "#!lua\"x\"\n",
                "ERR Unexpected engine in script shebang: #!luax",
            ),
        ] {
            let refusal = Shebang::parse(source.as_bytes()).unwrap_err();
            assert_eq!(refusal.to_string(), text);
        }
    }
}
