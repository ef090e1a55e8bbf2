//! What a program hands over, and what a copy leaves of it.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::rules;

const NONE: [&str; 0] = [];

/// Few files with a table of such functions have no access of their own.
const CONTROL: &str = "static long control(struct file *file, unsigned int cmd, unsigned long arg)\n{\n\treturn put_user(state(file), (int __user *)arg);\n}\n";

/// What is said of a function that a table has for `member`, which declares no `__user`.
fn written(member: &str, of: &str, statements: &str) -> Vec<String> {
    rules(&format!(
        "{CONTROL}static ssize_t feed(struct file *file, {of}data, size_t len, loff_t *ppos)\n{{\n\tsize_t i;\n\tchar c, name[8];\n\n{statements}\n\treturn len;\n}}\n\
         static const struct file_operations fops = {{\n\t.owner = THIS_MODULE,\n\t.{member} = feed,\n}};\n"
    ))
}

#[test]
fn what_write_is_given_is_the_users_whatever_it_is_declared_as() {
    const TOLD: [&str; 1] = ["user-pointer-dereferenced"];
    for wrong in [
        "\tfor (i = 0; i != len; i++) {\n\t\tif (data[i] == 'V')\n\t\t\tarm();\n\t}",
        "\tif (len && *data == 'V')\n\t\tarm();",
        "\twhile (i < len && *(data + i) != 'V')\n\t\ti++;",
        "\tif (memchr(data, 'V', len))\n\t\tarm();",
        "\tmemcpy(name, data, min(len, sizeof(name)));",
        "\tconst char *p = data;\n\n\tif (p[0] == 'V')\n\t\tarm();",
    ] {
        assert_eq!(written("write", "const char *", wrong), TOLD, "{wrong}");
        assert_eq!(
            written("proc_write", "const char *", wrong),
            TOLD,
            "{wrong}"
        );
        assert_eq!(written("store", "const char *", wrong), NONE, "{wrong}");
    }
    for right in [
        "\tfor (i = 0; i != len; i++) {\n\t\tif (get_user(c, data + i))\n\t\t\treturn -EFAULT;\n\t\tif (c == 'V')\n\t\t\tarm();\n\t}",
        "\tif (len > sizeof(name))\n\t\treturn -EINVAL;\n\tif (copy_from_user(name, data, len))\n\t\treturn -EFAULT;\n\tif (len && name[0] == 'V')\n\t\tarm();",
        "\tif (len > sizeof(name))\n\t\treturn -EINVAL;\n\tdata = memdup_user(data, len);\n\tif (IS_ERR(data))\n\t\treturn PTR_ERR(data);\n\tif (len && data[0] == 'V')\n\t\tarm();\n\tkfree(data);",
        "\tprefetch(&data[1]);",
    ] {
        assert_eq!(written("write", "const char *", right), NONE, "{right}");
    }
    for wrong in [
        "\tdata[0] = c;",
        "\tmemset(data, 0, len);",
        "\t*data++ = c;",
    ] {
        assert_eq!(written("read", "char *", wrong), TOLD, "{wrong}");
    }
}

#[test]
fn what_other_tables_are_given_is_the_kernels() {
    let other = "static ssize_t feed(struct file *file, struct kobject *own, const struct bin_attribute *a, char *data, loff_t at, size_t len)\n{\n\tdata[0] = 1;\n\treturn len;\n}\nstatic struct bin_attribute attribute = {\n\t.read = feed,\n};\n";
    assert_eq!(rules(&format!("{CONTROL}{other}")), NONE);
    let clock = "static int feed(struct device *own, char *data, size_t len, int at)\n{\n\tdata[0] = 1;\n\treturn len;\n}\nstatic struct ops ops = {\n\t.read = feed,\n};\n";
    assert_eq!(rules(&format!("{CONTROL}{clock}")), NONE);
}

/// What is said of a function that copies to a buffer which lasts.
fn copied(statements: &str) -> Vec<String> {
    rules(&format!(
        "static ssize_t load(struct file *file, const char __user *from, size_t count, loff_t *ppos)\n{{\n\tstruct image *image = file->private_data;\n\tsize_t all = count, left;\n\n\tif (count > sizeof(image->bytes) - image->len)\n\t\treturn -ENOMEM;\n{statements}\n}}\n"
    ))
}

