//! Strings that fill their room, and sizes, numbers and answers that stand in each other's place.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::rules;

const NONE: [&str; 0] = [];

#[test]
fn a_string_that_leaves_room_for_a_0_has_none_there() {
    let of = |allocates: &str, rest: &str| {
        rules(&format!(
            "#define MOST 255\nstatic long name_of(struct disk *d, const char __user *u, size_t n)\n{{\n\tchar *name = NULL;\n\tlong len, ret;\n\n\
             \tname = {allocates};\n\tif (!name)\n\t\treturn -ENOMEM;\n{rest}\n\tret = look(d, name, len);\nout:\n\tkfree(name);\n\treturn ret;\n}}\n"
        ))
    };
    let taken = "\tret = strncpy_from_user(name, u, MOST);\n\tif (ret < 0)\n\t\tgoto out;\n\tlen = strlen(name);";
    let counted = "\tret = strncpy_from_user(name, u, n);\n\tif (unlikely(ret < 0))\n\t\tgoto out;\n\tpr_debug(\"%s\\n\", name);\n\tlen = 0;";
    for (allocates, wrong) in [
        ("kmalloc(MOST + 1, GFP_KERNEL)", taken),
        ("kmalloc(MOST, GFP_KERNEL)", taken),
        ("kzalloc(MOST, GFP_KERNEL)", taken),
        ("kmalloc(n + 1, GFP_KERNEL)", counted),
        ("kmalloc(1 + n, GFP_KERNEL)", counted),
        ("kmalloc(n, GFP_KERNEL)", counted),
    ] {
        assert_eq!(
            of(allocates, wrong),
            ["unterminated-string"],
            "{allocates}\n{wrong}"
        );
    }
    // What the variable takes later is another number.
    let later = format!("{taken}\n\tret = lock(d);\n\tif (ret >= 4)\n\t\tret = !ret;");
    assert_eq!(
        of("kmalloc(MOST + 1, GFP_KERNEL)", &later),
        ["unterminated-string"]
    );
    let asked = "\tret = strncpy_from_user(name, u, MOST);\n\tif (ret < 0)\n\t\tgoto out;\n\tif (ret == MOST) {\n\t\tret = -ENAMETOOLONG;\n\t\tgoto out;\n\t}\n\tlen = strlen(name);";
    let ended = "\tret = strncpy_from_user(name, u, MOST);\n\tif (ret < 0)\n\t\tgoto out;\n\tname[MOST] = 0;\n\tlen = strlen(name);";
    let length =
        "\tret = strncpy_from_user(name, u, MOST);\n\tif (ret < 0)\n\t\tgoto out;\n\tlen = ret;";
    let cleared = "\tmemset(name, 0, MOST + 1);\n\tret = strncpy_from_user(name, u, MOST);\n\tif (ret < 0)\n\t\tgoto out;\n\tlen = strlen(name);";
    for (allocates, right) in [
        ("kzalloc(MOST + 1, GFP_KERNEL)", taken),
        ("kzalloc(n + 1, GFP_KERNEL)", counted),
        ("kmalloc(MOST + 1, GFP_KERNEL)", asked),
        ("kmalloc(MOST + 1, GFP_KERNEL)", ended),
        ("kmalloc(MOST + 1, GFP_KERNEL)", length),
        ("kmalloc(MOST + 1, GFP_KERNEL)", cleared),
    ] {
        assert_eq!(of(allocates, right), NONE, "{allocates}\n{right}");
    }
}

