//! Numbers of nodes of a graph, as a bit for each: every rule asks where ways lead to, and
//! a function has a few hundred nodes.

/// The nodes that something holds of.
pub(crate) struct NodeSet(Vec<u64>);

impl NodeSet {
    /// None yet of a graph with so many nodes.
    pub(crate) fn of(nodes: usize) -> Self {
        Self(vec![0; nodes.div_ceil(u64::BITS as usize)])
    }

    /// Adds a node; whether it is new. No graph has one behind its last.
    pub(crate) fn insert(&mut self, node: usize) -> bool {
        let (word, bit) = place(node);
        let own = self.0.get_mut(word);
        own.is_some_and(|own| {
            let new = *own & bit == 0;
            *own |= bit;
            new
        })
    }

    pub(crate) fn contains(&self, node: usize) -> bool {
        let (word, bit) = place(node);
        self.0.get(word).is_some_and(|own| own & bit != 0)
    }

    /// In their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        let bits = u64::BITS as usize;
        (0..self.0.len() * bits).filter(|node| self.contains(*node))
    }
}

/// Which word, and the bit in it.
fn place(node: usize) -> (usize, u64) {
    let bits = u64::BITS as usize;
    (node / bits, 1 << (node % bits))
}

#[cfg(test)]
mod tests {
    use super::NodeSet;

    #[test]
    fn each_node_is_new_once() {
        let mut set = NodeSet::of(130);
        for node in [0, 63, 64, 129] {
            assert!(!set.contains(node));
            assert!(set.insert(node));
            assert!(!set.insert(node));
            assert!(set.contains(node));
        }
        assert!(!set.contains(1));
        assert!(!set.contains(5000));
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 129]);
    }
}
