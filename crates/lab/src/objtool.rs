//! What objtool said of the windows in an image. It follows every path of every
//! object that it checks and warns where one is left open, closed twice, or
//! calls what it must not; Kbuild goes on all the same.

/// Lines of complaints that are shown.
const SHOWN: usize = 6;

/// One complaint about a window (tools/objtool/check.c: each of them names
/// UACCESS).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Complaint<'a> {
    /// The object, from the build folder: `sound/core/pcm_native.o`.
    pub(crate) object: &'a str,
    /// What is wrong there: `f+0x1c: redundant UACCESS disable`.
    pub(crate) what: &'a str,
}

/// Every complaint about a window in a log of make.
pub(crate) fn complaints(log: &str) -> Vec<Complaint<'_>> {
    log.lines().filter_map(complaint).collect()
}

/// `OBJECT: warning: objtool: WHAT`, or `error:` where the tree asks for that.
fn complaint(line: &str) -> Option<Complaint<'_>> {
    let (before, what) = line.split_once("objtool: ")?;
    let object = before.split(':').next()?.trim();
    let is_one = what.contains("UACCESS") && !object.is_empty();
    is_one.then_some(Complaint { object, what })
}

/// The complaints as indented lines, some of them if there are many.
pub(crate) fn listed(complaints: &[Complaint<'_>]) -> String {
    let line = |complaint: &Complaint<'_>| format!("  {}: {}", complaint.object, complaint.what);
    let mut lines: Vec<String> = complaints.iter().take(SHOWN).map(line).collect();
    if let Some(more) = complaints.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        lines.push(format!("  and {more} more"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "  CC      sound/core/pcm_native.o\n\
        sound/core/pcm_native.o: warning: objtool: snd_pcm_common_ioctl+0x9c4: return with UACCESS enabled\n\
        fs/x.o: warning: objtool: f() falls through to next function g()\n\
        fs/y.o: error: objtool: h+0x10: call to memset() with UACCESS enabled\n\
        objtool: UACCESS\n  LD      vmlinux\n";

    #[test]
    fn windows_are_complained_of_and_other_warnings_are_not() {
        let found = complaints(LOG);
        insta::assert_snapshot!(listed(&found), @r"
          sound/core/pcm_native.o: snd_pcm_common_ioctl+0x9c4: return with UACCESS enabled
          fs/y.o: h+0x10: call to memset() with UACCESS enabled
        ");
    }

    #[test]
    fn many_complaints_are_counted() {
        let log = LOG.repeat(4);
        assert!(listed(&complaints(&log)).ends_with("\n  and 2 more"));
    }
}
