//! Body of the fuzz target in `fuzz/`: what must hold for any bytes. The ordinary
//! tests run it over `fuzz/corpus`.

/// Whatever a mail holds, what is read of it without git is read or is not there.
pub fn mail(bytes: &[u8]) {
    crate::patch::read_any(bytes);
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_corpus_of_mails_holds() {
        tollgate_testing::corpus::run("mail", super::mail);
    }
}