#[test]
fn what_is_left_is_not_what_was_copied() {
    for wrong in [
        "\tcount = copy_from_user(image->at, from, count);\n\t*ppos += count;\n\treturn -EFAULT;",
        "\tleft = copy_from_user(image->at, from, count);\n\tif (left == count)\n\t\treturn -EFAULT;\n\timage->len += left;\n\treturn count - left;",
        "\tleft = copy_from_user(image->at, from, count);\n\timage->len = image->len + left;\n\treturn count - left;",
        "\t*ppos += copy_from_user(image->at, from, count);\n\treturn count;",
        "\tleft = copy_from_user(image->at, from, count);\n\timage->at[left] = 0;\n\treturn count - left;",
    ] {
        assert_eq!(copied(wrong), ["misread-result"], "{wrong}");
    }
    for right in [
        "\tcount -= copy_from_user(image->at, from, count);\n\tif (!count)\n\t\treturn -EFAULT;\n\t*ppos += count;\n\treturn count;",
        "\tleft = copy_from_user(image->at, from, count);\n\tif (left == count)\n\t\treturn -EFAULT;\n\timage->len += count - left;\n\treturn count - left;",
        "\tleft = copy_from_user(image->at, from, count);\n\tif (left)\n\t\treturn -EFAULT;\n\tleft = count;\n\timage->len += left;\n\treturn count;",
        "\tleft = copy_from_user(image->at, from, count);\n\tif (left == count)\n\t\treturn -EFAULT;\n\tcount -= left;\n\timage->at[count] = 0;\n\timage->len += count;\n\treturn count;",
        "\tleft = copy_from_user(image->at, from, count);\n\tleft += copy_from_user(image->other, from, count);\n\treturn left ? -EFAULT : count;",
    ] {
        assert_eq!(copied(right), NONE, "{right}");
    }
}

#[test]
fn what_was_asked_for_is_not_what_was_copied() {
    let mends = |moves: &str| {
        copied(&format!(
            "\tcount -= copy_from_user(image->at, from, count);\n\tif (!count)\n\t\treturn -EFAULT;\n{moves}\n\treturn count;"
        ))
    };
    for wrong in [
        "\timage->len += all;",
        "\t*ppos += all;",
        "\tif (image->open)\n\t\timage->len += (u32)all;",
    ] {
        assert_eq!(mends(wrong), ["kept-position"], "{wrong}");
    }
    for right in [
        "\timage->len += count;",
        "\tif (count != all)\n\t\treturn -EFAULT;\n\timage->len += all;",
        "\tall = count;\n\timage->len += all;",
    ] {
        assert_eq!(mends(right), NONE, "{right}");
    }
}

/// What is said of a function that has a program's request in the kernel's memory.
fn answered(statements: &str) -> Vec<String> {
    rules(&format!(
        "struct request {{\n\tu64 address;\n\tu32 size;\n\tvoid __user *to;\n\tchar name[16];\n}};\n\
         static int answer(struct device *d, void *raw, const char *own, size_t n)\n{{\n\tstruct request *request = (struct request *)raw;\n\n\tif (!request->address || request->size < n)\n\t\treturn -EINVAL;\n{statements}\n\treturn 0;\n}}\n"
    ))
}

