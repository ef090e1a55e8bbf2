//! What a macro stands for, in the place of its call.

use super::file::Kind;
use super::find::Scope;
use super::input::{Input, parts};
use super::layout::LayoutError;
use super::macros::Macro;
use super::query::Query;

impl Query<'_> {
    /// The macro of a name, if it is one.
    pub(super) fn macro_of(
        &mut self,
        name: &str,
        scope: &Scope,
    ) -> Result<Option<Macro>, LayoutError> {
        match self.find(name, &[Kind::Macro], scope) {
            Ok(found) => Ok(Macro::read(&found.scope.file.text, found.entry.at)),
            Err(LayoutError::Missing(_) | LayoutError::Absent(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a name is a constant of the type `int`: an enumerator, or a macro of a number
    /// that is written as one.
    pub(super) fn is_int(&mut self, name: &str) -> Result<bool, LayoutError> {
        let scope = self.root();
        let found = self.find(name, &[Kind::Macro, Kind::Enumerator], &scope)?;
        if found.entry.kind == Kind::Enumerator {
            return Ok(true);
        }
        let own = Macro::read(&found.scope.file.text, found.entry.at);
        Ok(own.is_some_and(|own| own.is_int()))
    }

    /// Puts what a macro stands for in the place of its call, which is next;
    /// false if the next word is no macro.
    pub(super) fn expand(&mut self, input: &mut Input, scope: &Scope) -> Result<bool, LayoutError> {
        let Some(name) = input.name(0).map(str::to_owned) else {
            return Ok(false);
        };
        let Some(found) = self.macro_of(&name, scope)? else {
            return Ok(false);
        };
        let called = found.is_called();
        if called && !input.is(1, b'(') {
            return Ok(false);
        }
        let unclear = || LayoutError::Unclear(name.clone(), "its arguments".to_owned());
        input.next();
        let arguments = match called {
            true => parts(input.brackets().ok_or_else(unclear)?),
            false => Vec::new(),
        };
        let words = found.with(arguments).ok_or_else(unclear)?;
        self.room(input.len() + words.len(), &name)?;
        input.put(words);
        Ok(true)
    }

    /// Macros that double each other must not use up memory.
    fn room(&self, words: usize, name: &str) -> Result<(), LayoutError> {
        const MOST: usize = 100_000;
        match words > MOST {
            true => Err(LayoutError::Unclear(
                name.to_owned(),
                "its length".to_owned(),
            )),
            false => Ok(()),
        }
    }
}