#[test]
fn a_member_that_the_user_has_filled_is_printed() {
    let of = |rest: &str| {
        rules(&format!(
            "#define ID 32\nstruct part {{ char name[8]; int kind; }};\nstruct link {{ spinlock_t lock; unsigned char id[ID]; int state; struct part part; struct device dev; }};\n\
             static long set_id(struct session *s, unsigned char __user *u)\n{{\n\tstruct link *l = s->link;\n\tunsigned long flags;\n\tstruct room *room;\n\tchar text[ID + 1];\n\tint rc;\n\n\
             {rest}\n\treturn send(room, l->state);\n}}\n"
        ))
    };
    let copy = "\tif (copy_from_user(l->id, u, ID))\n\t\treturn -EFAULT;\n";
    for wrong in [
        "\tpr_info(\"link: \\\"%s\\\"\\n\", l->id);",
        "\tspin_lock_irqsave(&l->lock, flags);\n\troom = find_room(l->state);\n\tspin_unlock_irqrestore(&l->lock, flags);\n\tpr_info(\"link: \\\"%s\\\"\\n\", l->id);",
        "\tget_device(&l->dev);\n\tdev_info(&l->dev, \"%s\\n\", l->id);",
        "\tset_part(&l->part);\n\tsnprintf(text, sizeof(text), \"%s\", l->id);",
    ] {
        let wrong = format!("{copy}{wrong}");
        assert_eq!(of(&wrong), ["unterminated-string"], "{wrong}");
    }
    // What was done before the copy ends nothing behind it.
    let before = format!("\tprepare(l);\n{copy}\tprintk(\"%s\\n\", l->id);");
    assert_eq!(of(&before), ["unterminated-string"]);
    for right in [
        "\tmemset(text, 0, ID + 1);\n\tstrncpy(text, l->id, ID);\n\tpr_info(\"link: \\\"%s\\\"\\n\", text);",
        "\tpr_info(\"link: \\\"%.32s\\\"\\n\", l->id);",
        "\tpr_info(\"link: \\\"%*pE\\\"\\n\", ID, l->id);",
        "\tl->id[ID - 1] = 0;\n\tpr_info(\"link: \\\"%s\\\"\\n\", l->id);",
        "\tspin_lock_irqsave(&l->lock, flags);\n\tl->id[ID - 1] = 0;\n\tspin_unlock_irqrestore(&l->lock, flags);\n\tpr_info(\"link: \\\"%s\\\"\\n\", l->id);",
        "\tend_id(l);\n\tpr_info(\"link: \\\"%s\\\"\\n\", l->id);",
        "\tend_id(&l->id[ID - 1]);\n\tpr_info(\"link: \\\"%s\\\"\\n\", l->id);",
        "\tpr_info(\"link: \\\"%s\\\"\\n\", l->part.name);",
    ] {
        let right = format!("{copy}{right}");
        assert_eq!(of(&right), NONE, "{right}");
    }
    // Another member's holder holds the array, too.
    let within = "\tif (copy_from_user(l->part.name, u, 8))\n\t\treturn -EFAULT;\n\tend_part(&l->part);\n\tpr_info(\"%s\\n\", l->part.name);";
    assert_eq!(of(within), NONE);
    // The last byte is not the user's.
    let short = "\tif (copy_from_user(l->id, u, ID))\n\t\treturn -EFAULT;\n\tprepare(l);\n\tpr_info(\"%s\\n\", l->id);";
    assert_eq!(of(short), NONE);
}

#[test]
fn a_string_is_read_through_the_address_of_its_pointer() {
    let of = |reads: &str, ends: &str, call: &str| {
        rules(&format!(
            "static int words_of(char **text, const char *by, u32 *out)\n{{\n\tint n = 0;\n\tchar *s;\n\n{reads}\n\treturn n;\n}}\n\
             static int take(const char __user *from, size_t count, u32 *out)\n{{\n\tchar *buf;\n\tint ret;\n\n\tbuf = kmalloc(count + 1, GFP_KERNEL);\n\tif (!buf)\n\t\treturn -ENOMEM;\n\
             \tif (copy_from_user(buf, from, count)) {{\n\t\tret = -EFAULT;\n\t\tgoto out;\n\t}}\n{ends}\tret = {call};\nout:\n\tkfree(buf);\n\treturn ret;\n}}\n"
        ))
    };
    let split = "\twhile ((s = strsep(text, by)) != NULL) {\n\t\tif (kstrtou32(s, 0, out + n))\n\t\t\tbreak;\n\t\tn++;\n\t}";
    let measured = "\tn = strlen(*text);";
    let kept = "\ts = *text;\n\tn = strlen(s);";
    let call = "words_of((char **)&buf, \",\", out)";
    for (reads, call) in [
        (split, call),
        (split, "words_of(&buf, \",\", out)"),
        (measured, call),
        (kept, call),
    ] {
        assert_eq!(
            of(reads, "", call),
            ["unterminated-string"],
            "{reads}\n{call}"
        );
        assert_eq!(of(reads, "\tbuf[count] = '\\0';\n", call), NONE, "{reads}");
    }
    for ended in [
        "\t(*text)[7] = 0;\n\tn = strlen(*text);",
        "\tend_of(text);\n\tn = strlen(*text);",
        "\tn = strnlen(*text, 8);",
        "\t*text = skip(by);\n\tn = strlen(*text);",
    ] {
        assert_eq!(of(ended, "", call), NONE, "{ended}");
    }
}