#[test]
fn a_member_that_holds_the_users_address_is_not_that() {
    for wrong in [
        "\tif (copy_to_user(&request->address, own, n))\n\t\treturn -EFAULT;",
        "\tif (copy_to_user(&request->to, own, n))\n\t\treturn -EFAULT;",
        "\tif (put_user(n, &request->size))\n\t\treturn -EFAULT;",
        "\tif (copy_to_user(request->name, own, sizeof(request->name)))\n\t\treturn -EFAULT;",
    ] {
        let found = answered(wrong);
        assert!(
            found.contains(&"swapped-arguments".to_owned()),
            "{wrong} {found:?}"
        );
    }
    for right in [
        "\tif (copy_to_user(u64_to_user_ptr(request->address), own, n))\n\t\treturn -EFAULT;",
        "\tif (copy_to_user(request->to, own, n))\n\t\treturn -EFAULT;",
        "\tif (copy_from_user(&request->size, request->to, sizeof(request->size)))\n\t\treturn -EFAULT;",
        "\tif (copy_to_user(request->to + 4, own, n))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(answered(right), NONE, "{right}");
    }
    // Whoever is given an address of either side's may be told which.
    let users = "struct part {\n\tu32 size;\n\tu32 list[4];\n};\nint f(struct part __user *to, u32 n)\n{\n\tif (put_user(n, &to->size))\n\t\treturn -EFAULT;\n\treturn copy_to_user(to->list, &n, sizeof(n)) ? -EFAULT : 0;\n}\n";
    assert_eq!(rules(users), NONE);
    let number = "struct part {\n\tu32 size;\n\tu32 used;\n};\nint f(struct registers *regs, u32 n)\n{\n\tstruct part *to = (struct part *)regs->sp;\n\n\tif (put_user(n, &to->size) || put_user(n, &to->used))\n\t\treturn -EFAULT;\n\treturn 0;\n}\n";
    assert_eq!(rules(number), NONE);
    let frame = "static void *place(struct registers *regs)\n{\n\treturn (void *)(regs->sp & -8);\n}\nint f(struct registers *regs, u32 n)\n{\n\tstruct part *to = place(regs);\n\n\tif (put_user(n, &to->size) || to->used)\n\t\treturn -EFAULT;\n\treturn 0;\n}\n";
    assert_eq!(rules(frame), NONE);
}

/// What is said of a walk over frames that each lead to the next one.
fn walked(statements: &str) -> Vec<String> {
    rules(&format!(
        "struct frame {{\n\tstruct frame __user *next;\n\tunsigned long pc;\n}};\n\
         void walk(struct pt_regs *regs, unsigned int depth)\n{{\n\tstruct frame __user *own = (struct frame __user *)regs->sp;\n\tstruct frame copy;\n\tunsigned long pc;\n\n{statements}\n}}\n"
    ))
}

#[test]
fn a_pointer_that_was_fetched_is_checked_again() {
    const CHECK: &str = "if (!access_ok(own, sizeof(*own)))\n\t\treturn;";
    let loops = |front: &str, check: &str, takes: &str| {
        walked(&format!(
            "\t{front}\n\twhile (own && depth--) {{\n\t\t{check}\n\t\tif (__get_user(pc, &own->pc))\n\t\t\treturn;\n{takes}\n\t\tnote(pc);\n\t}}"
        ))
    };
    let by_access = "\t\tif (__get_user(own, &own->next))\n\t\t\treturn;";
    let by_copy =
        "\t\tif (__copy_from_user(&copy, own, sizeof(copy)))\n\t\t\treturn;\n\t\town = copy.next;";
    for takes in [by_access, by_copy] {
        assert_eq!(loops(CHECK, "", takes), ["unchecked-access"], "{takes}");
        assert_eq!(loops("", CHECK, takes), NONE, "{takes}");
    }
    assert_eq!(loops(CHECK, "", "\t\town++;"), NONE);
    // What is held against a limit may be checked by that.
    let limited =
        "if (own < (struct frame __user *)TASK_SIZE - 1)\n\t\t\tnote(1);\n\t\telse\n\t\t\treturn;";
    assert_eq!(loops(CHECK, limited, by_access), NONE);
    // A check that is asked for where there is a pointer, as the access is.
    let given = "\tif (__get_user(own, &copy.next))\n\t\treturn;\n\tif (own && !access_ok(own, sizeof(*own)))\n\t\treturn;\n\tif (own && __get_user(pc, &own->pc))\n\t\treturn;\n\tnote(pc);";
    let given = given.replace("__get_user(own, &copy.next)", "get_user(own, &other->next)");
    assert_eq!(
        walked(&format!(
            "\tstruct frame __user *other = other_frame();\n\n{given}"
        )),
        NONE
    );
    // Who is told of each frame is given no pointer to judge.
    let told = by_access.to_owned() + "\n\t\tcopy.next = own;\n\t\tif (hear(&copy))\n\t\t\treturn;";
    assert_eq!(loops(CHECK, "", &told), ["unchecked-access"]);
    let judged = by_access.to_owned() + "\n\t\tif (!is_good(own))\n\t\t\treturn;";
    assert_eq!(loops(CHECK, "", &judged), NONE);
    // Without a loop.
    let twice = "\tif (!access_ok(own, sizeof(*own)))\n\t\treturn;\n\tif (__get_user(own, &own->next) || __get_user(pc, &own->pc))\n\t\treturn;\n\tnote(pc);";
    assert_eq!(walked(twice), ["unchecked-access"]);
    let checked = twice.replace("__get_user(pc", "get_user(pc");
    assert_eq!(walked(&checked), NONE);
}

