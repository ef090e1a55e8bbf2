//! The console of a guest that went wrong: what a kernel says of itself when it
//! breaks, and which job had begun and did not end.

/// Lines of the console that are shown where nothing else tells.
const LAST_WORDS: usize = 15;
/// Frames of a call trace that are shown.
const FRAMES: usize = 24;

/// How the lines begin with which a kernel says that it is broken: BUG(), the traps
/// of each architecture, and what the watchdogs find (kernel/panic.c, lib/bug.c,
/// arch/*/kernel/traps.c and the like). `BUG: ` has the page faults among them.
const BROKEN: &[&str] = &[
    "kernel BUG at ",
    "BUG: ",
    "watchdog: BUG: ",
    "Oops: ",
    "Oops - ",
    "Internal error: ",
    "Unable to handle kernel ",
    "general protection fault",
    "invalid opcode: ",
    "divide error: ",
    "Kernel attempted to ",
    "rcu: INFO: ",
];
/// How a panic begins.
const PANIC: &str = "Kernel panic - not syncing";
/// What stands between the first line and the call trace and says where it was.
const PLACE: &[&str] = &[
    "CPU: ", "RIP: ", "pc : ", "lr : ", "NIP ", "NIP: ", "LR [", "EIP: ",
];
/// How a call trace begins.
const TRACE: &[&str] = &["Call Trace:", "Call trace:"];

/// What a kernel said when it broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// The line that says what happened.
    pub(crate) title: String,
    /// That line, where it was, its call trace and the panic, if there was one.
    pub(crate) excerpt: String,
    /// Whether the kernel did not go on.
    pub(crate) panicked: bool,
}

/// The first trouble on a console, if there is any.
pub(crate) fn trouble(console: &[u8]) -> Option<Trouble> {
    let text = String::from_utf8_lossy(console);
    let lines: Vec<&str> = text.lines().map(message).collect();
    let is_broken = |line: &&str| BROKEN.iter().any(|start| line.starts_with(start));
    let panic = lines.iter().position(|line| line.starts_with(PANIC));
    let first = lines.iter().position(is_broken).or(panic)?;
    let own = lines.get(first..).unwrap_or_default();
    let mut shown = excerpt(own);
    let panic = panic.and_then(|at| lines.get(at).copied());
    if let Some(panic) = panic.filter(|panic| !shown.contains(panic)) {
        shown.push(panic);
    }
    Some(Trouble {
        title: printable(own.first().copied().unwrap_or_default()),
        excerpt: indented(&shown),
        panicked: panic.is_some(),
    })
}

/// The first line, the places, and the first call trace behind it.
fn excerpt<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let starts = |line: &str, all: &[&str]| all.iter().any(|start| line.starts_with(start));
    let mut shown: Vec<&str> = lines.iter().take(1).copied().collect();
    let trace = lines.iter().position(|line| starts(line, TRACE));
    // Another trouble behind it has a trace of its own.
    let trace = trace.filter(|at| *at < NEAR);
    let before = lines.iter().take(trace.unwrap_or(NEAR)).skip(1);
    shown.extend(before.filter(|line| starts(line, PLACE)));
    if let Some(at) = trace {
        shown.extend(lines.get(at));
        let frames = lines.iter().skip(at + 1).take_while(|line| is_frame(line));
        shown.extend(frames.take(FRAMES));
    }
    shown
}

/// Lines between what happened and its call trace: registers, modules, code.
const NEAR: usize = 80;

/// A line of a call trace: it is set in, or begins with an address.
fn is_frame(line: &str) -> bool {
    let set_in = line.starts_with([' ', '\t']) && !line.trim().is_empty();
    let ends = line.trim() == "</TASK>";
    (set_in || line.starts_with("[<") || line.starts_with("[c")) && !ends
}

/// A line without its time and its caller (`[    1.234567][    T1] `).
fn message(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    let Some(rest) = line.strip_prefix('[') else {
        return line;
    };
    let Some((time, rest)) = rest.split_once(']') else {
        return line;
    };
    let is_time = |c: char| c.is_ascii_digit() || matches!(c, '.' | ' ');
    if time.is_empty() || !time.contains('.') || !time.chars().all(is_time) {
        return line;
    }
    let caller = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let rest = caller.map_or(rest, |(_, rest)| rest);
    rest.strip_prefix(' ').unwrap_or(rest)
}

