//! The members of an archive.

use object::read::archive::ArchiveFile;

use crate::elf::broken;
use crate::error::ObjectError;
use crate::input::Input;

/// A member of an archive.
#[derive(Clone, Debug)]
pub struct Member<'data> {
    /// Its name; in a thin archive a path from the archive's folder.
    pub name: String,
    /// The part of the archive that it is; none in a thin archive, which only
    /// names its members.
    pub object: Option<Input<'data>>,
}

/// Whether a file is an archive, thin or not.
#[must_use]
pub fn is_archive<'data>(from: impl Into<Input<'data>>) -> bool {
    let start = from.into().start(8);
    start == b"!<arch>\n" || start == b"!<thin>\n"
}

/// The members of an archive.
///
/// # Errors
/// When it is cut off or lies about itself.
pub fn members<'data>(from: impl Into<Input<'data>>) -> Result<Vec<Member<'data>>, ObjectError> {
    let input = from.into();
    let broken = |error: object::Error| broken(input, &error);
    let cut_off = || ObjectError::Elf {
        bytes: input.size(),
        reason: "a member reaches beyond the archive's end".to_owned(),
    };
    let archive = ArchiveFile::parse(input).map_err(broken)?;
    let members = archive.members().map(|member| {
        let member = member.map_err(broken)?;
        let (offset, size) = member.file_range();
        let inner = !member.is_thin();
        Ok(Member {
            name: String::from_utf8_lossy(member.name()).into_owned(),
            object: inner
                .then(|| input.part(offset, size).ok_or_else(cut_off))
                .transpose()?,
        })
    });
    members.collect()
}
