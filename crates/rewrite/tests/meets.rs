//! What a rewriter meets in a real kernel, one small function shaped like each
//! place: what comes of it is golden. Every patch, these and those of a real
//! tree where one is at hand, is held to the mistakes that have been made by hand.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io;

use tollgate_rewrite::{Patched, Request, Target, UACCESS, fix};
use tollgate_source::TreePath;

const HEADER: &str = "\
#define user_access_begin(ptr,len) access_ok(ptr, len)
#define user_access_end() do { } while (0)
#define user_write_access_begin user_access_begin
#define user_write_access_end user_access_end
#define user_read_access_begin user_access_begin
#define user_read_access_end user_access_end
";

const EXIT: &str = ")\n\t\treturn -EFAULT;\n";

/// The place, and the body of a function shaped like it.
const PLACES: &[(&str, &str)] = &[
    (
        "arch/sparc/kernel/sys_sparc32.c:73, sound/pci/emu10k1/emufx.c:652: a call in an argument",
        "\tif (put_user(read_device(k), &p->a) || put_user(2, &p->b)EXIT\treturn 0;\n",
    ),
    (
        "arch/x86/kernel/sys_ia32.c:140: an inline call that may stay",
        "\tif (put_user(huge_encode_dev(k->dev), &p->a) || put_user(2, &p->b)EXIT\treturn 0;\n",
    ),
    (
        "arch/xtensa/kernel/stacktrace.c:104: an address that was just read",
        "\tstruct s __user *q;\n\n\tif (get_user(q, &p->next) || get_user(c, &q->a)EXIT\treturn c;\n",
    ),
    (
        "sound/pci/asihpi/hpioctl.c:118: reads, and then one through what was read",
        "\tstruct s __user *q, *r;\n\n\tif (get_user(q, &p->a) || get_user(r, &p->b)EXIT\tif (get_user(c, &q->a)EXIT\treturn work(c, r);\n",
    ),
    (
        "fs/binfmt_flat.c:132: side effects in arguments",
        "\tunsigned long __user *sp = start(k);\n\n\tif (put_user(k->a, sp++) || put_user(k->b, sp++)EXIT\treturn more(sp);\n",
    ),
    (
        "drivers/xen/privcmd.c:414: a side effect that the caller sees",
        "\tif (get_user(c, k->at++) || get_user(c, k->at++)EXIT\treturn c;\n",
    ),
    (
        "kernel/signal.c:4602: access_ok leads the chain",
        "\tif (!access_ok(p, sizeof(*p)) || __put_user(1, &p->a) || __put_user(2, &p->b)EXIT\treturn 0;\n",
    ),
    (
        "arch/x86/kernel/signal_64.c:256: access_ok in an earlier statement",
        "\tif (!access_ok(p, sizeof(*p))EXIT\tif (__put_user(1, &p->a) || __put_user(2, &p->b)EXIT\treturn 0;\n",
    ),
    (
        "arch/sparc/kernel/signal32.c:717: __put_user and put_user in one chain",
        "\tif (put_user(1, &p->a) || __put_user(2, &p->b)EXIT\treturn 0;\n",
    ),
    (
        "sound/core/pcm_compat.c:407: a label past a cleanup scope",
        "\tint n;\n\n\tif (get_user(n, &p->a) || get_user(c, &p->b)EXIT\tvoid **bufs __free(kfree) = alloc(n);\n\treturn work(bufs, c);\n",
    ),
    (
        "arch/arm/kernel/signal.c:389: a result that is not -EFAULT",
        "\tif (__put_user(1, &p->a) || __put_user(2, &p->b))\n\t\treturn 1;\n\treturn 0;\n",
    ),
    (
        "arch/x86/events/core.c:2904: break",
        "\tstruct frame f;\n\n\twhile (c--) {\n\t\tif (__get_user(f.next, &p->next))\n\t\t\tbreak;\n\t\tif (__get_user(f.ret, &p->ret))\n\t\t\tbreak;\n\t\tstore(k, f.ret);\n\t\tp = f.next;\n\t}\n\treturn done(k);\n",
    ),
    (
        "drivers/staging/media/av7110/av7110_hw.c:1077: break, and another one behind the accesses",
        "\tu8 __user *v = k->v;\n\tint i, ret = 0;\n\n\tfor (i = 0; i < c; i++) {\n\t\tu8 a, b;\n\n\t\tif (get_user(a, v + i * 2) ||\n\t\t    get_user(b, v + i * 2 + 1)) {\n\t\t\tret = -EFAULT;\n\t\t\tbreak;\n\t\t}\n\t\tret = set(k, a, b);\n\t\tif (ret)\n\t\t\tbreak;\n\t}\n\treturn ret;\n",
    ),
    (
        "drivers/char/random.c:1512: a validity check between reads",
        "\tint __user *v = k->v;\n\tint n;\n\n\tif (get_user(n, v++)EXIT\tif (n < 0)\n\t\treturn -EINVAL;\n\tif (get_user(c, v++)EXIT\treturn work(v, n, c);\n",
    ),
    (
        "fs/f2fs/file.c:5380: err |= of reads that nobody sees after a fault",
        "\tstruct range r;\n\tint err;\n\n\terr = get_user(r.a, &p->a);\n\terr |= get_user(r.b, &p->b);\n\tif (err)\n\t\treturn -EFAULT;\n\treturn work(&r);\n",
    ),
    (
        "kernel/signal.c:4365: err |= of writes",
        "\tint err;\n\n\terr = __put_user(1, &p->a);\n\terr |= __put_user(2, &p->b);\n\treturn err;\n",
    ),
    (
        "arch/loongarch/kernel/signal.c:390: touches that must all happen",
        "\tint err;\n\n\terr = __put_user(0, &p->a) | __put_user(0, &p->b);\n\tif (err)\n\t\treturn err;\n\treturn 0;\n",
    ),
    (
        "kernel/sys.c:766, net/sctp/socket.c:7039: several objects",
        "\tint __user *q = k->q;\n\n\tif (put_user(1, &p->a)EXIT\tif (put_user(2, q)EXIT\treturn 0;\n",
    ),
    (
        "sound/core/pcm_native.c:3335: read, then write",
        "\tif (get_user(c, &p->a)EXIT\tif (put_user(c + 1, &p->b)EXIT\treturn 0;\n",
    ),
    (
        "arch/mips/kernel/ptrace.c:113: nothing looks at the result",
        "\t__get_user(k->a, &p->a);\n\t__get_user(k->b, &p->b);\n\treturn 0;\n",
    ),
    (
        "fs/xfs/xfs_ioctl32.c:46: reads into memory behind a pointer",
        "\tif (get_user(k->a, &p->a) || get_user(k->b, &p->b)EXIT\treturn 0;\n",
    ),
    (
        "sound/core/seq/seq_compat.c:49: the same, freed on the way out",
        "\tif (get_user(k->a, &p->a) || get_user(k->b, &p->b))\n\t\tgoto out;\n\treturn work(k);\nout:\n\tkfree(k);\n\treturn -EFAULT;\n",
    ),
    (
        "drivers/gpu/drm/drm_mode_object.c:401: a loop body that calls",
        "\twhile (c--) {\n\t\twork(k);\n\t\tif (put_user(1, &p[c].a) || put_user(2, &p[c].b))\n\t\t\treturn -EFAULT;\n\t}\n\treturn 0;\n",
    ),
    (
        "kernel/signal.c:4580: #ifdef in the chain",
        "\tif (put_user(1, &p->a)EXIT#ifdef CONFIG_X\n\tif (put_user(2, &p->b)EXIT#endif\n\treturn 0;\n",
    ),
    (
        "kernel/rseq.c:125: comments between accesses",
        "\tif (put_user(1, &p->a)EXIT\t/*\n\t * The second one.\n\t */\n\tif (put_user(2, &p->b)EXIT\treturn 0;\n",
    ),
    (
        "fs/xfs/xfs_ioctl32.c:126: a mistake that must survive",
        "\tif (put_user(k->blocks, &p->size) || put_user(k->xflags, &p->size)EXIT\treturn 0;\n",
    ),
    (
        "drivers/android/binder.c:4561: a pointer that is moved on by sizeof",
        "\tvoid __user *v = k->v;\n\n\tif (put_user(c, (u32 __user *)v)EXIT\tv += sizeof(u32);\n\tif (put_user(k->b, (u64 __user *)v)EXIT\tv += sizeof(u64);\n\treturn work(v);\n",
    ),
    (
        "drivers/android/binder.c:4156: the same with one type",
        "\tvoid __user *v = k->v;\n\tu64 a, b;\n\n\tif (get_user(a, (u64 __user *)v)EXIT\tv += sizeof(u64);\n\tif (get_user(b, (u64 __user *)v)EXIT\tv += sizeof(u64);\n\treturn work(v, a, b);\n",
    ),
    (
        "drivers/android/binder.c: a pointer that is moved on by something else",
        "\tvoid __user *v = k->v;\n\n\tif (put_user(c, (u32 __user *)v)EXIT\tv += sizeof(u64);\n\tif (put_user(k->b, (u64 __user *)v)EXIT\treturn work(v);\n",
    ),
    (
        "fs/ecryptfs/miscdev.c:285: bytes at a constant distance",
        "\tchar __user *buf = k->buf;\n\n\tif (put_user(k->type, buf)EXIT\tif (put_user(k->n, (__be32 __user *)(&buf[CTR_OFFSET]))EXIT\treturn 0;\n",
    ),
    (
        "include/asm-generic/futex.h:115: an access that is asked for",
        "\tint val;\n\n\tif (get_user(val, &p->a)EXIT\tif (val == c && unlikely(put_user(1, &p->a) != 0)EXIT\treturn val;\n",
    ),
    (
        "arch/x86/kernel/stacktrace.c:100: on a fault the function goes on",
        "\tint ret;\n\n\tret = 1;\n\tpagefault_disable();\n\tif (__get_user(k->next, &p->next) || __get_user(k->addr, &p->addr))\n\t\tret = 0;\n\tpagefault_enable();\n\treturn ret;\n",
    ),
    (
        "drivers/gpu/drm/tegra/drm.c:134: a member with the name of a variable",
        "\tint cmdbuf, err;\n\n\terr = get_user(cmdbuf, &p->cmdbuf.handle);\n\tif (err < 0)\n\t\treturn err;\n\terr = get_user(c, &p->cmdbuf.offset);\n\tif (err < 0)\n\t\treturn err;\n\treturn work(cmdbuf, c);\n",
    ),
    (
        "sound/core/seq/oss/seq_oss_timer.c:226: a check and an assignment in between",
        "\tint __user *v = k->v;\n\n\tif (get_user(c, v)EXIT\tif (c)\n\t\treturn -EINVAL;\n\tc = k->tempo * 2;\n\treturn put_user(c, v) ? -EFAULT : 0;\n",
    ),
    (
        "drivers/scsi/scsi_ioctl.c:519: an element of an open array, which the object's size leaves out",
        "\tint a;\n\n\tif (get_user(a, &p->len)EXIT\tif (get_user(c, &p->data[0])EXIT\treturn work(a, c);\n",
    ),
    (
        "arch/riscv/kernel/signal.c:179: a chain that goes on with what err held",
        "\tint a, err = work(k);\n\n\twhile (c--) {\n\t\terr |= __get_user(a, &p->a);\n\t\terr |= __get_user(c, &p->b);\n\t\tif (err)\n\t\t\treturn err;\n\t\terr = more(a);\n\t}\n\treturn err;\n",
    ),
    (
        "arch/arc/kernel/process.c:70: left early with the result that all was well",
        "\tint a, ret;\n\n\tret = get_user(a, &p->a);\n\tif (ret)\n\t\treturn ret;\n\tif (a != c)\n\t\tgoto out;\n\tret = put_user(1, &p->a);\n\tif (ret)\n\t\treturn ret;\n\twork(k);\nout:\n\treturn ret;\n",
    ),
    (
        "a structure that is copied between the accesses: a call of memcpy()",
        "\tstruct s tmp;\n\tint a;\n\n\tif (get_user(a, &p->a)EXIT\ttmp = *k;\n\tif (get_user(c, &p->b)EXIT\treturn work(&tmp, a, c);\n",
    ),
    (
        "kernel/ptrace.c:1227: the same access_ok() right above",
        "\tif (!access_ok(p, sizeof(*p))EXIT\n\tif (__get_user(k->a, &p->a) || __get_user(k->b, &p->b))\n\t\treturn -EFAULT;\n\treturn 0;\n",
    ),
    (
        "access_ok() of another size, or with another way out, right above",
        "\tif (!access_ok(p, sizeof(*p)))\n\t\treturn -EINVAL;\n\tif (__put_user(1, &p->a) || __put_user(2, &p->b)EXIT\treturn 0;\n",
    ),
    (
        "net/socket.c:1750: a result that is assigned before it is read",
        "\tint err;\n\n\terr = put_user(1, &p->a);\n\tif (err)\n\t\tgoto out;\n\terr = put_user(2, &p->b);\n\tif (err)\n\t\tgoto out;\n\n\terr = work(k);\n\tif (err)\n\t\tgoto out;\n\tmore(k);\nout:\n\treturn err;\n",
    ),
    (
        "fs/autofs/root.c:768: a result that nothing reads",
        "\tint rv;\n\n\trv = get_user(c, &p->a);\n\tif (rv)\n\t\tgoto error;\n\trv = put_user(2, &p->a);\n\tif (rv)\n\t\tgoto error;\n\n\tif (c > 4)\n\t\tk->a = c;\n\treturn 0;\nerror:\n\treturn rv;\n",
    ),
    (
        "a label that is the usual name in other letters",
        "\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\tgoto Efault;\n\treturn 0;\nEfault:\n\tk->error = -EFAULT;\n\treturn 0;\n",
    ),
    (
        "a scope with a cleanup, and no variable",
        "\tscoped_guard(mutex, &k->lock) {\n\t\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\t\treturn -EFAULT;\n\t}\n\treturn 0;\n",
    ),
    (
        "a lock around writes whose fault is kept in a variable",
        "\tint ret = 0;\n\n\tif (!c)\n\t\treturn -EINVAL;\n\tmutex_lock(&k->lock);\n\tif (put_user(1, &p->a) || put_user(2, &p->b))\n\t\tret = -EFAULT;\n\tmutex_unlock(&k->lock);\n\treturn ret;\n",
    ),
    (
        "a loop that goes on after a fault",
        "\tint bad = 0;\n\n\twhile (c--) {\n\t\tif (put_user(1, &p[c].a) || put_user(2, &p[c].b)) {\n\t\t\tbad++;\n\t\t\tcontinue;\n\t\t}\n\t\twork(k);\n\t}\n\treturn bad;\n",
    ),
    (
        "a variable with the name of a member",
        "\tint a, b;\n\n\ta = get_user(b, &p->a);\n\tif (a)\n\t\treturn a;\n\ta = get_user(c, &p->b);\n\tif (a)\n\t\treturn a;\n\treturn b + c;\n",
    ),
];

