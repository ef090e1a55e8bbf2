//! A kernel tree: C text normalised and parsed into user accesses, runs and windows.
