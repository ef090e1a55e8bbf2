//! What the place of a text can show.

/// What a terminal can show.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Whether it shows colours.
    pub color: bool,
    /// The most columns of a line.
    pub width: usize,
}
