//! Which way windows are opened where a new one comes: most are opened for the way that
//! their accesses go; some files, and the architectures that have no begin for one way,
//! open each for both.

use tollgate_source::{Direction, TreePath, Vocabulary, WindowCall, bodies, tokens};

use crate::masks;
use crate::offers::Offers;
use crate::plan::Plan;
use crate::refusal::FixError;
use crate::request::ReadTree;

/// Why a window is opened for both ways whose accesses go one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Custom {
    /// Every window of the file is.
    File,
    /// The architecture whose file it is has no begin for one way.
    Architecture,
}

impl Custom {
    /// That of a file; none where each window is opened for its way.
    ///
    /// # Errors
    /// When a header of the file's architecture is there and cannot be read.
    pub(crate) fn of(
        tree: &dyn ReadTree,
        path: &TreePath,
        text: &[u8],
        vocabulary: &Vocabulary,
    ) -> Result<Option<Self>, FixError> {
        let opened = opened(text, vocabulary);
        if opened.contains(&false) {
            return Ok(None);
        }
        if !opened.is_empty() {
            return Ok(Some(Self::File));
        }
        let mut parts = path.parts();
        let own = (parts.next() == Some(b"arch")).then(|| parts.next());
        let Some(folder) = own.flatten() else {
            return Ok(None);
        };
        let both = masks::begins_for_both_ways(tree, &String::from_utf8_lossy(folder))?;
        Ok(both.then_some(Self::Architecture))
    }

    /// What of a tree's offers is written then.
    pub(crate) fn offers(custom: Option<Self>, offers: Offers) -> Offers {
        match custom {
            Some(_) if offers.both => Offers {
                read: false,
                write: false,
                ..offers
            },
            _ => offers,
        }
    }

    /// What the message says of it, where a window is opened so.
    pub(crate) fn said(self, plans: &[Plan]) -> Option<String> {
        let one = |plan: &Plan| {
            let count = |way| plan.run.count(way);
            plan.way.is_empty() && (count(Direction::Read) == 0 || count(Direction::Write) == 0)
        };
        let why = match self {
            Self::File => "as the file's other windows are",
            Self::Architecture => "as the architecture has no begin for one way",
        };
        let said = || format!("The window is opened for both ways, {why}.");
        plans.iter().any(one).then(said)
    }
}

/// Of each function whose windows let one way only, or whose accesses all go one way:
/// whether they are opened for both.
fn opened(text: &[u8], vocabulary: &Vocabulary) -> Vec<bool> {
    let all = tokens(text, 0);
    let own = bodies(text, &all, vocabulary).into_iter().map(|body| {
        let inside = all.get(body.tokens).unwrap_or_default();
        inside.iter().map(|token| token.span.of(text)).collect()
    });
    own.filter_map(|words: Vec<&[u8]>| opens_both(&words, vocabulary))
        .collect()
}

fn opens_both(words: &[&[u8]], vocabulary: &Vocabulary) -> Option<bool> {
    let begins: Vec<&WindowCall> = words.iter().filter_map(|w| vocabulary.window(w)).collect();
    if begins.is_empty() {
        return None;
    }
    if begins.iter().any(|begin| !(begin.read && begin.write)) {
        return Some(false);
    }
    let accesses = words.iter().filter(|word| vocabulary.is_inside(word));
    let ways: Vec<_> = accesses.map(|word| way(word, vocabulary)).collect();
    let one = |way| !ways.is_empty() && ways.iter().all(|own| *own == Some(way));
    (one(Direction::Read) || one(Direction::Write)).then_some(true)
}

/// Which way an unsafe access goes; none of one that is not known.
fn way(word: &[u8], vocabulary: &Vocabulary) -> Option<Direction> {
    let plain = word.strip_prefix(b"unsafe_")?;
    let access = vocabulary.access(plain).map(|access| access.direction);
    access.or_else(|| vocabulary.copy(plain).map(|copy| copy.direction))
}