fn text_of(body: &str) -> String {
    let body = body.replace("EXIT", EXIT);
    format!(
        "#include <linux/uaccess.h>\n\nint f(struct s __user *p, struct s *k, int c)\n{{\n{body}}}\n"
    )
}

fn answer(body: &str) -> Result<Patched, String> {
    let text = text_of(body);
    let tree = |path: &TreePath| match &*path.lossy() {
        UACCESS => Ok(HEADER.as_bytes().to_vec()),
        "f.c" => Ok(text.clone().into_bytes()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let target: Target = "f.c:f".parse().unwrap();
    fix(&tree, &target, &Request::default()).map_err(|error| error.to_string())
}

#[test]
fn each_place_is_converted_or_refused() {
    let mut all = String::new();
    for (place, body) in PLACES {
        let said = match answer(body) {
            Ok(patched) => {
                assert_eq!(mistakes(&patched), Vec::<String>::new(), "{place}");
                let text = String::from_utf8(patched.rewritten).unwrap();
                text.split_once("\n{\n")
                    .unwrap()
                    .1
                    .trim_end_matches("}\n")
                    .to_owned()
            }
            Err(reason) => format!("\t{reason}\n"),
        };
        all += &format!("== {place}\n{said}\n");
    }
    insta::assert_snapshot!(all);
}

/// A call as the checker reads it: its name, its arguments, where it begins.
struct Call {
    name: String,
    arguments: Vec<String>,
    at: usize,
}

/// Every `word(…)` of a text, comments aside.
fn calls(text: &str) -> Vec<Call> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for (open, _) in text.match_indices('(') {
        let before = &text[..open];
        let start = before.rfind(|c| !word(c)).map_or(0, |at| at + 1);
        let name = &before[start..];
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        found.push(Call {
            name: name.to_owned(),
            arguments: arguments(&text[open + 1..]),
            at: start,
        });
    }
    found
}

/// The arguments up to the closing parenthesis, one blank for many.
fn arguments(text: &str) -> Vec<String> {
    let (mut depth, mut all, mut one) = (0, Vec::new(), String::new());
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => break,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                all.push(std::mem::take(&mut one));
                continue;
            }
            _ => {}
        }
        one.push(c);
    }
    all.push(one);
    all.iter().map(|a| a.split_whitespace().collect()).collect()
}

fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("/*") {
        out += before;
        rest = behind.split_once("*/").map_or("", |(_, rest)| rest);
    }
    out + rest
}

/// What changed: the texts between the common head and the common tail.
fn changed(patched: &Patched) -> (String, String) {
    let before =
        String::from_utf8_lossy(&patched.original).replace("#include <linux/uaccess.h>\n", "");
    let after =
        String::from_utf8_lossy(&patched.rewritten).replace("#include <linux/uaccess.h>\n", "");
    let head = before
        .lines()
        .zip(after.lines())
        .take_while(|(a, b)| a == b)
        .count();
    let tail = before
        .lines()
        .rev()
        .zip(after.lines().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let middle = |text: &str| {
        let lines: Vec<&str> = text.lines().collect();
        let end = lines.len().saturating_sub(tail).max(head);
        lines[head..end].join("\n") + "\n"
    };
    (
        without_comments(&middle(&before)),
        without_comments(&middle(&after)),
    )
}

/// Calls that the kernel's own windows hold, and words that only look like calls.
const HARMLESS: &[&str] = &[
    "if",
    "while",
    "for",
    "switch",
    "return",
    "sizeof",
    "typeof",
    "offsetof",
    "likely",
    "unlikely",
    "unsafe_get_user",
    "unsafe_put_user",
    "compat_ptr",
    "ptr_to_compat",
    "u64_to_user_ptr",
    "huge_encode_dev",
    "old_encode_dev",
    "new_encode_dev",
    "cpu_to_be32",
    "cpu_to_le32",
    "be32_to_cpu",
    "__user",
    "lower_32_bits",
    "upper_32_bits",
    "sig_handler",
    "GET_FLAGS",
];

/// Each known mistake that a patch makes, in words.
fn mistakes(patched: &Patched) -> Vec<String> {
    let (before, after) = changed(patched);
    let all = calls(&after);
    let mut reader = Reader {
        text: &after,
        open: None,
        used: 0,
        found: Vec::new(),
    };
    let (old, new) = (values(&calls(&before)), values(&all));
    if old != new {
        reader.found.push(format!("values {old:?} became {new:?}"));
    }
    all.iter().for_each(|call| reader.read(call));
    reader.found
}

/// What is stored or filled, in order.
fn values(calls: &[Call]) -> Vec<String> {
    let is_access = |name: &str| {
        matches!(name, "get_user" | "put_user" | "__get_user" | "__put_user")
            || name.starts_with("unsafe_")
    };
    let accesses = calls
        .iter()
        .filter(|c| is_access(&c.name) && c.arguments.len() > 1);
    accesses
        .map(|c| c.arguments[0].replace(['(', ')'], ""))
        .collect()
}

/// Reads the new text from top to bottom.
struct Reader<'t> {
    text: &'t str,
    /// The begin's name without `_access_begin`, and its object.
    open: Option<(String, String)>,
    /// Accesses since the begin.
    used: usize,
    found: Vec<String>,
}