/// What a driver's ioctl() is given as a copy, and one that copies by itself.
fn command(statements: &str) -> Vec<String> {
    rules(&format!(
        "struct ask {{ int what; void __user *to; u64 at; struct out {{ u32 n; int __user *list; }} out; char *own; }};\n\
         static int ask_param(struct drm_device *dev, void *data, struct drm_file *file_priv)\n{{\n\tstruct ask *ask = data;\n\tint value = dev->irq;\n\tint n = 0;\n\n{statements}\n\treturn 0;\n}}\n"
    ))
}

fn own_command(statements: &str) -> Vec<String> {
    rules(&format!(
        "struct ask {{ int what; void __user *to; u64 at; struct out {{ u32 n; int __user *list; }} out; char *own; }};\n\
         static int ask_param(struct mine *m, struct ask __user *arg)\n{{\n\tstruct ask ask;\n\tint value = m->irq;\n\n\
         \tif (copy_from_user(&ask, arg, sizeof(ask)))\n\t\treturn -EFAULT;\n{statements}\n\treturn 0;\n}}\n"
    ))
}

const UNCHECKED: [&str; 1] = ["unchecked-access"];

#[test]
fn a_pointer_in_a_copy_is_checked_by_nobody() {
    for wrong in [
        "\tif (__copy_to_user(ask->to, &value, sizeof(value)))\n\t\treturn -EFAULT;",
        "\tif (__put_user(value, (int __user *)ask->to))\n\t\treturn -EFAULT;",
        "\tif (__put_user(value, ask->out.list + 1))\n\t\treturn -EFAULT;",
        "\tif (__put_user(value, &ask->out.list[1]))\n\t\treturn -EFAULT;",
        "\tif (__put_user(value, (int __user *)(unsigned long)ask->at))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(command(wrong), UNCHECKED, "{wrong}");
        let own = wrong.replace("ask->", "ask.");
        assert_eq!(own_command(&own), UNCHECKED, "{own}");
    }
    for right in [
        "\tif (copy_to_user(ask->to, &value, sizeof(value)))\n\t\treturn -EFAULT;",
        "\tif (!access_ok(ask->to, sizeof(value)))\n\t\treturn -EFAULT;\n\tif (__copy_to_user(ask->to, &value, sizeof(value)))\n\t\treturn -EFAULT;",
        "\tif (looks_at(dev, ask))\n\t\treturn -EFAULT;\n\tif (__copy_to_user(ask->to, &value, sizeof(value)))\n\t\treturn -EFAULT;",
        "\task->to = find_out(dev);\n\tif (__copy_to_user(ask->to, &value, sizeof(value)))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(command(right), NONE, "{right}");
        let own = right
            .replace("(dev, ask)", "(m, &ask)")
            .replace("(dev)", "(m)");
        let own = own.replace("ask->", "ask.");
        assert_eq!(own_command(&own), NONE, "{own}");
    }
}