/// The job of a plan that had begun and did not end: `bench poll fds=64`. None
/// where the guest did not come so far, or all had ended.
pub(crate) fn unfinished(plan: &str, console: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(console);
    let said: Vec<&str> = text
        .lines()
        .filter_map(|line| Some(line.split_once("@tg ")?.1.trim_end()))
        .collect();
    said.first()?;
    let jobs = plan
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut open = jobs.filter(|job| !has_ended(job, &said));
    open.next().map(job_name)
}

/// A line of the plan without what every benchmark has.
fn job_name(line: &str) -> String {
    line.split(" ops=").next().unwrap_or(line).to_owned()
}

/// Whether a job's last line is there (docs/guest-protocol.md).
fn has_ended(line: &str, said: &[&str]) -> bool {
    let name = job_name(line);
    let gone = |word: &str| {
        let start = format!("{word} {name}");
        said.iter().any(|line| {
            let rest = line.strip_prefix(&start);
            rest.is_some_and(|rest| rest.starts_with([':', ' ']))
        })
    };
    if gone("error") || gone("skip") {
        return true;
    }
    match name.split_once(' ') {
        Some(("sweep", rest)) => {
            let sweep = rest.split(' ').next().unwrap_or(rest);
            let start = format!("points {sweep} ");
            said.iter().any(|line| line.starts_with(&start))
        }
        Some(("program", program)) => {
            let mark = format!(" {program}/");
            said.iter()
                .any(|line| line.starts_with("phase ") && line.contains(&mark))
        }
        Some((_, bench)) => {
            let last = line.rsplit("reps=").next().unwrap_or_default();
            let (mark, end) = (format!(" {bench} ops="), format!(" rep={last}"));
            said.iter().any(|line| {
                let ends = line.ends_with(&end) || line.contains(&format!("{end} "));
                line.starts_with("phase ") && line.contains(&mark) && ends
            })
        }
        None => true,
    }
}

/// The end of a console, with nothing in it that a terminal would obey.
pub(crate) fn last_words(console: &[u8]) -> String {
    let text = String::from_utf8_lossy(console);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    if lines.is_empty() {
        return "  (nothing: the kernel did not reach its console)".to_owned();
    }
    let first = lines.len().saturating_sub(LAST_WORDS);
    indented(lines.get(first..).unwrap_or_default())
}

fn indented(lines: &[&str]) -> String {
    let shown = lines.iter().map(|line| format!("  {}", printable(line)));
    shown.collect::<Vec<_>>().join("\n")
}