impl Reader<'_> {
    fn read(&mut self, call: &Call) {
        let name = call.name.as_str();
        if let Some(way) = name.strip_suffix("_access_begin") {
            if self.open.is_some() {
                self.found.push(format!("{name} inside a window"));
            }
            self.open = Some((way.to_owned(), call.arguments[0].clone()));
            self.used = 0;
        } else if let Some(way) = name.strip_suffix("_access_end") {
            self.end(call, way);
        } else if name.starts_with("unsafe_") {
            self.access(call);
        } else if self.open.is_some() && self.used > 0 {
            self.other(call);
        }
    }

    /// The end is its begin's; one that only a fault comes to, or that a way out
    /// of its own has, leaves the window open for what follows.
    fn end(&mut self, call: &Call, way: &str) {
        let at_label = self.text[..call.at].trim_end().ends_with(':');
        match &self.open {
            Some((begin, _)) if begin != way => {
                self.found
                    .push(format!("{begin} is closed by {}", call.name));
            }
            None if !at_label => self.found.push(format!("{} without a begin", call.name)),
            _ => {}
        }
        let aside = if at_label {
            is_fault_only(self.text, call.at)
        } else {
            leaves(self.text, call.at)
        };
        if !aside {
            self.open = None;
        }
    }

    /// Three arguments, a label that is there, a check of the object before.
    fn access(&mut self, call: &Call) {
        self.used += 1;
        let said = format!("{}({})", call.name, call.arguments.join(", "));
        let label = call.arguments.last().unwrap();
        if call.arguments.len() != 3 || !self.text.contains(&format!("\n{label}:\n")) {
            self.found.push(said.clone());
        }
        match &self.open {
            None => self.found.push(format!("{said} outside a window")),
            Some((_, object)) if !reaches(&call.arguments[1], object) => {
                self.found.push(format!("{said} is not in {object}"));
            }
            Some(_) => {}
        }
    }

    /// No other call before the end.
    fn other(&mut self, call: &Call) {
        let name = call.name.as_str();
        let known = HARMLESS.contains(&name) || name.contains("_user_");
        let start = self.text[..call.at].rfind('\n').map_or(0, |at| at + 1);
        let line = self.text[start..].lines().next().unwrap_or_default();
        if !known && (line.contains("unsafe_") || !is_leaving(self.text, call.at)) {
            self.found
                .push(format!("{name}() inside a window: {}", line.trim()));
        }
    }
}

