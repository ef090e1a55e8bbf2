//! The members of an archive.

use object::read::archive::ArchiveFile;

use crate::elf::ObjectError;

/// A member of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member<'data> {
    /// Its name; in a thin archive a path from the archive's folder.
    pub name: String,
    /// Its bytes; none in a thin archive, which only names its members.
    pub bytes: Option<&'data [u8]>,
}

/// Whether a file is an archive, thin or not.
#[must_use]
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"!<arch>\n") || bytes.starts_with(b"!<thin>\n")
}

/// The members of an archive.
///
/// # Errors
/// When it is cut off or lies about itself.
pub fn members(bytes: &[u8]) -> Result<Vec<Member<'_>>, ObjectError> {
    let broken = |error: object::Error| ObjectError::Elf {
        bytes: bytes.len(),
        reason: error.to_string(),
    };
    let archive = ArchiveFile::parse(bytes).map_err(broken)?;
    let members = archive.members().map(|member| {
        let member = member.map_err(broken)?;
        let inner = !member.is_thin();
        Ok(Member {
            name: String::from_utf8_lossy(member.name()).into_owned(),
            bytes: inner
                .then(|| member.data(bytes))
                .transpose()
                .map_err(broken)?,
        })
    });
    members.collect()
}
