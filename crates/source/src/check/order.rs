//! In which order the functions of a file are looked at: those that are called before
//! their callers, wherever they stand.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::lex::{Token, TokenKind};
use crate::search::{Hashed, Likely};
use crate::split::Body;

/// The functions of a file by their places, each behind those of the file that it calls. Of a
/// ring of functions that call each other one stands before what it calls.
pub(super) fn callees_first(text: &[u8], tokens: &[Token], bodies: &[Body]) -> Vec<usize> {
    let behind = Behind::new(text, tokens, bodies);
    let mut order = Vec::with_capacity(bodies.len());
    let mut met = vec![false; bodies.len()];
    for at in 0..bodies.len() {
        behind.visit(at, &mut met, &mut order);
    }
    order
}

/// Which functions call one that stands behind them.
struct Behind<'a> {
    of: Vec<Vec<usize>>,
    text: &'a [u8],
    places: HashMap<&'a [u8], usize, RandomState>,
    /// The names of those.
    names: Likely,
}

impl<'a> Behind<'a> {
    fn new(text: &'a [u8], tokens: &[Token], bodies: &'a [Body]) -> Self {
        let named = bodies.iter().enumerate();
        let named = named.filter(|(_, body)| body.defined_by.is_none());
        let places: HashMap<&[u8], usize, RandomState> =
            named.map(|(at, body)| (body.name.as_bytes(), at)).collect();
        let mut own = Self {
            of: Vec::with_capacity(bodies.len()),
            text,
            names: Likely::of(places.keys().copied()),
            places,
        };
        for (at, body) in bodies.iter().enumerate() {
            let inside = tokens.get(body.tokens.clone()).unwrap_or_default();
            own.of.push(own.called_behind(at, inside));
        }
        own
    }

    /// The functions behind one that its tokens call.
    fn called_behind(&self, at: usize, tokens: &[Token]) -> Vec<usize> {
        let calls = tokens.windows(2).filter_map(|two| match two {
            [word, open] if open.is(b'(') && word.kind == TokenKind::Word => {
                let word = word.span.of(self.text);
                let likely = self.names.may_hold(Hashed::of(word));
                likely.then(|| self.places.get(word).copied())?
            }
            _ => None,
        });
        calls.filter(|callee| *callee > at).collect()
    }

    /// Puts one into the order, behind what it calls: a file may hold a chain of any
    /// length, so that no stack of ours is used for it.
    fn visit(&self, first: usize, met: &mut [bool], order: &mut Vec<usize>) {
        let mut open = vec![(first, 0)];
        while let Some((at, next)) = open.pop() {
            let before = met.get_mut(at).filter(|_| next == 0);
            if before.is_some_and(|own| std::mem::replace(own, true)) {
                continue;
            }
            match self.of.get(at).and_then(|own| own.get(next)) {
                Some(callee) => open.extend([(at, next + 1), (*callee, 0)]),
                None => order.push(at),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::bodies;
    use crate::vocabulary::Vocabulary;

    fn order(text: &[u8]) -> Vec<String> {
        let tokens = crate::lex::tokens(text, 0);
        let all = bodies(text, &tokens, &Vocabulary::builtin().unwrap());
        let order = callees_first(text, &tokens, &all);
        order.into_iter().map(|at| all[at].name.clone()).collect()
    }

    #[test]
    fn what_is_called_comes_before_its_callers() {
        let text = b"int c(void);\nint a(void) { return c(); }\nint b(void) { return a(); }\n\
                     int c(void) { return d(); }\nint d(void) { return 0; }\n";
        assert_eq!(order(text), ["d", "c", "a", "b"]);
    }

    #[test]
    fn a_ring_has_each_of_its_functions_once() {
        let text = b"int a(void) { return c(); }\nint b(void) { return a(); }\n\
                     int c(void) { return b(); }\n";
        assert_eq!(order(text), ["c", "a", "b"]);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let one = |at: usize| format!("int f{at}(void) {{ return f{}(); }}\n", at + 1);
        let text: String = (0..50_000).map(one).collect();
        let order = order(text.as_bytes());
        assert_eq!(order.len(), 50_000);
        assert_eq!(order[0], "f49999");
    }
}
