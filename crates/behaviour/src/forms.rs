//! How the accesses of a generated function follow each other, and what they
//! hang on.

use crate::accesses::{Direction, Site};
use crate::function::{Maker, Returns, block, branch, indented, lines};

/// How accesses are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    OrChain,
    Sequential,
    Assigned,
    ErrOr,
    BitOr,
    Elvis,
    NoError,
    Settled,
    NoFault,
    Returned,
    Bare,
    Odd,
    Copies,
    Mixed,
}

impl Maker<'_> {
    /// Accesses in some form, and what is around them.
    pub(crate) fn segment(&mut self, last: bool) -> Vec<String> {
        let around = [
            (62, 0),
            (10, 1),
            (9, 2),
            (4, 3),
            (4, 4),
            (4, 5),
            (3, 6),
            (4, 7),
        ];
        let around = self.choices.weighted(&around).unwrap_or(0);
        let loops = matches!(around, 2 | 3);
        self.loops += usize::from(loops);
        let mut inside = self.form(last && around == 0);
        self.loops -= usize::from(loops);
        let (condition, _) = self.condition();
        match around {
            1 => {
                if self.choices.chance(15) {
                    // A variable that hides the function's.
                    self.declare("a");
                    inside.splice(0..0, lines(&["u32 a = n;", "", "trace(a);"]));
                }
                block(&format!("if ({condition})"), &inside)
            }
            2 => {
                self.locals.insert("i", "unsigned int i;".to_owned());
                block("for (i = 0; i < (n & 3); i++)", &inside)
            }
            3 => {
                self.locals.insert("left", "int left = 2;".to_owned());
                block("while (left-- > 0)", &inside)
            }
            4 => {
                let mut all = block(&format!("if ({condition})"), &inside);
                let other = self.filler();
                all.pop();
                all.extend(block("} else", &other));
                all
            }
            5 => block("switch (n & 1)", &self.cases(inside)),
            6 => block("scoped_guard(mutex, k)", &inside),
            7 => {
                let mut all = lines(&["#ifdef CONFIG_64BIT"]);
                all.extend(inside);
                if self.choices.chance(60) {
                    all.push("#else".to_owned());
                    all.extend(self.filler());
                }
                all.push("#endif".to_owned());
                all
            }
            _ => inside,
        }
    }

    fn cases(&mut self, mut inside: Vec<String>) -> Vec<String> {
        inside.push("break;".to_owned());
        let mut all = lines(&["case 1:"]);
        all.extend(indented(&inside));
        all.push("default:".to_owned());
        all.push("\tcounter++;".to_owned());
        all
    }

    fn form(&mut self, last: bool) -> Vec<String> {
        let forms = [
            (30, Form::OrChain),
            (20, Form::Sequential),
            (12, Form::Assigned),
            (7, Form::ErrOr),
            (3, Form::BitOr),
            (3, Form::Elvis),
            (5, Form::NoError),
            (4, Form::Settled),
            (3, Form::NoFault),
            (6, Form::Returned),
            (1, Form::Bare),
            (4, Form::Odd),
            (5, Form::Copies),
            (8, Form::Mixed),
        ];
        let form = self.choices.weighted(&forms).unwrap_or(Form::OrChain);
        let sites = self.sites();
        match form {
            Form::Returned if last && self.returns == Returns::Int => self.returned(&sites),
            Form::OrChain | Form::Returned => self.or_chain(&sites),
            Form::Sequential => self.sequential(&sites),
            Form::Assigned => self.assigned(&sites),
            Form::ErrOr => self.err_or(&sites),
            Form::BitOr => {
                let chain = self.joined(&sites, " | ");
                let exit = self.exit();
                branch(&chain, &exit)
            }
            Form::Elvis => self.elvis(&sites),
            Form::NoError => self.no_error(&sites),
            Form::Settled => self.settled(&sites),
            Form::NoFault => self.no_fault(&sites),
            Form::Bare => self
                .each(&sites)
                .into_iter()
                .map(|access| access + ";")
                .collect(),
            Form::Odd => self.odd(&sites),
            Form::Copies => self.copies(),
            Form::Mixed => self.mixed(&sites),
        }
    }

    /// The first accesses in one form and the others in another, with one way out
    /// for all of them, and now and then a variable of their own for the results.
    fn mixed(&mut self, sites: &[Site]) -> Vec<String> {
        let exit = self.exit();
        self.way_out = Some(exit);
        let (first, rest) = sites.split_at(1 + self.choices.below(sites.len() - 1));
        let mut all = self.simple(first);
        all.extend(self.between());
        let err = self.err;
        if self.choices.chance(40) {
            self.err = "late";
        }
        all.extend(self.simple(rest));
        self.err = err;
        self.way_out = None;
        all
    }

    fn simple(&mut self, sites: &[Site]) -> Vec<String> {
        match self.choices.below(5) {
            0 | 1 => self.assigned(sites),
            2 => self.sequential(sites),
            3 => self.err_or(sites),
            _ => self.or_chain(sites),
        }
    }

    fn each(&mut self, sites: &[Site]) -> Vec<String> {
        sites.iter().map(|site| self.access(site, false)).collect()
    }

    fn joined(&mut self, sites: &[Site], with: &str) -> String {
        self.each(sites).join(with)
    }

    /// `a || b || c`, with what may be asked before and behind.
    fn or_chain(&mut self, sites: &[Site]) -> Vec<String> {
        let mut operands = Vec::new();
        let mut guarded = false;
        if self.choices.chance(14) {
            let (operand, _) = self.operand();
            guarded = operand == "!o";
            operands.push(operand);
        }
        let checks = self.choices.chance(12);
        let object = sites
            .first()
            .and_then(|site| site.address.strip_prefix("&p->"));
        if checks && object.is_some() && !sites.iter().any(|site| site.address.contains("t->")) {
            operands.push("!access_ok(p, sizeof(*p))".to_owned());
            let unchecked = |site: &Site| Site {
                unchecked: true,
                ..site.clone()
            };
            let sites: Vec<Site> = sites.iter().map(unchecked).collect();
            operands.extend(sites.iter().map(|site| self.tested(site, guarded)));
        } else {
            operands.extend(sites.iter().map(|site| self.tested(site, guarded)));
        }
        if self.choices.chance(8) {
            operands.push(self.operand().0);
        }
        let chain = operands.join(" ||\n    ");
        let chain = match self.choices.below(12) {
            11 => format!("unlikely({chain})"),
            10 => operands.join(" || "),
            _ => chain,
        };
        let exit = self.exit();
        branch(&chain, &exit)
    }

    /// An access as an operand, with a test that says nothing new now and then.
    fn tested(&mut self, site: &Site, guarded: bool) -> String {
        let access = self.access(site, guarded);
        match self.choices.below(24) {
            23 => format!("{access} < 0"),
            22 => format!("{access} != 0"),
            21 => format!("({access})"),
            _ => access,
        }
    }

    /// One `if` for each.
    fn sequential(&mut self, sites: &[Site]) -> Vec<String> {
        let exit = self.exit();
        let mut all = Vec::new();
        for (at, site) in sites.iter().enumerate() {
            let own = self.choices.chance(5).then(|| self.exit());
            let (asked, guards) = if self.choices.chance(18) {
                self.operand()
            } else {
                (String::new(), false)
            };
            let access = self.tested(site, guards);
            let condition = if asked.is_empty() {
                access
            } else {
                format!("{asked} && {access}")
            };
            all.extend(branch(&condition, own.as_ref().unwrap_or(&exit)));
            if at + 1 < sites.len() {
                all.extend(self.between());
            }
        }
        all
    }

    /// What stands between two accesses, mostly nothing.
    fn between(&mut self) -> Vec<String> {
        if self.choices.chance(72) {
            return Vec::new();
        }
        let name = self.variable();
        match self.choices.below(8) {
            0 => lines(&["/* And the next. */"]),
            1 => vec![format!("k->b = {name};")],
            2 => vec![format!("{name} = n + 1;")],
            3 => branch("n > 3", &[format!("{name} = 1;")]),
            4 | 5 => {
                let (condition, _) = self.condition();
                let exit = self.leaving();
                branch(&condition, &exit)
            }
            6 => self.filler(),
            _ => vec![String::new()],
        }
    }

    /// `err = a; if (err) exit` for each.
    fn assigned(&mut self, sites: &[Site]) -> Vec<String> {
        let err = self.error(false);
        let exit = self.result_exit(err);
        let test = match self.choices.below(8) {
            6 => format!("unlikely({err})"),
            7 => format!("{err} < 0"),
            _ => err.to_owned(),
        };
        let mut all = Vec::new();
        for (at, site) in sites.iter().enumerate() {
            let access = self.access(site, false);
            all.push(format!("{err} = {access};"));
            all.extend(branch(&test, &exit));
            if at + 1 < sites.len() {
                all.extend(self.between());
            }
        }
        all
    }

    /// A way out where the variable holds the result.
    fn result_exit(&mut self, err: &'static str) -> Vec<String> {
        if self.way_out.is_some() {
            return self.exit();
        }
        match self.returns {
            Returns::Int | Returns::Long if self.choices.chance(60) => {
                vec![format!("return {err};")]
            }
            _ => self.exit(),
        }
    }

    /// `err |= a;` for each, and a test behind them.
    fn err_or(&mut self, sites: &[Site]) -> Vec<String> {
        let fresh = self.choices.chance(60);
        let err = self.error(!fresh);
        let accesses = self.each(sites);
        let mut all = Vec::new();
        match self.choices.below(4) {
            0 => all.push(format!("{err} = {};", accesses.join(" | "))),
            _ => {
                for (at, access) in accesses.iter().enumerate() {
                    let joint = if fresh && at == 0 { "=" } else { "|=" };
                    all.push(format!("{err} {joint} {access};"));
                }
            }
        }
        if self.choices.chance(85) {
            let exit = self.result_exit(err);
            all.extend(branch(err, &exit));
        }
        all
    }

    fn elvis(&mut self, sites: &[Site]) -> Vec<String> {
        let fresh = self.choices.chance(70);
        let err = self.error(!fresh);
        let accesses = self.each(sites);
        if fresh && self.choices.chance(40) {
            let mut all = vec![format!("{err} = {};", accesses.join(" ?: "))];
            let exit = self.result_exit(err);
            all.extend(branch(err, &exit));
            return all;
        }
        let mut all: Vec<String> = accesses
            .iter()
            .map(|access| format!("{err} = {err} ?: {access};"))
            .collect();
        if fresh && let (Some(first), Some(access)) = (all.first_mut(), accesses.first()) {
            *first = format!("{err} = {access};");
        }
        if self.choices.chance(80) {
            let exit = self.result_exit(err);
            all.extend(branch(err, &exit));
        }
        all
    }

    /// `err = a; if (!err) err = b;`
    fn no_error(&mut self, sites: &[Site]) -> Vec<String> {
        let err = self.error(false);
        let mut all = Vec::new();
        for (at, access) in self.each(sites).into_iter().enumerate() {
            let line = format!("{err} = {access};");
            if at == 0 {
                all.push(line);
            } else {
                all.extend(branch(&format!("!{err}"), &[line]));
            }
        }
        if self.choices.chance(50) {
            let exit = self.result_exit(err);
            all.extend(branch(err, &exit));
        }
        all
    }

    /// `if (a || b) err = -EFAULT;`, and the function goes on.
    fn settled(&mut self, sites: &[Site]) -> Vec<String> {
        let err = self.error(true);
        let chain = self.joined(sites, " || ");
        let before = self.choices.word(&["", "0", "1"]);
        let value = self.choices.word(&["-EFAULT", "0", "-EIO"]);
        let mut all = Vec::new();
        if !before.is_empty() {
            all.push(format!("{err} = {before};"));
        }
        all.extend(branch(&chain, &[format!("{err} = {value};")]));
        all
    }

    /// `if (!a && !b) …`
    fn no_fault(&mut self, sites: &[Site]) -> Vec<String> {
        let accesses: Vec<String> = self
            .each(sites)
            .into_iter()
            .map(|access| format!("!{access}"))
            .collect();
        let done = self.filler();
        let done = if done.iter().all(String::is_empty) {
            lines(&["counter += 2;"])
        } else {
            done
        };
        block(&format!("if ({})", accesses.join(" && ")), &done)
    }

    /// `return a || b ? -EFAULT : 0;` and the like.
    fn returned(&mut self, sites: &[Site]) -> Vec<String> {
        let accesses = self.each(sites);
        let or = accesses.join(" ||\n\t");
        match self.choices.below(5) {
            0 => vec![format!("return {or} ? -EFAULT : 0;")],
            1 => vec![format!("return ({or}) ? -EFAULT : 0;")],
            2 => vec![format!("return {};", accesses.join(" | "))],
            3 => vec![format!("return {};", accesses.join(" ?: "))],
            _ => {
                let mut all = Vec::new();
                let Some((last, rest)) = accesses.split_last() else {
                    return all;
                };
                for access in rest {
                    all.extend(branch(access, &lines(&["return -EFAULT;"])));
                }
                all.push(format!("return {last};"));
                all
            }
        }
    }

    /// Accesses that hang on each other and on conditions in other ways.
    fn odd(&mut self, sites: &[Site]) -> Vec<String> {
        let (asked, guards) = self.operand();
        let mut accesses: Vec<String> = Vec::new();
        for (at, site) in sites.iter().enumerate() {
            accesses.push(self.access(site, guards && at == 0));
        }
        let (first, rest) = match accesses.split_first() {
            Some((first, rest)) => (first.clone(), rest.join(" || ")),
            None => return Vec::new(),
        };
        let condition = match self.choices.below(8) {
            0 => format!("({asked} && {first}) || {rest}"),
            1 => format!("{asked} && ({first} || {rest})"),
            2 => format!("{rest} || ({asked} && {first})"),
            3 => format!("{asked} ? {first} : {rest}"),
            4 => format!("!({first}) && ({rest})"),
            5 => format!("{first} && ({rest})"),
            6 => {
                self.macros
                    .insert("#define FETCH(x, address) get_user(x, address)");
                self.declare("a");
                format!("FETCH(a, &p->a) || FETCH(k->b, &p->b) || {first}")
            }
            _ => {
                self.macros
                    .insert("#define BOTH(x, y) (put_user(x, &p->a) || put_user(y, &p->b))");
                format!("BOTH(n, k->b) || {first}")
            }
        };
        let exit = self.exit();
        branch(&condition, &exit)
    }

    /// A copy of a size that is known at run time, and one that is not.
    fn copies(&mut self) -> Vec<String> {
        let size = self.choices.word(&[
            "n",
            "n * sizeof(*q)",
            "n + 3",
            "n == 1 ? 4 : 8",
            "sizeof(*t)",
            "8 * n",
        ]);
        let call = match self.choices.below(4) {
            0 => format!("copy_from_user(k, p, {size})"),
            1 => format!("copy_to_user(p, k, {size})"),
            2 => format!("copy_from_user(&k->in, q, {size})"),
            _ => format!("copy_to_user(q, (const char *)k + 1, {size})"),
        };
        let exit = self.exit();
        match self.choices.below(3) {
            0 => {
                self.declare("wide");
                let mut all = vec![format!("wide = {call};")];
                all.extend(branch("wide", &exit));
                all
            }
            1 => {
                let site = Site {
                    address: "&p->last".to_owned(),
                    direction: Direction::Write,
                    unchecked: false,
                };
                let access = self.access(&site, false);
                branch(&format!("{call} || {access}"), &exit)
            }
            _ => branch(&call, &exit),
        }
    }
}