#[test]
fn a_range_has_bytes_and_not_pages() {
    let pins = |check: &str| {
        rules(&format!(
            "struct pin {{\n\tu64 at;\n\tu64 size;\n\tu32 bits;\n}};\nint pin(struct device *d, struct pin *own)\n{{\n\tunsigned long pages = own->size >> PAGE_SHIFT;\n\n\tif (!access_ok({check}))\n\t\treturn -EFAULT;\n\treturn keep(d, own->at, own->size, pages);\n}}\n"
        ))
    };
    let pointer = "u64_to_user_ptr(own->at), ";
    for wrong in [
        "own->size >> PAGE_SHIFT",
        "own->size >> 12",
        "own->size / PAGE_SIZE",
        "pages",
    ] {
        assert_eq!(
            pins(&format!("{pointer}{wrong}")),
            ["elements-for-bytes"],
            "{wrong}"
        );
        let cast = format!("(void __user *)(unsigned long)own->at, {wrong}");
        assert_eq!(pins(&cast), ["elements-for-bytes"], "{wrong}");
    }
    for right in [
        "own->size",
        "pages << PAGE_SHIFT",
        "own->bits >> 3",
        "own->size / 8",
    ] {
        assert_eq!(pins(&format!("{pointer}{right}")), NONE, "{right}");
    }
    // A byte for each page of another range.
    let told = "int resident(unsigned long start, size_t len, unsigned char __user *vec)\n{\n\tif (!access_ok((void __user *)start, len))\n\t\treturn -ENOMEM;\n\tif (!access_ok(vec, len >> PAGE_SHIFT))\n\t\treturn -EFAULT;\n\treturn look(start, vec, len);\n}\n";
    assert_eq!(rules(told), NONE);
}

/// What is said of a function that makes an address of a member of what a 32-bit program gave.
fn made(of: &str, statement: &str) -> Vec<String> {
    rules(&format!(
        "struct asked {{\n\ts32 what;\n\t{of} value;\n\t{of} size;\n}};\nstruct own {{\n\tint __user *value;\n}};\n\
         static int ask(struct device *d, unsigned long arg)\n{{\n\tstruct asked r;\n\tstruct own own;\n\tchar all[64];\n\n\tif (copy_from_user(&r, (void __user *)arg, sizeof(r)))\n\t\treturn -EFAULT;\n\tif (r.size > sizeof(all))\n\t\treturn -EINVAL;\n{statement}\n\treturn apply(d, &own, all);\n}}\n"
    ))
}

#[test]
fn an_address_has_no_sign() {
    for wrong in [
        "\town.value = (int __user *)(long)r.value;",
        "\town.value = (int __user *)(unsigned long)r.value;",
        "\town.value = (void __user *)(uintptr_t)(int)r.value;",
    ] {
        assert_eq!(made("s32", wrong), ["other-layout"], "{wrong}");
    }
    for right in [
        "\town.value = compat_ptr(r.value);",
        "\town.value = (int __user *)(unsigned long)(u32)r.value;",
    ] {
        assert_eq!(made("s32", right), NONE, "{right}");
    }
    for right in [
        "\town.value = (int __user *)(long)r.value;",
        "\town.value = (int __user *)(unsigned long)r.value;",
    ] {
        assert_eq!(made("u32", right), NONE, "{right}");
        assert_eq!(made("s64", right), NONE, "{right}");
    }
    let given = "int select(int n, void __user *p)\n{\n\tif ((unsigned long)n >= 4096)\n\t\treturn old_select((void __user *)n);\n\treturn put_user(n, (int __user *)p);\n}\n";
    assert_eq!(rules(given), NONE);
    let narrowed = "\town.value = (int __user *)(long)(int)r.value;";
    assert_eq!(made("u32", narrowed), ["other-layout"]);
}