#[test]
fn what_ifr_data_leads_to_is_checked_by_nobody() {
    let get = |holder: &str, copy: &str| {
        rules(&format!(
            "struct ifreq {{ char name[16]; void __user *ifr_data; }};\nstruct kept {{ void __user *ifr_data; }};\n\
             int get_config(struct net_device *ndev, struct {holder} *ifr)\n{{\n\tstruct config config;\n\n\tconfig.flags = 0;\n\
             \treturn {copy}(ifr->ifr_data, &config, sizeof(config)) ? -EFAULT : 0;\n}}\n"
        ))
    };
    assert_eq!(get("ifreq", "__copy_to_user"), UNCHECKED);
    assert_eq!(get("ifreq", "copy_to_user"), NONE);
    // Whoever keeps a pointer may have checked it.
    assert_eq!(get("kept", "__copy_to_user"), NONE);
}

#[test]
fn what_ptrace_was_given_is_as_the_program_gave_it() {
    let of = |store: &str, before: &str, name: &str| {
        rules(&format!(
            "static inline int read_reg(struct task_struct *target, unsigned long addr, unsigned long __user *data)\n{{\n\
             \tunsigned long tmp = 0;\n\n\ttmp = regs_of(target)->regs[addr & 31];\n\treturn {store}(tmp, data);\n}}\n\
             long {name}(struct task_struct *child, long request, unsigned long addr, unsigned long data)\n{{\n\
             \tunsigned long __user *datap = (void __user *)data;\n\tint ret;\n\n{before}\tswitch (request) {{\n\tcase 3:\n\
             \t\tret = read_reg(child, addr, datap);\n\t\tbreak;\n\tdefault:\n\t\tret = ptrace_request(child, request, addr, data);\n\t\tbreak;\n\t}}\n\treturn ret;\n}}\n"
        ))
    };
    assert_eq!(of("__put_user", "", "arch_ptrace"), UNCHECKED);
    assert_eq!(of("put_user", "", "arch_ptrace"), NONE);
    let checked = "\tif (!access_ok(datap, 8))\n\t\treturn -EIO;\n";
    assert_eq!(of("__put_user", checked, "arch_ptrace"), NONE);
    assert_eq!(of("__put_user", "", "own_trace"), NONE);
}

#[test]
fn the_program_says_how_large_its_own_struct_is() {
    let of = |call: &str| {
        rules(&format!(
            "struct op {{ unsigned int size; unsigned int least; int (*run)(struct ucmd *cmd); }};\n\
             struct ucmd {{ void __user *ubuffer; u32 user_size; void *cmd; }};\n\
             static long run(struct file *file, unsigned int cmd, unsigned long arg)\n{{\n\tconst struct op *op = &ops[cmd & 7];\n\tstruct ucmd ucmd = {{}};\n\tunion all buf;\n\tint ret;\n\n\
             \tucmd.ubuffer = (void __user *)arg;\n\tret = get_user(ucmd.user_size, (u32 __user *)ucmd.ubuffer);\n\tif (ret)\n\t\treturn ret;\n\
             \tif (ucmd.user_size < op->least)\n\t\treturn -EINVAL;\n\tucmd.cmd = &buf;\n\tret = {call};\n\tif (ret)\n\t\treturn ret;\n\treturn op->run(&ucmd);\n}}\n\
             static const struct file_operations fops = {{ .unlocked_ioctl = run }};\n"
        ))
    };
    for wrong in [
        "copy_struct_from_user(ucmd.cmd, ucmd.user_size, ucmd.ubuffer, op->size)",
        "copy_struct_from_user(&buf, ucmd.user_size, ucmd.ubuffer, sizeof(buf))",
        "copy_struct_to_user(ucmd.ubuffer, op->size, ucmd.cmd, ucmd.user_size, NULL)",
    ] {
        assert_eq!(of(wrong), ["swapped-arguments"], "{wrong}");
    }
    for right in [
        "copy_struct_from_user(ucmd.cmd, op->size, ucmd.ubuffer, ucmd.user_size)",
        "copy_struct_from_user(ucmd.cmd, ucmd.user_size, ucmd.ubuffer, ucmd.user_size)",
        "copy_struct_from_user(ucmd.cmd, op->size, ucmd.ubuffer, op->size)",
        "copy_struct_to_user(ucmd.ubuffer, ucmd.user_size, ucmd.cmd, op->size, NULL)",
    ] {
        assert!(
            !of(right).contains(&"swapped-arguments".to_owned()),
            "{right}"
        );
    }
}

