//! The accesses of a generated function: to what, of what, and what they fill.

use crate::choices::Choices;
use crate::function::Maker;

/// Which way the data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

/// What of the user's is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Object {
    /// A structure.
    P,
    /// A structure of two members.
    T,
    /// Elements.
    Q,
    /// Elements, with a pointer that moves.
    Moving,
    /// A local variable that points to the structure.
    R,
    /// A structure inside of the structure.
    Inner,
    /// The structure behind the first.
    Next,
    /// Bytes that are cast.
    Bytes,
    /// Two objects.
    Mixed,
}

impl Object {
    pub(crate) fn chosen(choices: &mut Choices) -> Self {
        let all = [
            (44, Self::P),
            (13, Self::T),
            (10, Self::Q),
            (5, Self::Moving),
            (7, Self::R),
            (8, Self::Inner),
            (3, Self::Next),
            (3, Self::Bytes),
            (7, Self::Mixed),
        ];
        choices.weighted(&all).unwrap_or(Self::P)
    }

    /// The parameter that it is reached from.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::T => "t",
            Self::Q | Self::Moving | Self::Bytes => "q",
            Self::R => "r",
            _ => "p",
        }
    }
}

/// One access to be.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// The address as C.
    pub(crate) address: String,
    pub(crate) direction: Direction,
    /// Whether the range has been checked.
    pub(crate) unchecked: bool,
}

impl Site {
    fn new(address: String) -> Self {
        Self {
            address,
            direction: Direction::Read,
            unchecked: false,
        }
    }
}

/// The members of the structure in the order of their addresses.
const MEMBERS: [&str; 9] = ["a", "b", "c", "in.x", "in.y", "d", "w[0]", "w[1]", "last"];

