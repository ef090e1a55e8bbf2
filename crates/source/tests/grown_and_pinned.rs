//! Numbers that go on behind their limit, pages that stay pinned, and positions that count twice.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::rules;

const NONE: [&str; 0] = [];

/// What is said of what fills an array by these statements.
fn filled(statements: &str) -> Vec<String> {
    rules(&format!(
        "enum {{ MOST = 8 }};\nstatic u32 *list[MOST];\n\
         static long f(struct image *own, const u8 __user *from, size_t length)\n{{\n\
         \tunsigned int many, i;\n\tsize_t rest;\n\n\tmany = length / 64;\n\trest = length % 64;\n{statements}\n\treturn 0;\n}}\n"
    ))
}

#[test]
fn a_number_is_limited_when_it_has_grown() {
    let round = "\tfor (i = 0; i < many; i++) {\n\t\tif (i == 0)\n\t\t\town->first = 1;\n\t\tif (copy_from_user(list[i], from, 64))\n\t\t\treturn -EFAULT;\n\t}";
    let last = "\tif (get_user(own->first, from))\n\t\treturn -EFAULT;\n\tlist[many] = NULL;";
    let most = "\tif (many > MOST)\n\t\treturn -EINVAL;\n";
    let room = "\tif (many >= MOST)\n\t\treturn -EINVAL;\n";
    let one = "\tif (rest)\n\t\tmany++;\n";
    let wrong = [
        format!("{most}{one}{round}"),
        format!("{most}\tmany += 1;\n{round}"),
        format!("{room}{one}{last}"),
    ];
    for wrong in wrong {
        assert_eq!(filled(&wrong), ["beyond-array"], "{wrong}");
    }
    let right = [
        format!("{one}{most}{round}"),
        format!("{room}{one}{round}"),
        format!("{most}{one}\tif (many > MOST)\n\t\tmany = MOST;\n{round}"),
        format!("{one}{room}{last}"),
    ];
    for right in right {
        assert_eq!(filled(&right), NONE, "{right}");
    }
}

#[test]
fn what_a_driver_of_iommufd_fetches_is_the_users() {
    let text = "enum { ID_MAX = 3, NUM = 4 };\nstruct inv { u32 flags; u32 id; };\nstruct nested { u32 tlb[NUM]; };\n\
         static int f(struct nested *n, struct iommu_user_data_array *array, int i)\n{\n\tstruct inv inv;\n\tint rc;\n\n\
         \trc = iommu_copy_struct_from_user_array(&inv, array, 1, i, id);\n\tif (rc)\n\t\treturn rc;\n\
         \tif (inv.id > ID_MAX)\n\t\treturn -EINVAL;\n\tn->tlb[inv.id] = 0;\n\treturn 0;\n}\n";
    mistakes::changed("beyond-array", text, &[("inv.id > ID_MAX", "inv.id > NUM")]);
}

/// What is said of a file that pins pages and gives them back.
fn pinned(give_back: &str) -> Vec<String> {
    rules(&format!(
        "struct area {{ struct page **pages; struct page *one; u64 at; int many; }};\n\
         static int area_pin(struct area *a, unsigned long at, int many)\n{{\n\tint n;\n\n\
         \tn = pin_user_pages_fast(at, many, FOLL_WRITE, a->pages);\n\tif (n < 0)\n\t\treturn n;\n\ta->many = n;\n\treturn 0;\n}}\n\n\
         {give_back}"
    ))
}

#[test]
fn a_pin_is_given_back_as_one() {
    let release = "static void area_release(struct area *a)\n{\n\tint i;\n\n\tfor (i = 0; i < a->many; i++)\n\t\tput_page(a->pages[i]);\n}\n";
    let clear = "static void area_clear(struct area *a, bool all)\n{\n\tstruct page *first = NULL, *second = NULL;\n\n\
         \tfirst = phys_to_page(a->at);\n\tif (all)\n\t\tsecond = phys_to_page(a->at + 4096);\n\
         \tunpin_user_page(first);\n\tif (second)\n\t\tput_page(second);\n}\n";
    let here = "static int area_look(struct area *a, unsigned long at)\n{\n\tstruct page *page, *pages[1];\n\n\
         \tif (pin_user_pages_fast(at, 1, 0, pages) != 1)\n\t\treturn -EFAULT;\n\tpage = pages[0];\n\tput_page(page);\n\treturn 0;\n}\n";
    let alone = "static int area_look(struct area *a, unsigned long at)\n{\n\tstruct page *page;\n\n\
         \tif (pin_user_pages_fast(at, 1, 0, &page) != 1)\n\t\treturn -EFAULT;\n\tput_page(page);\n\treturn 0;\n}\n";
    for wrong in [release, clear, here, alone] {
        assert_eq!(pinned(wrong), ["released-memory"], "{wrong}");
        let right = wrong.replace("put_page", "unpin_user_page");
        assert_eq!(pinned(&right), NONE, "{right}");
    }
    let other = "static void area_free(struct area *a)\n{\n\tput_page(a->one);\n}\n";
    let referenced = here.replace("pin_user_pages_fast", "get_user_pages_fast");
    for right in [other, &referenced] {
        assert_eq!(pinned(right), NONE, "{right}");
    }
}

