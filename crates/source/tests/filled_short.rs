//! Memory that is filled as far as one number says and copied to the user by another one.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

/// What is said of a read() of these statements.
fn read(statements: &str) -> Vec<String> {
    mistakes::rules(&format!(
        "struct dev {{ int cpu; void __iomem *base; char *mem; }};\n\
         static ssize_t f(struct file *file, char __user *u, size_t count, loff_t *at)\n{{\n\
         \tstruct dev *d = file->private_data;\n\tchar cmd[32];\n\tu8 v[64];\n\tsize_t n;\n\n\
         {statements}\n\treturn n;\n}}\n"
    ))
}

/// The same of memory that is allocated for as many bytes as the program asks for.
fn heap(given: &str, statements: &str) -> Vec<String> {
    mistakes::rules(&format!(
        "struct dev {{ int cpu; void __iomem *base; char *mem; }};\n\
         static ssize_t f(struct file *file, char __user *u, size_t count, loff_t *at)\n{{\n\
         \tstruct dev *d = file->private_data;\n\tchar *k = {given};\n\tssize_t ret = count;\n\tsize_t n;\n\n\
         \tif (!k)\n\t\treturn -ENOMEM;\n{statements}\n\
         \tif (copy_to_user(u, k, count))\n\t\tret = -EFAULT;\n\tkfree(k);\n\treturn ret;\n}}\n"
    ))
}

#[test]
fn a_string_goes_out_with_all_of_its_array() {
    for wrong in [
        "\tscnprintf(cmd, sizeof(cmd), \"at %d\", d->cpu);\n\tn = sizeof(cmd);\n\tif (n > count)\n\t\tn = count;\n\
         \tif (copy_to_user(u, cmd, n))\n\t\treturn -EFAULT;",
        "\tstrscpy(cmd, \"idle\", sizeof(cmd));\n\tn = min(count, sizeof(cmd));\n\
         \tif (copy_to_user(u, cmd, n))\n\t\treturn -EFAULT;",
        "\tsprintf(cmd, \"%d\", d->cpu);\n\tn = 0;\n\
         \tif (copy_to_user(u, cmd, min_t(size_t, sizeof(cmd), count)))\n\t\treturn -EFAULT;",
        "\tstrcpy(cmd, d->mem);\n\tn = count < 8 ? count : 8;\n\tn = 32;\n\tif (copy_to_user(u, cmd, n))\n\
         \t\treturn -EFAULT;",
        "\tn = strscpy(cmd, d->mem);\n\treturn simple_read_from_buffer(u, count, at, cmd, sizeof(cmd));",
    ] {
        assert_eq!(read(wrong), ["copied-holes"], "{wrong}");
    }
    for right in [
        "\tn = sizeof(cmd);\n\tn = scnprintf(cmd, n, \"at %d\", d->cpu);\n\tif (n > count)\n\t\tn = count;\n\
         \tif (copy_to_user(u, cmd, n))\n\t\treturn -EFAULT;",
        "\tstrscpy(cmd, \"idle\", sizeof(cmd));\n\tn = min(count, strlen(cmd));\n\
         \tif (copy_to_user(u, cmd, n))\n\t\treturn -EFAULT;",
        "\tmemset(cmd, 0, sizeof(cmd));\n\tsprintf(cmd, \"%d\", d->cpu);\n\tn = min(count, sizeof(cmd));\n\
         \tif (copy_to_user(u, cmd, n))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(read(right), NONE, "{right}");
    }
}

#[test]
fn an_array_that_a_call_fills_in_part() {
    for wrong in [
        "\tn = min_t(size_t, count, sizeof(v));\n\thw_read(d, v, n);\n\tif (copy_to_user(u, v, sizeof(v)))\n\
         \t\treturn -EFAULT;",
        "\tn = umin(count, 16);\n\thw_read(d, (u32 *)v, n, false);\n\tif (copy_to_user(u, v, 64))\n\t\treturn -EFAULT;",
        "\tn = min(count, sizeof(v) - 4);\n\tmemcpy(v, d->mem, n);\n\tif (copy_to_user(u, v, round_up(n, 4)))\n\
         \t\treturn -EFAULT;",
    ] {
        assert_eq!(read(wrong), ["copied-holes"], "{wrong}");
    }
    for right in [
        "\tn = min_t(size_t, count, sizeof(v));\n\thw_read(d, v, n);\n\tif (copy_to_user(u, v, n))\n\t\treturn -EFAULT;",
        "\tn = sizeof(v);\n\thw_read(d, v, n);\n\tif (copy_to_user(u, v, sizeof(v)))\n\t\treturn -EFAULT;",
        "\tn = min(count, sizeof(v));\n\thw_read(d, v, n);\n\tmemset(v + n, 0, sizeof(v) - n);\n\
         \tif (copy_to_user(u, v, sizeof(v)))\n\t\treturn -EFAULT;",
        "\tn = min(count, sizeof(v));\n\tif (n != sizeof(v))\n\t\treturn -EINVAL;\n\thw_read(d, v, n);\n\
         \tif (copy_to_user(u, v, sizeof(v)))\n\t\treturn -EFAULT;",
    ] {
        assert_eq!(read(right), NONE, "{right}");
    }
}

#[test]
fn memory_that_is_filled_by_a_smaller_number() {
    for wrong in [
        "\tmemcpy_fromio(k, d->base + *at, round_down(count, 4));",
        "\tmemcpy_fromio(k, d->base + *at, count & ~3);",
        "\tn = min_t(size_t, count, 512);\n\tmemcpy(k, d->mem, n);",
        "\thw_read(d, k, count / 4 * 4);",
        "\thw_read(d, k, (count >> 2) << 2);",
        "\tn = ALIGN_DOWN(count, 8);\n\tif (d->cpu)\n\t\tmemcpy(k, d->mem, n);\n\telse\n\t\thw_read(d, k, n);",
        "\tmemcpy(k, d->mem, count - 1);",
    ] {
        assert_eq!(
            heap("kmalloc(count, GFP_KERNEL)", wrong),
            ["copied-holes"],
            "{wrong}"
        );
        assert_eq!(heap("kzalloc(count, GFP_KERNEL)", wrong), NONE, "{wrong}");
    }
    for right in [
        "\tmemcpy_fromio(k, d->base + *at, count);",
        "\tmemcpy(k, d->mem, count - 1);\n\tk[count - 1] = 0;",
        "\tn = count & ~3;\n\tmemcpy(k, d->mem, n);\n\tmemcpy(k + n, d->mem + n, count - n);",
        "\tcount = min_t(size_t, count, 512);\n\tmemcpy(k, d->mem, count);",
        "\tn = min_t(size_t, count, 512);\n\tmemcpy(k, d->mem, n);\n\tcount = n;",
        "\thw_read(d, k, count & 3);\n\thw_more(d, k);",
    ] {
        assert_eq!(heap("kmalloc(count, GFP_KERNEL)", right), NONE, "{right}");
    }
}
