//! A case as text: a header, the settings that are not the default, and one operation a line.

use std::fmt;
use std::str::FromStr;

use super::moment::is_moment;
use super::{Case, FIELDS, KINDS, MOMENTS, Op, SETTINGS, Settings};

/// The first line, with the version of the format.
const HEADER: &str = "leaseline-sim case 1";

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// From 1.
    pub line: usize,
    /// What, and what to do.
    pub message: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for TextError {}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = &KINDS[self.kind()];
        f.write_str(kind.name)?;
        for ((field, _), number) in kind.fields.iter().zip(self.numbers()) {
            match MOMENTS.get(number as usize) {
                Some(moment) if is_moment(field) => write!(f, " {field}={moment}")?,
                _ => write!(f, " {field}={number}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADER}")?;
        let default = Settings::default().values();
        for ((at, (name, _)), value) in SETTINGS.iter().enumerate().zip(self.settings.values()) {
            if default[at] != value {
                writeln!(f, "set {name}={value}")?;
            }
        }
        self.ops.iter().try_for_each(|op| writeln!(f, "{op}"))
    }
}

impl FromStr for Op {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or_default();
        let at = KINDS.iter().position(|kind| kind.name == name);
        let at = at.ok_or_else(|| format!("there is no operation '{name}'"))?;
        let fields = KINDS[at].fields;
        let mut numbers = [0; FIELDS];
        for word in words {
            let (field, value) = pair(word)?;
            let place = fields.iter().position(|(name, _)| *name == field);
            let place = place.ok_or_else(|| {
                let names: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
                format!("{name} has no '{field}'; it has: {}", names.join(", "))
            })?;
            let most = fields[place].1;
            let number = if is_moment(field) {
                let found = MOMENTS.iter().position(|moment| *moment == value);
                found.ok_or_else(|| format!("'{value}' is none of: {}", MOMENTS.join(", ")))? as u32
            } else {
                number(field, value)?
            };
            if number > most {
                return Err(format!("{field}={value}: use 0 to {most}"));
            }
            numbers[place] = number;
        }
        Ok(Self::build(at, numbers))
    }
}

impl FromStr for Case {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let mut lines = text
            .lines()
            .enumerate()
            .map(|(at, line)| (at + 1, line.split('#').next().unwrap_or_default().trim()))
            .filter(|(_, line)| !line.is_empty());
        let fail = |line, message| TextError { line, message };
        match lines.next() {
            Some((_, HEADER)) => {}
            _ => return Err(fail(1, format!("a case begins with '{HEADER}'"))),
        }
        let mut case = Case::default();
        for (at, line) in lines {
            match line.strip_prefix("set ") {
                Some(words) => set(&mut case.settings, words).map_err(|text| fail(at, text))?,
                None => case.ops.push(line.parse().map_err(|text| fail(at, text))?),
            }
        }
        case.settings.check().map_err(|text| fail(1, text))?;
        Ok(case)
    }
}

fn set(settings: &mut Settings, words: &str) -> Result<(), String> {
    for word in words.split_whitespace() {
        let (name, value) = pair(word)?;
        let setting = settings.find(name);
        *setting.ok_or_else(|| format!("there is no setting '{name}'"))? = number(name, value)?;
    }
    Ok(())
}

fn pair(word: &str) -> Result<(&str, &str), String> {
    word.split_once('=')
        .ok_or_else(|| format!("'{word}' is not of the form name=number"))
}

fn number(name: &str, value: &str) -> Result<u32, String> {
    value
        .parse()
        .map_err(|_| format!("{name}={value}: '{value}' is not a number"))
}