#[test]
fn what_is_worked_out_last_goes_to_the_user() {
    let of = |body: &str| {
        rules(&format!(
            "static int read_low(struct clock *c, unsigned int cmd, unsigned long arg)\n{{\n\tunsigned int __user *to = (unsigned int __user *)arg;\n\tunsigned int i, status;\n\tint ret;\n\n\
             \tswitch (cmd) {{\n\tcase LOW_READ:\n\t\tret = ask(c->map, 14, &status);\n\t\tif (ret < 0)\n\t\t\treturn ret;\n\n{body}\n\
             \tcase LOW_CLEAR:\n\t\tret = ask(c->map, 15, &status);\n\t\tif (ret < 0 || status & 4)\n\t\t\treturn -EIO;\n\t\treturn 0;\n\tdefault:\n\t\treturn -ENOIOCTLCMD;\n\t}}\n}}\n"
        ))
    };
    for wrong in [
        "\t\tstatus = status & 1 ? INVALID : 0;\n\t\treturn put_user(ret, to);",
        "\t\tstatus = (status >> 4) & 0xf;\n\t\t/* tell it */\n\t\tif (put_user(ret, to))\n\t\t\treturn -EFAULT;\n\t\treturn 0;",
        "\t\tstatus = le32_to_cpu(status);\n\t\treturn copy_to_user(to, &ret, sizeof(ret)) ? -EFAULT : 0;",
    ] {
        let said = of(wrong);
        assert!(
            said.contains(&"unread-answer".to_owned()),
            "{wrong}: {said:?}"
        );
    }
    for right in [
        "\t\tstatus = status & 1 ? INVALID : 0;\n\t\treturn put_user(status, to);",
        "\t\tstatus = status & 1 ? INVALID : 0;\n\t\tif (put_user(ret, to))\n\t\t\treturn -EFAULT;\n\t\treturn status;",
        "\t\tstatus = status & 1 ? INVALID : 0;\n\t\tret = put_user(ret, to + status);\n\t\treturn ret;",
        "\t\tstatus = status & 1 ? INVALID : 0;\n\t\tret = put_user(ret, to);\n\t\ttell(&status);\n\t\treturn ret;",
        "\t\tfor (i = 0; i < 4; i++) {\n\t\t\tif (status & 1)\n\t\t\t\tret++;\n\t\t\tstatus = status >> 1;\n\t\t\tif (put_user(i, to))\n\t\t\t\treturn -EFAULT;\n\t\t}\n\t\treturn 0;",
    ] {
        assert!(!of(right).contains(&"unread-answer".to_owned()), "{right}");
    }
}

