//! A run of user accesses rewritten into one window, as a patch.