#[test]
fn the_pages_of_earlier_rounds_do_not_stay_pinned() {
    let rounds = |failed: &str, end: &str| {
        rules(&format!(
            "static int f(struct area *a, unsigned long at, int many)\n{{\n\tstruct page **all;\n\tint ret, done = 0;\n\n\
             \tall = kvmalloc_array(many, sizeof(*all), GFP_KERNEL);\n\tif (!all)\n\t\treturn -ENOMEM;\n\
             \twhile (done < many) {{\n\t\tstruct page **pages = all + done;\n\n\
             \t\tret = pin_user_pages_fast(at, many - done, FOLL_LONGTERM, pages);\n\t\tif (ret < 0) {{\n{failed}\n\t\t}}\n\t\tdone += ret;\n\t}}\n\
             \ta->pages = all;\n\treturn 0;\n{end}}}\n"
        ))
    };
    let free = "\t\t\tkvfree(all);\n\t\t\treturn ret;";
    let unpin = "\t\t\tunpin_user_pages(all, done);\n";
    assert_eq!(rounds(free, ""), ["kept-memory"]);
    assert_eq!(
        rounds("\t\t\tgoto free;", "free:\n\tkvfree(all);\n\treturn ret;\n"),
        ["kept-memory"]
    );
    assert_eq!(rounds(&format!("{unpin}{free}"), ""), NONE);
    let end =
        "free:\n\tif (done)\n\t\tunpin_user_pages(all, done);\n\tkvfree(all);\n\treturn ret;\n";
    assert_eq!(rounds("\t\t\tgoto free;", end), NONE);
    assert_eq!(
        rounds(&format!("\t\t\tarea_drop(all, done);\n{free}"), ""),
        NONE
    );
}

/// What is said of what reads a file by these statements.
fn read(statements: &str) -> Vec<String> {
    rules(&format!(
        "struct ring {{ u8 *front; size_t size; u32 step; }};\n\
         static ssize_t ring_read(struct file *file, char __user *to, size_t count, loff_t *ppos)\n{{\n\
         \tstruct ring *r = file->private_data;\n\tssize_t done = 0;\n\tloff_t at = *ppos % r->size;\n\n\
         {statements}\n}}\n\
         static const struct file_operations ring_fops = {{\n\t.read = ring_read,\n}};\n"
    ))
}

#[test]
fn a_position_counts_once() {
    for wrong in [
        "\tdone = simple_read_from_buffer(to, count, ppos, r->front, r->size);\n\t*ppos += done;\n\treturn done;",
        "\tdone = simple_read_from_buffer(to, count, ppos, r->front, r->size);\n\tif (done > 0)\n\t\t*ppos = *ppos + done;\n\treturn done;",
    ] {
        assert_eq!(read(wrong), ["kept-position"], "{wrong}");
    }
    for right in [
        "\tdone = simple_read_from_buffer(to, count, &at, r->front, r->size);\n\t*ppos += done;\n\treturn done;",
        "\tdone = simple_read_from_buffer(to, count, ppos, r->front, r->size);\n\treturn done;",
        "\tdone = simple_read_from_buffer(to, count, ppos, r->front, r->size);\n\tdone = r->step;\n\t*ppos += done;\n\treturn done;",
    ] {
        assert_eq!(read(right), NONE, "{right}");
    }
}

#[test]
fn a_position_goes_on_by_all_that_is_given() {
    let text = "\tif (count > r->size - *ppos)\n\t\tcount = r->size - *ppos;\n\
         \twhile (at < 4 && count > 0) {\n\t\tif (put_user(((u8 *)&r->step)[at], to))\n\t\t\treturn -EFAULT;\n\
         \t\tto++; at++; count--; done++;\n\t}\n\
         \tif (copy_to_user(to, r->front + at, count))\n\t\treturn -EFAULT;\n\tdone += count;\n\t*ppos += done;\n\treturn done;";
    assert_eq!(read(text), NONE);
    let wrong = text.replace("*ppos += done", "*ppos += count");
    assert_eq!(read(&wrong), ["kept-position"]);
    let plain = "\tif (count > r->size - *ppos)\n\t\tcount = r->size - *ppos;\n\tif (copy_to_user(to, r->front + *ppos, count))\n\t\treturn -EFAULT;\n\
         \tdone += count;\n\t*ppos += count;\n\treturn done;";
    assert_eq!(read(plain), NONE);
}
