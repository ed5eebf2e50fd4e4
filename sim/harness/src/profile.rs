//! Which families of faults a campaign has.

use crate::case::{Case, Family, KINDS};

/// A choice of faults, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// What it is called.
    pub name: &'static str,
    /// What is in it, for people.
    pub about: &'static str,
    /// The families besides work and time; none: whatever the seed chooses.
    families: Option<&'static [Family]>,
}

const fn profile(
    name: &'static str,
    about: &'static str,
    families: Option<&'static [Family]>,
) -> Profile {
    Profile {
        name,
        about,
        families,
    }
}

impl Profile {
    /// All of them; the first is the default.
    pub const ALL: &'static [Profile] = &[
        profile("swarm", "each seed its own choice of faults", None),
        profile("calm", "no faults", Some(&[])),
        profile(
            "network",
            "lost, late and doubled requests and replies",
            Some(&[Family::Network]),
        ),
        profile(
            "workers",
            "paused and killed workers, lost replies",
            Some(&[Family::Worker, Family::Network]),
        ),
        profile(
            "server",
            "restarts, failovers, refusals, clocks",
            Some(&[Family::Server, Family::Refusal, Family::Clock]),
        ),
    ];

    /// The profile of a name.
    ///
    /// # Errors
    ///
    /// If there is none; says which there are.
    pub fn named(name: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|profile| profile.name == name);
        found.copied().ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|profile| profile.name).collect();
            format!(
                "there is no profile '{name}'; use one of {}",
                names.join(", ")
            )
        })
    }

    /// The case without the faults that the profile leaves out.
    pub fn apply(&self, mut case: Case) -> Case {
        if let Some(families) = self.families {
            case.ops.retain(|op| match KINDS[op.kind()].family {
                Family::Work | Family::Time => true,
                family => families.contains(&family),
            });
        }
        case
    }
}