#[test]
fn a_number_of_another_byte_order_is_no_address() {
    for of in ["__be64", "__le64"] {
        for wrong in [
            "\town.value = (void __user *)(unsigned long)r.value;",
            "\tif (copy_from_user(all, u64_to_user_ptr(r.value), 8))\n\t\treturn -EFAULT;",
            "\tif (copy_from_user(all, (void __user *)arg, r.size))\n\t\treturn -EFAULT;",
            "\tif (copy_from_user(all, (void __user *)arg + r.value, 8))\n\t\treturn -EFAULT;",
        ] {
            let found = made(of, wrong);
            assert!(
                found.contains(&"other-layout".to_owned()),
                "{wrong} {found:?}"
            );
        }
        let right = "\town.value = (void __user *)(unsigned long)be64_to_cpu(r.value);\n\tif (copy_from_user(all, u64_to_user_ptr(be64_to_cpu(r.value)), 8))\n\t\treturn -EFAULT;";
        assert_eq!(made(of, right), NONE, "{right}");
    }
}

/// What is said of a function that fetches and stores registers.
fn kept(statements: &str) -> Vec<String> {
    rules(&format!(
        "struct regs {{\n\tu32 a, b, c;\n}};\n\
         int keep(struct task *t, struct regs __user *u)\n{{\n\tstruct regs *r = regs_of(t);\n\tu32 x = 0, y = 0;\n\tint err = 0;\n\n{statements}\n\treturn err ? -EFAULT : apply(t, x, y);\n}}\n"
    ))
}

#[test]
fn nothing_is_filled_twice_in_a_run() {
    for wrong in [
        "\terr |= get_user(r->a, &u->a);\n\terr |= get_user(r->a, &u->b);",
        "\terr |= get_user(x, &u->a);\n\terr |= get_user(x, &u->b);",
        "\tif (get_user(r->a, &u->a) || get_user(r->a, &u->b))\n\t\treturn -EFAULT;",
        "\tif (get_user(r->a, &u->a))\n\t\treturn -EFAULT;\n\tif (get_user(r->a, &u->b))\n\t\treturn -EFAULT;",
        "\terr |= get_user(r->a, &u->a);\n\terr |= get_user(r->b, &u->b);\n\terr |= get_user(r->a, &u->c);",
        "\terr |= put_user(r->a, &u->a);\n\terr |= put_user(r->b, &u->a);",
        "\tif (copy_from_user(&r->a, &u->a, sizeof(u->a)) || copy_from_user(&r->a, &u->b, sizeof(u->a)))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(kept(wrong), ["unread-copy"], "{wrong}");
    }
    for right in [
        "\terr |= get_user(r->a, &u->a);\n\terr |= get_user(r->b, &u->b);",
        "\terr = get_user(x, &u->a);\n\tif (err)\n\t\terr = get_user(x, &u->b);",
        "\tif (get_user(x, &u->a) && get_user(x, &u->b))\n\t\treturn -EFAULT;",
        "\terr = get_user(x, &u->a);\n\ty = x;\n\terr |= get_user(x, &u->b);",
        "\tif (get_user(x, &u->a))\n\t\treturn -EFAULT;\n\tset(t, x);\n\tif (get_user(x, &u->b))\n\t\treturn -EFAULT;",
        "\terr = put_user(x, &u->a);\n\ty = run(t);\n\terr |= put_user(y, &u->a);",
        "\tchar c;\n\n\tif (copy_from_user(&c, u, 1) || copy_from_user(&c, (char __user *)u + 11, 1))\n\t\treturn -EFAULT;\n\tc = mode(t);\n\tx = c;",
        "\tu32 probe;\n\n\terr = get_user(probe, &u->a) | get_user(probe, &u->c);",
        "\tif (t->wide)\n\t\terr = get_user(x, &u->a);\n\telse\n\t\terr = get_user(x, &u->b);",
    ] {
        assert_eq!(kept(right), NONE, "{right}");
    }
}
