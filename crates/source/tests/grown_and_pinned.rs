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