impl Maker<'_> {
    /// Two to five addresses in the object.
    pub(crate) fn addresses(&mut self, object: Object) -> Vec<Site> {
        match object {
            Object::P => self.members("p"),
            Object::Next => self.next(),
            Object::R => {
                let value = self
                    .choices
                    .word(&["struct s __user *r = p;", "struct s __user *r = p + 1;"]);
                self.locals.entry("r").or_insert_with(|| value.to_owned());
                self.members("r")
            }
            Object::T => self.pair("t->x", "t->y"),
            Object::Inner => self.pair("p->in.x", "p->in.y"),
            Object::Q => self.elements(),
            Object::Moving => (0..2 + self.choices.below(2))
                .map(|_| Site::new("q++".to_owned()))
                .collect(),
            Object::Bytes => {
                let second = self.choices.word(&[
                    "(u32 __user *)(q + 1)",
                    "(u32 __user *)q + 1",
                    "(u16 __user *)q",
                ]);
                ["(u32 __user *)q".to_owned(), second.to_owned()]
                    .map(Site::new)
                    .into()
            }
            Object::Mixed => {
                let mut all = self.members("p");
                all.extend(self.pair("t->x", "t->y"));
                all
            }
        }
    }

    fn pair(&mut self, first: &str, second: &str) -> Vec<Site> {
        let mut all = [first, second]
            .map(|place| Site::new(format!("&{place}")))
            .to_vec();
        if self.choices.chance(10) {
            all.reverse();
        }
        all
    }

    fn members(&mut self, pointer: &str) -> Vec<Site> {
        if self.choices.chance(6) {
            return MEMBERS
                .iter()
                .map(|member| Site::new(format!("&{pointer}->{member}")))
                .collect();
        }
        let count = 2 + self.choices.below(4);
        let mut places: Vec<usize> = (0..count)
            .map(|_| self.choices.below(MEMBERS.len()))
            .collect();
        if !self.choices.chance(20) {
            places.sort_unstable();
        }
        if !self.choices.chance(10) {
            places.dedup();
        }
        if places.len() < 2 {
            places = vec![0, 1];
        }
        let tied = self.choices.chance(8);
        let address = |at: usize| {
            let member = MEMBERS.get(at).copied().unwrap_or("a");
            if tied {
                format!("&({pointer}->{member})")
            } else {
                format!("&{pointer}->{member}")
            }
        };
        places
            .into_iter()
            .map(|at| Site::new(address(at)))
            .collect()
    }

    fn next(&mut self) -> Vec<Site> {
        let index = self.choices.word(&["1", "0", "n & 1"]);
        let members = ["a", "in.x", "d"];
        members
            .iter()
            .map(|member| Site::new(format!("&p[{index}].{member}")))
            .collect()
    }

    fn elements(&mut self) -> Vec<Site> {
        let forms = [
            "q, q + 1, q + 2",
            "&q[0], &q[1], &q[2]",
            "q, q, q",
            "&q[n & 1], &q[2], &q[3]",
            "q + 1, q + 3, q + 3",
            "&q[2], &q[1], &q[0]",
        ];
        let form = self.choices.word(&forms);
        let count = 2 + self.choices.below(2);
        form.split(", ")
            .take(count)
            .map(|place| Site::new(place.to_owned()))
            .collect()
    }

    /// The call of an access; `guarded` where a condition says that `o` is not
    /// NULL.
    pub(crate) fn access(&mut self, site: &Site, guarded: bool) -> String {
        let prefix = if site.unchecked { "__" } else { "" };
        let (call, value) = match site.direction {
            Direction::Read => ("get_user", self.filled(guarded)),
            Direction::Write => ("put_user", self.stored(guarded)),
        };
        format!("{prefix}{call}({value}, {})", site.address)
    }

    /// What a read fills.
    fn filled(&mut self, guarded: bool) -> String {
        if guarded && self.choices.chance(70) {
            return self.choices.word(&["*o", "o[1]"]).to_owned();
        }
        if self.owns && self.choices.chance(40) {
            return self.choices.word(&["m->a", "m->b", "m->in.y"]).to_owned();
        }
        let kinds = [
            (44, 0),
            (22, 1),
            (6, 2),
            (5, 3),
            (6, 4),
            (6, 5),
            (3, 6),
            (2, 7),
            (2, 8),
            (1, 9),
            (3, 10),
        ];
        match self.choices.weighted(&kinds).unwrap_or(0) {
            0 => self.variable().to_owned(),
            1 => self
                .choices
                .word(&[
                    "k->a", "k->b", "k->c", "k->in.x", "k->d", "k->w[1]", "k->last",
                ])
                .to_owned(),
            2 => self.of("v", "struct inner v;", &["v.x", "v.y"]),
            3 => self.of("all", "u32 all[2];", &["all[0]", "all[1]"]),
            4 => self.pointed(),
            5 => self
                .choices
                .word(&["shared.a", "shared.in.x", "counter"])
                .to_owned(),
            6 => "*o".to_owned(),
            7 => self.of("all", "u32 all[2];", &["all[n & 1]"]),
            8 => "*(u32 *)&k->w[1]".to_owned(),
            9 => self.error(false).to_owned(),
            _ => "n".to_owned(),
        }
    }

    fn of(&mut self, name: &'static str, declaration: &str, places: &[&'static str]) -> String {
        self.locals
            .entry(name)
            .or_insert_with(|| declaration.to_owned());
        self.choices.word(places).to_owned()
    }

    /// Through a local pointer, which may point to another local.
    fn pointed(&mut self) -> String {
        if !self.locals.contains_key("u") {
            let to = self
                .choices
                .word(&["&k->b", "o", "&a", "&shared.b", "&k->in.y"]);
            if to == "&a" {
                self.declare("a");
            }
            self.locals.insert("u", format!("u32 *u = {to};"));
        }
        "*u".to_owned()
    }

    /// What a write stores.
    fn stored(&mut self, guarded: bool) -> String {
        if guarded && self.choices.chance(70) {
            return self.choices.word(&["*o", "o[1] + 1"]).to_owned();
        }
        if self.owns && self.choices.chance(40) {
            return self.choices.word(&["m->a", "m->b", "m->in.y"]).to_owned();
        }
        let fixed = [
            "k->a",
            "k->b",
            "k->in.x ^ n",
            "n",
            "0",
            "7",
            "k->a + 1",
            "(u32)k->c",
            "shared.a",
            "k->w[1]",
            "n ? k->a : k->b",
            "lower_32_bits(k->c)",
            "cpu_to_le32(k->last)",
            "sizeof(*k)",
            "counter",
            "k->d",
        ];
        let kinds = [(60, 0), (28, 1), (1, 2), (2, 3), (1, 4), (3, 5), (5, 6)];
        match self.choices.weighted(&kinds).unwrap_or(0) {
            1 => {
                let name = self.variable();
                // Nothing may have filled it: it holds something all the same.
                self.locals.entry(name).and_modify(|line| {
                    if !line.contains('=') {
                        *line = line.replace(';', " = 5;");
                    }
                });
                name.to_owned()
            }
            2 => "trace(3)".to_owned(),
            3 => self.of(
                "all",
                "u32 all[2] = { 1, 2 };",
                &["all[0]", "all[1]", "all[n & 1]"],
            ),
            4 => {
                self.declare("e");
                "e++".to_owned()
            }
            5 => "*o".to_owned(),
            6 => self.error(false).to_owned(),
            _ => self.choices.word(&fixed).to_owned(),
        }
    }
}
