//! The radix tree in which Redis keeps the nodes of a stream, as far as `XINFO STREAM` shows it.

const KEY: usize = 16;

/// How many nodes a tree of these sorted keys has. A run of bytes that no two keys tell apart is
/// one node, a byte that does is another, and so is the end of each key.
pub(super) fn node_count(keys: &[[u8; KEY]]) -> usize {
    below(keys, 0)
}

/// The nodes of the part of a tree in which all keys have `depth` bytes in common.
fn below(keys: &[[u8; KEY]], depth: usize) -> usize {
    let [first, rest @ ..] = keys else {
        return 1; // the root is always there
    };
    let Some(last) = rest.last() else {
        return 1 + usize::from(depth < KEY);
    };
    let run = (depth..KEY)
        .take_while(|at| first[*at] == last[*at])
        .count();
    let fork = depth + run;
    let branches = keys.chunk_by(|one, two| one[..=fork] == two[..=fork]);
    let branches: usize = branches.map(|branch| below(branch, fork + 1)).sum();
    1 + usize::from(run > 0) + branches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_counted() {
        let key = |number: u128| number.to_be_bytes();
        assert_eq!(node_count(&[]), 1);
        assert_eq!(node_count(&[key(5)]), 2);
        // A run of 15 bytes, the fork, two ends.
        assert_eq!(node_count(&[key(5), key(6)]), 4);
        // Forks at the first and the last byte, with runs between.
        assert_eq!(node_count(&[key(5), key(6), key(u128::MAX)]), 7);
    }
}
