use proptest::prelude::*;

use super::*;

const EVENTS: &str = "epoll_wait - front=8 behind=24 size=24 each=12 events=0+4 data=4+8";
const USAGE: &str =
    "waitid rusage/ front=8 behind=16 size=16 a=0+4 b=8+8 also=12 si_signo=4+4 si_code=8+2";

fn places(layout: &str, bytes: &[usize]) -> Vec<String> {
    let layout = Layout::parse(layout).unwrap();
    let place = |byte: &usize| format!("{:?}", layout.place(*byte));
    bytes.iter().map(place).collect()
}

#[test]
fn a_byte_lies_in_a_member_of_an_element() {
    insta::assert_snapshot!(
        places(EVENTS, &[0, 7, 8, 11, 12, 19, 20, 24, 31, 32, 55, 56]).join("\n")
    );
}

#[test]
fn a_byte_between_members_is_padding_and_one_of_the_other_buffer_is_said_so() {
    insta::assert_snapshot!(
        places(USAGE, &[8, 12, 16, 23, 24, 39, 40, 44, 48, 50, 51, 52]).join("\n")
    );
}

#[test]
fn mere_bytes_have_their_number() {
    let plain = "pipe read/ front=8 behind=16 size=8 also=8";
    insta::assert_snapshot!(places(plain, &[7, 8, 15, 16, 32, 39, 40]).join("\n"));
    let layout = Layout::parse(plain).unwrap();
    assert_eq!(layout.shown(), 40);
}

#[test]
fn a_point_has_the_layout_of_the_longest_prefix() {
    let of = |prefix: &str| {
        let line = format!("select {prefix} front=8 behind=16 size=8");
        Layout::parse(&line).unwrap()
    };
    let all = [of("-"), of("timeout/"), of("time")];
    let found = |sweep, point| Layout::of(&all, sweep, point).map(|one| one.prefix.as_str());
    assert_eq!(found("select", "end/3"), Some(""));
    assert_eq!(found("select", "timeout/end/3"), Some("timeout/"));
    assert_eq!(found("poll", "end/3"), None);
    assert_eq!(Layout::of(&all[1..], "select", "end/3"), None);
}

#[test]
fn what_is_no_layout_is_none() {
    let edits = [
        ("epoll_wait", ""),
        (" - ", "  "),
        (" - ", " "),
        ("front=8 ", ""),
        ("front=8", "front=-8"),
        ("front=8", "front=65536"),
        ("front=8 behind=24", "behind=24 front=8"),
        ("each=12", "each=0"),
        ("each=12", "each=13"),
        ("each=12", "each=11"),
        ("events=0+4", "events=0"),
        ("events=0+4", "=0+4"),
        ("events=0+4", "events=0+0"),
        ("events=0+4", "events=0+5"),
        ("events=0+4", "events=4+4"),
        ("events=0+4", "ev[ents=0+4"),
        ("data=4+8", "data=4+9"),
        ("data=4+8", "data=65535+65535"),
        ("data=4+8", "data=4+8+1"),
        ("data=4+8", "data=4+8 "),
        ("data=4+8", "data=4+8 also="),
        ("data=4+8", "data=4+8 also=4 x=2+3"),
        ("data=4+8", "data=4+8 also=4 also=4"),
        ("data=4+8", "data=4+8 more"),
    ];
    assert!(Layout::parse(EVENTS).is_some() && Layout::parse(USAGE).is_some());
    for (from, to) in edits {
        let line = EVENTS.replacen(from, to, 1);
        assert_ne!(line, EVENTS);
        assert_eq!(Layout::parse(&line), None, "{line}");
    }
}

proptest! {
    /// Whatever a saved result says, each byte that is shown has a place, and no other.
    #[test]
    fn each_byte_that_is_shown_has_a_place(
        front in 0..9_u16, behind in 0..9_u16, size in 0..40_u16, each in prop::option::of(0..9_u16),
        fields in prop::collection::vec((0..40_u16, any::<u16>()), 0..4), also in any::<bool>(),
    ) {
        let field = |(offset, size)| Field { name: "x".to_owned(), offset, size };
        let fields: Vec<Field> = fields.into_iter().map(field).collect();
        let buffer = Shape { size, each, fields };
        let layout = Layout {
            sweep: String::new(),
            prefix: String::new(),
            front,
            behind,
            also: also.then(|| buffer.clone()),
            buffer,
        };
        for byte in 0..layout.shown() + 3 {
            prop_assert_eq!(layout.place(byte).is_some(), byte < layout.shown());
        }
    }

    #[test]
    fn any_line_is_read_or_refused(line in "([a-z]{1,4}|-)( (front|behind|size|each|also|x)=[0-9]{0,6}(\\+[0-9]{0,6})?){0,7}") {
        if let Some(layout) = Layout::parse(&line) {
            prop_assert!(layout.buffer.fits());
        }
    }
}