/// Whether the end at `at` is that of a way out which hangs on an `if`: it opens
/// a block, and a jump follows.
fn leaves(text: &str, at: usize) -> bool {
    let jumps = ["return", "goto", "break", "continue"];
    let behind = text[at..].lines().skip(1).map(str::trim);
    let mut block = behind.take_while(|line| *line != "}");
    let left = block.any(|line| jumps.iter().any(|jump| line.starts_with(jump)));
    left && inside_if(text, at)
}

/// Whether only a jump comes to the label before the place: what stands before
/// it jumps away.
fn is_fault_only(text: &str, at: usize) -> bool {
    let before: Vec<&str> = text[..at]
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let line = before
        .len()
        .checked_sub(3)
        .map_or("", |at| before[at].trim());
    let jumps = ["return", "goto", "continue", "break"];
    let braces = line.is_empty() || line == "}" || line.starts_with('#');
    braces || jumps.iter().any(|jump| line.starts_with(jump))
}

/// Whether the place hangs on an `if` that opened a block.
fn inside_if(text: &str, at: usize) -> bool {
    let line = text[..at].rfind('\n').unwrap_or(0);
    text[..line].trim_end().ends_with('{')
}

/// Whether what stands there is part of a way out that closed the window.
fn is_leaving(text: &str, at: usize) -> bool {
    let before = &text[..at];
    let block = before.rfind('{').unwrap_or(0);
    before[block..].contains("_access_end();")
}

