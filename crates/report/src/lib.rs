//! Findings and comparisons for people and programs: terminal, HTML, JSON.
