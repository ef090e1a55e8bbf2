//! Elements that are fetched, judged and fetched again with the array, members that are judged in one case of
//! a `switch` alone, and what is copied over a judged structure.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

const NONE: [&str; 0] = [];

const TYPES: &str = "struct front { u16 version; u16 kind; };\n\
     struct order { u16 op; u16 slot; u32 word; };\n\
     struct card { u32 list[64]; struct whole { struct front front; u8 rest[60]; } whole; };\n\
     static int judge(u32 v)\n{\n\tif (v > 7)\n\t\treturn -EPERM;\n\treturn 0;\n}\n";

/// What is said of a function of these statements.
fn given(statements: &str) -> Vec<String> {
    let text = format!(
        "{TYPES}static int f(struct card *d, u32 __user *u, void __user *raw, int cmd)\n{{\n\
         \tu32 regs[4], v;\n\tint err;\n\n{statements}\n\treturn 0;\n}}\n"
    );
    let found = mistakes::found(None, &text).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

#[test]
fn an_element_comes_again_with_its_array() {
    let all = "\tif (copy_from_user(regs, u, sizeof(regs)))\n\t\treturn -EFAULT;\n";
    for wrong in [
        "\tif (copy_from_user(regs, raw, 4) || regs[0] > 63)\n\t\treturn -EFAULT;\n\
         \tif (copy_from_user(regs, raw, 8))\n\t\treturn -EFAULT;\n\td->list[regs[0]] = regs[1];",
        &format!(
            "\tif (copy_from_user(regs, u, 4) || regs[0] >= 64)\n\t\treturn -EFAULT;\n{all}\tuse(d, regs);"
        ),
        &format!(
            "\tif (get_user(regs[2], &u[2]))\n\t\treturn -EFAULT;\n\terr = judge(regs[2]);\n\
                  \tif (err)\n\t\treturn err;\n{all}\tuse(d, regs);"
        ),
        &format!(
            "\tif (get_user(v, &u[1]))\n\t\treturn -EFAULT;\n\tif (v > 7)\n\t\treturn -EINVAL;\n{all}\
                  \tuse(d, regs[1]);"
        ),
        &format!(
            "\tif (get_user(v, &u[3]) || v > 7)\n\t\treturn -EFAULT;\n{all}\tuse(d, regs[3]);"
        ),
        "\tswitch (cmd) {\n\tcase 0:\n\t\tif (copy_from_user(regs, raw, 4) || regs[0] > 63)\n\t\t\treturn -EFAULT;\n\
         \t\tif (copy_from_user(regs, raw, 8))\n\t\t\treturn -EFAULT;\n\t\td->list[regs[0]] = regs[1];\n\t\treturn 0;\n\
         \tcase 1:\n\t\tif (copy_from_user(regs, raw, 4) || regs[0] > 63)\n\t\t\treturn -EFAULT;\n\t\tuse(d, regs[0]);\n\t}",
    ] {
        assert_eq!(given(wrong), ["double-fetch"], "{wrong}");
    }
    for right in [
        "\tif (copy_from_user(regs, raw, 4) || regs[0] > 63)\n\t\treturn -EFAULT;\n\
         \tif (copy_from_user(regs, raw, 8) || regs[0] > 63)\n\t\treturn -EFAULT;\n\td->list[regs[0]] = regs[1];",
        "\tif (copy_from_user(regs, raw, 4) || regs[0] > 63)\n\t\treturn -EFAULT;\n\
         \tif (copy_from_user(regs + 1, raw + 4, 4))\n\t\treturn -EFAULT;\n\td->list[regs[0]] = regs[1];",
        &format!(
            "\tif (get_user(regs[2], &u[2]))\n\t\treturn -EFAULT;\n\terr = judge(regs[2]);\n\
                  \tif (err)\n\t\treturn err;\n{all}\terr = judge(regs[2]);\n\tif (err)\n\t\treturn err;\n\tuse(d, regs);"
        ),
        &format!(
            "\tif (get_user(v, &u[1]) || v > 7)\n\t\treturn -EFAULT;\n{all}\tuse(d, regs[0]);"
        ),
        &format!(
            "\tif (get_user(v, &u[1]) || v > 7)\n\t\treturn -EFAULT;\n{all}\tregs[1] = v;\n\tuse(d, regs[2]);"
        ),
        &format!(
            "\tif (get_user(v, &u[0]) || v > 7)\n\t\treturn -EFAULT;\n{all}\tif (regs[0] != v)\n\t\treturn -EINVAL;\n\
                  \tuse(d, regs[0]);"
        ),
        &format!("{all}\tif (regs[0] > 7)\n\t\treturn -EINVAL;\n\tuse(d, regs);"),
    ] {
        assert_eq!(given(right), NONE, "{right}");
    }
}

#[test]
fn another_case_has_its_own_judgement() {
    let order = |statements: &str| {
        given(&format!(
            "\tstruct order own;\n\n\tif (get_user(own.slot, &((const struct order __user *)raw)->slot))\n\
             \t\treturn -EFAULT;\n\tif (own.slot > 63)\n\t\treturn -EINVAL;\n\
             \tif (copy_from_user(&own, raw, sizeof(own)))\n\t\treturn -EFAULT;\n{statements}"
        ))
    };
    let cases = |first: &str| {
        format!(
            "\tswitch (own.op) {{\n\tcase 0:\n{first}\t\td->list[own.slot] = own.word;\n\t\tbreak;\n\
             \tcase 1:\n\t\tif (own.slot > 63)\n\t\t\treturn -EINVAL;\n\t\tuse(d, own.slot);\n\t\tbreak;\n\t}}"
        )
    };
    assert_eq!(order(&cases("")), ["double-fetch"]);
    let asked = "\t\tif (own.slot > 63)\n\t\t\treturn -EINVAL;\n";
    assert_eq!(order(&cases(asked)), NONE);
    let before =
        "\tuse(d, own.word);\n\tif (own.slot > 63)\n\t\treturn -EINVAL;\n\td->list[own.slot] = 0;";
    assert_eq!(order(before), NONE);
}

#[test]
fn a_judged_structure_is_not_copied_over() {
    let set = |second: &str| {
        let text = format!(
            "{TYPES}static int f(struct card *d, sockptr_t given, unsigned int len)\n{{\n\
             \tstruct front *own = &d->whole.front;\n\n\tif (copy_from_sockptr(own, given, sizeof(*own)))\n\
             \t\treturn -EFAULT;\n\tif (own->version != 3 || own->kind > 7)\n\t\treturn -EINVAL;\n\
             \tif (len > sizeof(d->whole))\n\t\treturn -EINVAL;\n{second}\treturn start(d);\n}}\n"
        );
        let found = mistakes::found(None, &text).into_iter();
        found.map(|(rule, _)| rule).collect::<Vec<String>>()
    };
    let again = "\tif (copy_from_sockptr(own, given, len))\n\t\treturn -EFAULT;\n";
    assert_eq!(set(again), ["double-fetch"]);
    let asked = format!("{again}\tif (own->version != 3 || own->kind > 7)\n\t\treturn -EINVAL;\n");
    assert_eq!(set(&asked), NONE);
    let rest = "\tif (copy_from_sockptr_offset(own + 1, given, sizeof(*own), len - sizeof(*own)))\n\t\treturn -EFAULT;\n";
    assert_eq!(set(rest), NONE);
}