/// Whether the address names the object that the begin checks.
fn reaches(address: &str, object: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let root = |text: &str| -> String {
        let plain = text.replace("__user", "");
        let inner = plain.rsplit("*)").next().unwrap_or_default().to_owned();
        inner
            .trim_start_matches(|c: char| !word(c))
            .chars()
            .take_while(|c| word(*c))
            .collect()
    };
    root(address) == root(object)
}

#[test]
fn the_checker_sees_each_mistake() {
    let good =
        answer("\tif (put_user(k->a, &p->a) || put_user(k->b, &p->b)EXIT\treturn 0;\n").unwrap();
    let text = String::from_utf8(good.rewritten.clone()).unwrap();
    let spoiled = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        let rewritten = text.replacen(from, to, 1).into_bytes();
        mistakes(&Patched {
            rewritten,
            ..good.clone()
        })
    };
    assert_eq!(mistakes(&good), Vec::<String>::new());
    let lost = "\tif (!user_write_access_begin(p, sizeof(*p)))\n\t\treturn -EFAULT;\n\n";
    for (from, to) in [
        (lost, ""),
        ("begin(p, sizeof(*p))", "begin(k, sizeof(*k))"),
        ("put_user(k->a,", "put_user(k->c,"),
        ("&p->b, efault)", "&p->b)"),
        ("efault:\n", "fault:\n"),
        (
            "\tuser_write_access_end();\n\n\treturn 0",
            "\tuser_access_end();\n\n\treturn 0",
        ),
        (
            "unsafe_put_user(k->a, &p->a, efault)",
            "unsafe_put_user(get(k), &p->a, efault)",
        ),
        (
            "\tunsafe_put_user(k->b",
            "\tmemset(k, 0, 1);\n\tunsafe_put_user(k->b",
        ),
    ] {
        assert!(!spoiled(from, to).is_empty(), "{from} as {to} is not seen");
    }
}

