//! What the function is called where a window is open, and how that is written: a function
//! that says whether an access faulted, and a macro that goes to a label then, as those of
//! arch/powerpc/kernel/signal_32.c are.

use crate::helper::open::Open;
use crate::lines::width;

/// The names of a function for an open window.
pub(crate) struct Names {
    /// That of the macro with a label.
    pub(crate) unsafe_: String,
    /// That of the function behind it.
    pub(crate) inner: String,
}

impl Names {
    /// Those of a function with that name.
    pub(crate) fn of(name: &str) -> Self {
        let plain = name.trim_start_matches('_');
        Self {
            unsafe_: format!("unsafe_{plain}"),
            inner: format!("__unsafe_{plain}"),
        }
    }
}

/// What stands behind the function: its macro, and its old name for callers that have no window.
pub(super) fn written(open: &Open, names: &Names, kept: bool) -> String {
    let given = open.parameters.join(", ");
    let Names { unsafe_, inner } = names;
    let mut all = "\n\n".to_owned();
    let separator = if given.is_empty() { "" } else { ", " };
    all += &continued(&[
        format!("#define {unsafe_}({given}{separator}label) do {{"),
        format!("\tif ({inner}({given}))"),
        "\t\tgoto label;".to_owned(),
        "} while (0)".to_owned(),
    ]);
    if kept {
        let Open {
            head,
            way,
            result,
            object,
            ..
        } = open;
        all += &format!(
            "\n\n{head}\n{{\n\tint {result};\n\n\tif (!user{way}_access_begin({object}, sizeof(*{object})))\n\t\treturn -EFAULT;\n\n\
             \t{result} = {inner}({given});\n\tuser{way}_access_end();\n\n\treturn {result};\n}}"
        );
    }
    all
}

/// The lines of a macro, each but the last with its backslash in one column.
fn continued(lines: &[String]) -> String {
    let widest = lines.iter().map(|line| width(line)).max().unwrap_or(0);
    let column = (widest / 8 + 1) * 8;
    let line = |(at, line): (usize, &String)| {
        if at + 1 == lines.len() {
            return line.clone();
        }
        let tabs = (column - width(line)).div_ceil(8);
        format!("{line}{}\\\n", "\t".repeat(tabs))
    };
    lines.iter().enumerate().map(line).collect()
}
