//! Lengths that grow by how much calls would have written.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[path = "support/mistakes.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod mistakes;

use mistakes::rules;

const NONE: [&str; 0] = [];

const ROOM: &str = "#define ROOM 4096\n#define PORTS 4\n\
     struct port { struct port *next; const char *name; u32 speed; };\n\
     struct hub { struct port *first; u32 ports; u32 speeds[PORTS]; char *log; size_t room; size_t used; };\n";

/// What is said of what reads a file by these statements.
fn said(statements: &str) -> Vec<String> {
    rules(&format!(
        "{ROOM}static ssize_t hub_read(struct file *file, char __user *to, size_t count, loff_t *ppos)\n{{\n\
         \tstruct hub *h = file->private_data;\n\tstruct port *p;\n\tssize_t ret;\n\tint len = 0, l, i;\n\
         \tchar *buf, *end;\n\n\tbuf = kzalloc(ROOM, GFP_KERNEL);\n\tif (!buf)\n\t\treturn -ENOMEM;\n\n\
         {statements}\n\tkfree(buf);\n\treturn ret;\n}}\n"
    ))
}

#[test]
fn what_would_have_been_written_adds_up_behind_the_room() {
    let out = "\tret = simple_read_from_buffer(to, count, ppos, buf, len);";
    let over = "\tfor (p = h->first; p; p = p->next)\n";
    for wrong in [
        format!(
            "{over}\t\tlen += snprintf(buf + len, ROOM - len, \"%s %u\\n\", p->name, p->speed);\n{out}"
        ),
        format!(
            "{over}\t\tlen = len + snprintf(&buf[len], ROOM - len, \"%u\\n\", p->speed);\n{out}"
        ),
        format!(
            "{over}\t{{\n\t\tl = snprintf(buf + len, ROOM - len, \"%u\\n\", p->speed);\n\t\tlen += l;\n\t}}\n{out}"
        ),
        format!(
            "\tlen = snprintf(buf, ROOM, \"ports\\n\");\n\twhile (h->ports--)\n\
             \t\tlen += snprintf(buf + len, ROOM - len, \"%u\\n\", h->ports);\n\
             \tif (len < 0)\n\t\tgoto out;\n{out}\nout:"
        ),
        format!(
            "{over}\t\tlen += snprintf(buf + len, ROOM - len, \"%u\\n\", p->speed);\n\
             \tret = len;\n\tif (copy_to_user(to, buf, len))\n\t\tret = -EFAULT;"
        ),
        "\tend = buf;\n\tfor (p = h->first; p; p = p->next)\n\
         \t\tend += snprintf(end, ROOM - (end - buf), \"%s\\n\", p->name);\n\
         \tret = simple_read_from_buffer(to, count, ppos, buf, end - buf);"
            .to_owned(),
    ] {
        assert_eq!(said(&wrong), ["beyond-variable"], "{wrong}");
    }
    for right in [
        format!("{over}\t\tlen += scnprintf(buf + len, ROOM - len, \"%s\\n\", p->name);\n{out}"),
        format!(
            "{over}\t\tlen += snprintf(buf + len, ROOM - len, \"%s\\n\", p->name);\n\
             \tif (len >= ROOM)\n\t\tlen = ROOM - 1;\n{out}"
        ),
        format!(
            "{over}\t{{\n\t\tif (ROOM - len <= 0)\n\t\t\tbreak;\n\
             \t\tlen += snprintf(buf + len, ROOM - len, \"%s\\n\", p->name);\n\t}}\n\tlen = min(len, ROOM);\n{out}"
        ),
        format!(
            "{over}\t{{\n\t\tl = snprintf(buf + len, ROOM - len, \"%s\\n\", p->name);\n\
             \t\tif (l >= ROOM - len)\n\t\t\tbreak;\n\t\tlen += l;\n\t}}\n{out}"
        ),
        format!(
            "\tfor (i = 0; i < PORTS; i++)\n\
             \t\tlen += snprintf(buf + len, ROOM - len, \"%u\\n\", h->speeds[i]);\n{out}"
        ),
        format!(
            "\tfor (i = 0; i < ARRAY_SIZE(h->speeds); i++)\n\
             \t\tlen += snprintf(buf + len, ROOM - len, \"%u\\n\", h->speeds[i]);\n{out}"
        ),
        format!(
            "\tlen += snprintf(buf + len, ROOM - len, \"%u\\n\", h->ports);\n\
             \tlen += snprintf(buf + len, ROOM - len, \"%s\\n\", h->ports ? \"up\" : \"down\");\n{out}"
        ),
        format!(
            "\tsize_t all = 0;\n{over}\t\tall += strlen(p->name) + 1;\n{over}\
             \t\tlen += snprintf(buf + len, all + 1 - len, \"%s\\n\", p->name);\n{out}"
        ),
        format!(
            "\tsize_t all = h->ports * 64;\n{over}\
             \t\tlen += snprintf(buf + len, all - len, \"%u\\n\", p->speed);\n{out}"
        ),
        format!(
            "{over}\t\tlen += snprintf(buf + len, ROOM - len, \"%s\\n\", p->name);\n\
             \tret = simple_read_from_buffer(to, count, ppos, buf, min(len, ROOM));"
        ),
    ] {
        assert_eq!(said(&right), NONE, "{right}");
    }
}

/// What is said of a log that a function fills by these statements, and that a file shows.
fn shown(statements: &str) -> Vec<String> {
    rules(&format!(
        "{ROOM}static int log_port(struct hub *b, struct port *p)\n{{\n\tint room, l;\n\n\
         {statements}\n\treturn 0;\n}}\n\
         static ssize_t log_read(struct file *file, char __user *to, size_t count, loff_t *ppos)\n{{\n\
         \tstruct hub *h = file->private_data;\n\n\
         \treturn simple_read_from_buffer(to, count, ppos, h->log, h->used);\n}}\n"
    ))
}

#[test]
fn a_member_that_grows_by_what_would_have_been_written() {
    for wrong in [
        "\troom = b->room - b->used;\n\tif (room == 0)\n\t\treturn 1;\n\
         \tl = snprintf(b->log + b->used, room, \"%u\\n\", p->speed);\n\tb->used += l;",
        "\tb->used += snprintf(b->log + b->used, b->room - b->used, \"%s\\n\", p->name);",
    ] {
        assert_eq!(shown(wrong), ["beyond-variable"], "{wrong}");
    }
    for right in [
        "\troom = b->room - b->used;\n\tif (room == 0)\n\t\treturn 1;\n\
         \tl = snprintf(b->log + b->used, room, \"%u\\n\", p->speed);\n\tif (l < room)\n\t\tb->used += l;",
        "\tb->used += scnprintf(b->log + b->used, b->room - b->used, \"%s\\n\", p->name);",
        "\tif (b->used + 64 > b->room)\n\t\treturn 1;\n\
         \tb->used += snprintf(b->log + b->used, b->room - b->used, \"%u\\n\", p->speed);",
        "\tb->used = 0;\n\tb->used += snprintf(b->log + b->used, b->room - b->used, \"%u\\n\", p->speed);",
    ] {
        assert_eq!(shown(right), NONE, "{right}");
    }
}