#[test]
fn memory_has_as_much_as_the_first_fetch_said() {
    let of = |again: &str| {
        rules(&format!(
            "struct head {{ u32 id; u32 most; }};\nstruct target {{ struct head head; u32 count; char info[1]; }};\n\
             static int get_targets(struct adapter *a, struct target __user *u)\n{{\n\tstruct target k;\n\tu32 other;\n\tchar *mem;\n\tint bytes, ret = 0;\n\n\
             \tif (copy_from_user(&k, u, sizeof(k)))\n\t\treturn -EFAULT;\n\tbytes = k.head.most - sizeof(struct head);\n\
             \tmem = kzalloc(bytes, GFP_KERNEL);\n\tif (!mem)\n\t\treturn -ENOMEM;\n\tk.count = list(a, mem, bytes);\n{again}\n\tkfree(mem);\n\treturn ret;\n}}\n"
        ))
    };
    let fetch = "\tif (copy_from_user(&k.head, &u->head, sizeof(k.head))) {\n\t\tkfree(mem);\n\t\treturn -EFAULT;\n\t}\n";
    let one = "\tif (get_user(k.head.most, &u->head.most)) {\n\t\tkfree(mem);\n\t\treturn -EFAULT;\n\t}\n";
    let long =
        "\tif (copy_to_user(u->info, mem, k.head.most - sizeof(struct head)))\n\t\tret = -EFAULT;";
    let by_variable =
        "\tbytes = k.head.most - 8;\n\tif (copy_to_user(u->info, mem, bytes))\n\t\tret = -EFAULT;";
    for wrong in [
        format!("{fetch}{long}"),
        format!("{fetch}{by_variable}"),
        format!("{one}{long}"),
    ] {
        assert!(
            of(&wrong).contains(&"double-fetch".to_owned()),
            "{wrong}: {:?}",
            of(&wrong)
        );
    }
    let first = "\tif (copy_to_user(u->info, mem, bytes))\n\t\tret = -EFAULT;";
    let refused = "\tif (k.head.most - 8 > bytes) {\n\t\tkfree(mem);\n\t\treturn -EINVAL;\n\t}\n";
    let held = "\tbytes = min_t(u32, bytes, k.head.most - 8);\n\tif (copy_to_user(u->info, mem, bytes))\n\t\tret = -EFAULT;";
    let id =
        "\tif (copy_to_user(u->info, mem, bytes))\n\t\tret = -EFAULT;\n\tlog_id(a, k.head.id);";
    for right in [
        format!("{fetch}{first}"),
        format!("{fetch}{refused}{long}"),
        format!("{fetch}{held}"),
        format!("{fetch}{id}"),
        long.to_owned(),
    ] {
        assert!(!of(&right).contains(&"double-fetch".to_owned()), "{right}");
    }
}

#[test]
fn memory_that_a_count_made_has_its_own_count() {
    let of = |behind: &str| {
        rules(&format!(
            "struct edid {{ u8 head[126]; u8 extensions; u8 sum; }};\n\
             static int put_edid(struct screen *s, const void __user *from)\n{{\n\tvoid *buf;\n\tstruct edid head, *edid;\n\tconst struct drm_edid *made;\n\tsize_t size;\n\n\
             \tif (copy_from_user(&head, from, sizeof(head)))\n\t\treturn -EFAULT;\n\tsize = (head.extensions + 1) * 128;\n\tbuf = kmalloc(size, GFP_KERNEL);\n\tif (!buf)\n\t\treturn -ENOMEM;\n\
             \tif (copy_from_user(buf, from, size)) {{\n\t\tkfree(buf);\n\t\treturn -EFAULT;\n\t}}\n{behind}\n\tkfree(buf);\n\treturn keep(s, made);\n}}\n"
        ))
    };
    for wrong in [
        "\tsize = (((struct edid *)buf)->extensions + 1) * 128;\n\tmade = alloc_edid(buf, size);",
        "\tmade = alloc_edid(buf, (((struct edid *)buf)->extensions + 1) * 128);",
        "\tedid = buf;\n\tsize = (edid->extensions + 1) * 128;\n\tmade = alloc_edid(buf, size);",
    ] {
        assert!(
            of(wrong).contains(&"double-fetch".to_owned()),
            "{wrong}: {:?}",
            of(wrong)
        );
    }
    for right in [
        "\tmade = alloc_edid(buf, size);",
        "\t((struct edid *)buf)->extensions = head.extensions;\n\tsize = (((struct edid *)buf)->extensions + 1) * 128;\n\tmade = alloc_edid(buf, size);",
        "\tif (((struct edid *)buf)->extensions != head.extensions) {\n\t\tkfree(buf);\n\t\treturn -EINVAL;\n\t}\n\tsize = (((struct edid *)buf)->extensions + 1) * 128;\n\tmade = alloc_edid(buf, size);",
        "\tsize = min_t(size_t, size, (((struct edid *)buf)->extensions + 1) * 128);\n\tmade = alloc_edid(buf, size);",
    ] {
        assert!(!of(right).contains(&"double-fetch".to_owned()), "{right}");
    }
}
