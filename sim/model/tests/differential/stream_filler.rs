//! Calls that fill streams and take much out of them: what matters is where their nodes end.

use crate::random::Random;

/// Calls that fill streams and take much out of them: what matters is where their nodes end.
#[derive(Default)]
pub(crate) struct Filler {
    step: usize,
    ids: Vec<String>,
}

impl Filler {
    pub(crate) fn call(&mut self, random: &mut Random) -> Vec<String> {
        self.step += 1;
        let key = random.pick(&["k1", "k1", "k2"]);
        let text = match random.below(40) {
            0 => format!("XTRIM {key} MAXLEN ~ {}", random.below(300)),
            1 => format!("XTRIM {key} MAXLEN = {}", 100 + random.below(400)),
            2 => format!("XTRIM {key} MINID ~ {}", self.id(random)),
            3 => format!("XTRIM {key} MINID {}", self.id(random)),
            4 => format!(
                "XTRIM {key} MAXLEN ~ {} LIMIT {}",
                random.below(300),
                random.below(300)
            ),
            5..10 => {
                let mut text = format!("XDEL {key}");
                for _ in 0..=random.below(20) {
                    text.push(' ');
                    text.push_str(&self.id(random));
                }
                text
            }
            10..13 => format!("XINFO STREAM {key}"),
            13 if random.one_in(10) => format!("DEL {key}"),
            14 => format!("XRANGE {key} {} + COUNT 3", self.id(random)),
            15 => format!("XREVRANGE {key} {} - COUNT 3", self.id(random)),
            _ => return self.addition(random, key),
        };
        text.split(' ').map(str::to_owned).collect()
    }

    /// An id that was given, if seldom to the same stream.
    fn id(&self, random: &mut Random) -> String {
        match self.ids.len() {
            0 => "1".to_owned(),
            known => self.ids[random.below(known)].clone(),
        }
    }

    fn addition(&mut self, random: &mut Random, key: &str) -> Vec<String> {
        let ms = self.step / 64 * 200;
        let sequence = self.step * [1, 1, 300, 70_000][random.below(4)];
        let id = format!("{ms}-{sequence}");
        self.ids.push(id.clone());
        let mut words = vec!["XADD".to_owned(), key.to_owned()];
        if random.one_in(20) {
            words.extend(["MAXLEN", "~", "150"].map(str::to_owned));
        }
        words.push(id);
        let large = self.step % 1500 > 1000;
        for field in 0..=random.below(2) {
            words.push(format!("field{}", field + random.below(2)));
            words.push(match random.below(8) {
                0 => (random.next() as i64 >> random.below(64)).to_string(),
                1 if large => "x".repeat(random.below(900)),
                2 => "x".repeat(random.below(100)),
                3 => format!("0{}", random.below(100)),
                _ => random.below(300).to_string(),
            });
        }
        words
    }
}
