//! Frames on a program's stack and arguments of system calls of which nothing, or only a part of
//! what they lead to, was checked before they are accessed.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];
const SAID: [&str; 1] = ["unchecked-access"];

const TYPES: &str = "struct mask { unsigned long bits[2]; };\n\
     struct frame { u32 code[2]; int retcode; struct mask mask; };\n\
     struct pt_regs { unsigned long sp; unsigned long r[16]; };\n";

/// What is said of these functions.
fn rules(functions: &str) -> Vec<String> {
    let found = mistakes::found(None, &format!("{TYPES}{functions}")).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// What makes a frame: it gives what `nowhere` says where there is no room.
fn frame(nowhere: &str) -> String {
    format!(
        "static void __user *get_frame(struct pt_regs *regs, size_t size)\n{{\n\
         \tunsigned long sp = regs->sp;\n\n\tif (on_sig_stack(sp) && !on_sig_stack(sp - size))\n\
         \t\treturn {nowhere};\n\treturn (void __user *)((sp - size) & ~15UL);\n}}\n"
    )
}

/// A signal's frame is set up, with what is done with it before the access.
fn setup(before: &str) -> Vec<String> {
    rules(&format!(
        "{}static int asks(void __user *fp)\n{{\n\tif ((unsigned long)fp & 7)\n\t\treturn 1;\n\treturn 0;\n}}\n\
         static int limits(void __user *fp, int size)\n{{\n\treturn (unsigned long)fp > LIMIT - size;\n}}\n\
         static int puts_code(struct frame __user *fp)\n{{\n\treturn __put_user(1, &fp->retcode);\n}}\n\
         static int setup(struct pt_regs *regs, struct mask *set)\n{{\n\tstruct frame __user *frame;\n\tint err = 0;\n\n\
         \tframe = get_frame(regs, sizeof(*frame));\n{before}\
         \terr |= __copy_to_user(&frame->mask, set, sizeof(*set));\n\treturn err ? -EFAULT : 0;\n}}\n",
        frame("(void __user __force *)(-1UL)")
    ))
}

#[test]
fn a_frame_is_checked_as_a_whole() {
    for wrong in [
        "",
        "\terr |= copy_code_to_user(&frame->code, regs);\n",
        "\terr |= flush(&frame->code[1], 4);\n",
        "\tif (err)\n\t\terr |= copy_code_to_user(&frame->code, regs);\n",
    ] {
        assert_eq!(setup(wrong), SAID, "{wrong}");
    }
    for right in [
        "\tif (!access_ok(frame, sizeof(*frame)))\n\t\treturn -EFAULT;\n",
        "\tif (clear_user(frame, sizeof(*frame)))\n\t\treturn -EFAULT;\n",
        "\tif (elsewhere(frame))\n\t\treturn -EFAULT;\n",
        "\tif (asks(frame))\n\t\treturn -EFAULT;\n",
        "\tif (limits(frame, sizeof(*frame)))\n\t\treturn -EFAULT;\n",
    ] {
        assert_eq!(setup(right), NONE, "{right}");
    }
}

#[test]
fn where_nothing_can_be_is_no_other_address() {
    let set = |nowhere: &str| {
        rules(&format!(
            "{}static int setup(struct pt_regs *regs, struct mask *set)\n{{\n\tstruct frame __user *frame;\n\n\
             \tframe = get_frame(regs, sizeof(*frame));\n\
             \treturn __copy_to_user(&frame->mask, set, sizeof(*set)) ? -EFAULT : 0;\n}}\n",
            frame(nowhere)
        ))
    };
    for own in ["NULL", "(void __user *)-1L", "(void __user *)(-1UL)"] {
        assert_eq!(set(own), SAID, "{own}");
    }
    // What the kernel keeps has been looked at when it was put there.
    assert_eq!(set("regs->kept"), NONE);
}

#[test]
fn a_frame_in_front_of_a_register_is_the_programs() {
    let walk = |check: &str| {
        rules(&format!(
            "static int walk(struct pt_regs *regs)\n{{\n\tstruct frame __user *frame;\n\tint code;\n\n\
             \tframe = (struct frame __user *)regs->sp - 1;\n{check}\
             \tif (__get_user(code, &frame->retcode))\n\t\treturn -EFAULT;\n\treturn code;\n}}\n"
        ))
    };
    assert_eq!(walk(""), SAID);
    assert_eq!(
        walk("\tif (!access_ok(frame, sizeof(*frame)))\n\t\treturn -EFAULT;\n"),
        NONE
    );
}

#[test]
fn calls_of_programs_come_as_they_are() {
    let by = |table: &str, member: &str, takes: &str, pointer: &str| {
        rules(&format!(
            "static int f({takes})\n{{\n\tint own = 1;\n\n\
             \tif (__put_user(own, (int __user *){pointer}))\n\t\treturn -EFAULT;\n\treturn 0;\n}}\n\
             static const struct {table} ops = {{ .{member} = f }};\n"
        ))
    };
    let number = "struct fb_info *info, unsigned int cmd, unsigned long arg";
    for member in ["fb_ioctl", "fb_compat_ioctl"] {
        assert_eq!(by("fb_ops", member, number, "arg"), SAID, "{member}");
    }
    let private = "struct net_device *dev, struct ifreq *req, void __user *data, int cmd";
    assert_eq!(
        by("net_device_ops", "ndo_siocdevprivate", private, "data"),
        SAID
    );
    let option = "struct socket *sock, int level, int name, char __user *value, int __user *len";
    assert_eq!(by("proto_ops", "getsockopt", option, "len"), SAID);
    let read = "struct file *file, char __user *data, size_t count, loff_t *at";
    // Its address was checked; how much room there is, nothing asks.
    assert_eq!(
        by("file_operations", "read", read, "data"),
        ["beyond-argument"]
    );
}

#[test]
fn a_long_way_is_followed() {
    let way = "static int last(void __user *p)\n{\n\treturn __put_user(1, (int __user *)p) ? -EFAULT : 0;\n}\n\
               static int third(void __user *p)\n{\n\treturn last(p);\n}\n\
               static int second(int cmd, unsigned long arg)\n{\n\tvoid __user *p = (void __user *)arg;\n\n\treturn third(p);\n}\n";
    let entry = |check: &str| {
        rules(&format!(
            "{way}SYSCALL_DEFINE2(own, int, cmd, unsigned long, arg)\n{{\n{check}\treturn second(cmd, arg);\n}}\n"
        ))
    };
    assert_eq!(entry(""), SAID);
    assert_eq!(
        entry("\tif (!access_ok((void __user *)arg, 4))\n\t\treturn -EFAULT;\n"),
        NONE
    );
}
