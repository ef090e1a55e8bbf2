//! Results of accesses in more than one variable: which of them a fault is seen by.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used)]

use tollgate_rewrite::Request;

#[path = "fixing/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod fixing;

use fixing::{file, fix_in};

/// The window left with the second result where the first was to go on.
#[test]
fn a_result_that_another_one_hides_is_no_way_out() {
    let hidden = "so there is no way out to take";
    let other = "no form is written for a window over that";
    for (why, body) in [
        (
            hidden,
            "\tint one, two;\n\n\tone = put_user(1, &p->a);\n\ttwo = put_user(2, &p->b);\n\tif (two)\n\t\treturn -EFAULT;\n\treturn one;\n",
        ),
        (
            hidden,
            "\tint err;\n\n\terr = put_user(1, &p->a);\n\terr = put_user(2, &p->b);\n\tif (err)\n\t\treturn -EFAULT;\n\treturn 0;\n",
        ),
        (
            other,
            "\tint one, two = 0;\n\n\tone = put_user(1, &p->a);\n\tif (!two)\n\t\ttwo = put_user(2, &p->b);\n\tif (two)\n\t\treturn two;\n\treturn one;\n",
        ),
    ] {
        for stop_at_first_fault in [false, true] {
            let request = Request {
                stop_at_first_fault,
                ..Request::default()
            };
            let said = fix_in(&file(body), "f", &request).unwrap_err().to_string();
            assert!(said.contains(why), "{said}");
        }
    }
}