/// Where the places of the table are, beyond those that the list names.
const MORE: &[&str] = &[
    "arch/x86/events/core.c:perf_callchain_user",
    "drivers/android/binder.c:binder_put_node_cmd",
    "drivers/android/binder.c:binder_thread_read",
    "drivers/android/binder.c:binder_thread_write",
    "drivers/char/random.c:random_ioctl",
    "drivers/staging/media/av7110/av7110_hw.c:av7110_osd_cmd",
    "fs/ecryptfs/miscdev.c:ecryptfs_miscdev_read",
    "include/asm-generic/futex.h:futex_atomic_cmpxchg_inatomic_local",
    "include/linux/eventpoll.h:epoll_put_uevent",
];

#[test]
fn no_patch_of_the_kernel_makes_a_known_mistake() {
    let Some(tree) = tollgate_testing::kernel::tree() else {
        return;
    };
    let list = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/data/reference/candidates-6.12.117.tsv"
    );
    let list = fs::read_to_string(list).unwrap();
    let named = list.lines().skip(1).filter_map(|line| {
        let mut cells = line.split('\t');
        Some(format!("{}:{}", cells.next()?, cells.next()?))
    });
    let targets: Vec<String> = named
        .chain(MORE.iter().map(|place| (*place).to_owned()))
        .collect();
    let tried = &|targets: &[String]| -> Vec<Option<Vec<String>>> {
        let read = |path: &TreePath| fs::read(tree.join(path.as_path()));
        let of = |target: &String| {
            let patched = fix(&read, &target.parse().unwrap(), &Request::default()).ok()?;
            let named = |mistake| format!("{target}: {mistake}");
            Some(mistakes(&patched).into_iter().map(named).collect())
        };
        targets.iter().map(of).collect()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let found: Vec<Option<Vec<String>>> = std::thread::scope(|scope| {
        let parts = targets.chunks(targets.len().div_ceil(threads));
        let running: Vec<_> = parts.map(|part| scope.spawn(move || tried(part))).collect();
        running
            .into_iter()
            .flat_map(|part| part.join().unwrap())
            .collect()
    });
    let converted = found.iter().flatten().count();
    let wrong: Vec<String> = found.into_iter().flatten().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(converted > 100, "{converted} functions converted");
}

/// The seed's conversion: both functions, and the accesses have three arguments.
#[test]
fn sync_ptr_is_converted_as_its_seed_is() {
    let Some(tree) = tollgate_testing::kernel::tree() else {
        return;
    };
    let read = |path: &TreePath| fs::read(tree.join(path.as_path()));
    let of = |target: &str| fix(&read, &target.parse().unwrap(), &Request::default());
    for target in [
        "sound/core/pcm_native.c:snd_pcm_ioctl_sync_ptr_compat",
        "sound/core/pcm_compat.c:snd_pcm_ioctl_sync_ptr_x32",
    ] {
        let patched = of(target).unwrap();
        assert_eq!(
            (patched.windows_before, patched.windows_after),
            (12, 2),
            "{target}"
        );
        let text = String::from_utf8(patched.rewritten).unwrap();
        let name = target.split_once(':').unwrap().1;
        let start = text.find(&format!("static int {name}(")).unwrap();
        let body = &text[start..start + text[start..].find("\n}\n").unwrap()];
        let accesses = calls(body)
            .into_iter()
            .filter(|call| call.name.starts_with("unsafe_"));
        let counts: Vec<usize> = accesses.map(|call| call.arguments.len()).collect();
        assert_eq!(counts, [3; 12], "{body}");
        insta::assert_snapshot!(name, body);
    }
}