fn printable(line: &str) -> String {
    line.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_are_few_and_harmless() {
        let console: String = (0..40).map(|n| format!("line {n}\x1b[2J\r\n\n")).collect();
        let last = last_words(console.as_bytes());
        assert_eq!(last.lines().count(), LAST_WORDS);
        assert!(
            last.starts_with("  line 25[2J\n") && last.ends_with("  line 39[2J"),
            "{last}"
        );
    }

    #[test]
    fn a_silent_console_says_so() {
        assert!(last_words(b"\r\n").contains("did not reach its console"));
    }

    /// As 6.12 prints it on x86-64, and a panic behind it.
    const X86: &str = "\
[    0.301442] Run /init as init process\r
[    0.310001] ------------[ cut here ]------------\r
[    0.310105] kernel BUG at fs/eventpoll.c:2203!\r
[    0.310255] Oops: invalid opcode: 0000 [#1] SMP NOPTI\r
[    0.310390] CPU: 0 UID: 0 PID: 1 Comm: init Not tainted 6.12.117 #1\r
[    0.310501] Hardware name: QEMU Standard PC (i440FX + PIIX, 1996)\r
[    0.310612] RIP: 0010:do_epoll_create+0x1a/0x120\r
[    0.310733] Code: 0f 1f 44 00 00 41 54 55 53 48 83 ec 10\r
[    0.310844] RSP: 0018:ffffc90000013f08 EFLAGS: 00010246\r
[    0.310955] RAX: 0000000000000000 RBX: 0000000000000000\r
[    0.311566] Call Trace:\r
[    0.311677]  <TASK>\r
[    0.311788]  __x64_sys_epoll_create1+0x12/0x20\r
[    0.311899]  do_syscall_64+0x4b/0x110\r
[    0.312001]  entry_SYSCALL_64_after_hwframe+0x76/0x7e\r
[    0.312112]  </TASK>\r
[    0.312223] ---[ end trace 0000000000000000 ]---\r
[    0.312334] RIP: 0010:do_epoll_create+0x1a/0x120\r
[    0.312445] Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b\r
[    0.312556] Rebooting in 1 seconds..\r
";

    #[test]
    fn a_bug_has_its_line_and_its_trace() {
        let trouble = trouble(X86.as_bytes()).unwrap();
        assert_eq!(trouble.title, "kernel BUG at fs/eventpoll.c:2203!");
        assert!(trouble.panicked);
        insta::assert_snapshot!(trouble.excerpt);
    }

    #[test]
    fn an_oops_of_arm64_and_of_powerpc_has_them_too() {
        let arm = "Unable to handle kernel NULL pointer dereference at virtual address 0\n\
                   Mem abort info:\n  ESR = 0x96000004\nCPU: 0 PID: 1 Comm: init\n\
                   pc : f+0x10/0x20\nlr : g+0x4/0x8\nsp : ffff800080003c00\nCall trace:\n \
                   f+0x10/0x20\n g+0x4/0x8\nCode: d503201f\n";
        let arm = trouble(arm.as_bytes()).unwrap();
        let power = "kernel BUG at fs/x.c:3!\nOops: Exception in kernel mode, sig: 5 [#1]\n\
                     NIP:  c000000000012345 LR: c000000000054321\nNIP [c000000000012345] f+0x8/0x20\n\
                     LR [c000000000054321] g+0x4/0x8\nCall Trace:\n\
                     [c000000004003c30] [c000000000012345] f+0x8/0x20 (unreliable)\n\
                     [c000000004003c90] [c000000000054321] g+0x4/0x8\nCode: 60000000\n";
        let power = trouble(power.as_bytes()).unwrap();
        assert!(!arm.panicked && !power.panicked);
        insta::assert_snapshot!(format!("{}\n\n{}", arm.excerpt, power.excerpt));
    }

    #[test]
    fn a_panic_alone_and_a_sound_console() {
        let panic = trouble(b"x\r\nKernel panic - not syncing: no init\r\n---[ end\r\n").unwrap();
        assert_eq!(panic.title, "Kernel panic - not syncing: no init");
        assert_eq!(panic.excerpt, "  Kernel panic - not syncing: no init");
        let sound = "[    0.1] [Firmware Bug]: TSC\n@tg error bench poll: BUG: no\nDEBUG: x\n\
                     WARNING: CPU: 0 PID: 1 at x.c:1 f+0x1/0x2\n[not a time] BUG: x\n";
        assert_eq!(trouble(sound.as_bytes()), None);
    }

    #[test]
    fn the_job_that_did_not_end_is_named() {
        let plan = "# two\nbench poll fds=64 ops=8 reps=1\nsweep poll\nbench getppid ops=1 reps=0\nprogram mine\n";
        let mut console = String::from("Linux\r\n");
        let open = |console: &str| unfinished(plan, console.as_bytes());
        assert_eq!(open(&console), None);
        let steps = [
            ("@tg guest 1\r\n", Some("bench poll fds=64")),
            (
                "@tg phase 0 poll fds=64 ops=8 rep=0\r\n",
                Some("bench poll fds=64"),
            ),
            (
                "@tg phase 1 poll fds=64 ops=8 rep=1\r\n",
                Some("sweep poll"),
            ),
            (
                "@tg point poll end/1 ret=0 errno=0 bytes=00\r\n",
                Some("sweep poll"),
            ),
            ("@tg points poll 1\r\n", Some("bench getppid")),
            ("noise @tg skip bench getppid: no\r\n", Some("program mine")),
            ("@tg phase 2 mine/x ops=1 rep=0 ns=3\r\n", None),
        ];
        for (line, wanted) in steps {
            console.push_str(line);
            assert_eq!(open(&console).as_deref(), wanted, "{line}");
        }
    }
}
