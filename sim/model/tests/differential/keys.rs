//! One key of both servers.

use leaseline_redis_model::{Content, Entry};

use crate::steps::{Difference, Played};
use crate::times::{self, TOLERANCE_MS};

/// Compares a key of both servers, where it is there.
pub(crate) fn compare(name: &[u8], real: Option<&Entry>, model: Option<&Entry>) -> Played {
    let expires = |entry: Option<&Entry>| entry.and_then(|entry| entry.expires_at_ms);
    let same_end = match (expires(real), expires(model)) {
        (Some(real), Some(model)) => (real - model).abs() <= TOLERANCE_MS,
        (real, model) => real == model,
    };
    let same_content = match (real, model) {
        (Some(real), Some(model)) => {
            real.content == model.content
                || times::same_text(&text(&real.content), &text(&model.content))
        }
        (real, model) => real.is_none() == model.is_none(),
    };
    if same_end && same_content {
        return Ok(());
    }
    let what = format!("the key \"{}\" differs", name.escape_ascii());
    Err(Difference::between(&what, &shown(real), &shown(model)))
}

fn shown(entry: Option<&Entry>) -> Vec<u8> {
    let Some(entry) = entry else {
        return b"not there".to_vec();
    };
    let mut text = text(&entry.content);
    if let Some(when) = entry.expires_at_ms {
        text.extend_from_slice(format!(" until {when}").as_bytes());
    }
    text
}

fn text(content: &Content) -> Vec<u8> {
    let items: Vec<Vec<u8>> = match content {
        Content::Text(text) => vec![text.clone()],
        Content::List(items) => items.clone(),
        Content::Hash(fields) => fields
            .iter()
            .flat_map(|(field, value)| [field.clone(), value.clone()])
            .collect(),
        Content::Set(members) => members.iter().cloned().collect(),
        Content::SortedSet(members) => members
            .iter()
            .flat_map(|(member, score)| [member.clone(), score.to_string().into_bytes()])
            .collect(),
        other => vec![format!("{other:?}").into_bytes()],
    };
    [content.kind().as_bytes().to_vec(), items.join(&b' ')].join(&b' ')
}
