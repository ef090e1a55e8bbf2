//! Conditions over the options of a configuration: of Kbuild files, of Kconfig's
//! `depends on`, of `#if`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::given;

/// How deep an expression may nest that is read.
const DEEPEST: usize = 64;

/// When something is compiled.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    /// Always.
    Yes,
    /// Never.
    No,
    /// Where the words hold, which no configuration tells.
    Unknown(String),
    /// Where the option is `y` or `m`; without `CONFIG_`.
    Option(String),
    /// Where the other does not hold.
    Not(Box<Condition>),
    /// Where all hold.
    All(Vec<Condition>),
    /// Where one holds.
    Any(Vec<Condition>),
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Truth {
    /// It does not.
    No,
    /// The configuration does not tell.
    Maybe,
    /// It does.
    Yes,
}

impl Truth {
    fn of(is: bool) -> Self {
        match is {
            true => Self::Yes,
            false => Self::No,
        }
    }

    fn not(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Maybe => Self::Maybe,
            Self::Yes => Self::No,
        }
    }
}

/// The options of a `.config`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config(BTreeMap<String, String>);

impl Config {
    /// Reads a `.config`: the options that are on or have a value.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let line = |line: &str| {
            let (name, value) = line.strip_prefix("CONFIG_")?.split_once('=')?;
            Some((name.to_owned(), value.trim().to_owned()))
        };
        Self(text.lines().filter_map(line).collect())
    }

    /// Whether an option is `y` or `m`.
    #[must_use]
    pub fn is_on(&self, option: &str) -> bool {
        self.0
            .get(option)
            .is_some_and(|value| value == "y" || value == "m")
    }

    /// The value of an option; none where it is off or not there.
    #[must_use]
    pub fn value(&self, option: &str) -> Option<&str> {
        self.0.get(option).map(String::as_str)
    }

    /// The options that are on, or have a value, in one of both only or in both
    /// another: of one that is off it makes no difference whether it is named.
    #[must_use]
    pub fn differing(&self, other: &Self) -> BTreeSet<String> {
        let names = self.0.keys().chain(other.0.keys());
        let differs = |name: &&String| self.value(name) != other.value(name);
        names.filter(differs).cloned().collect()
    }

    /// What a fragment asks for and the configuration does not have, line by line.
    #[must_use]
    pub fn lacks(&self, fragment: &str) -> Vec<String> {
        let off = |line: &str| {
            let name = line
                .strip_prefix("# CONFIG_")?
                .strip_suffix(" is not set")?;
            Some(self.is_on(name))
        };
        let on = |line: &str| {
            let (name, value) = line.strip_prefix("CONFIG_")?.split_once('=')?;
            Some(match value {
                "y" | "m" => !self.is_on(name),
                "n" => self.is_on(name),
                value => self.value(name) != Some(value),
            })
        };
        let lines = fragment.lines().map(str::trim);
        lines
            .filter(|line| off(line).or_else(|| on(line)) == Some(true))
            .map(str::to_owned)
            .collect()
    }
}

impl Condition {
    /// That an option is on.
    #[must_use]
    pub fn option(name: &str) -> Self {
        Self::Option(name.to_owned())
    }

    /// That it does not hold.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
            Self::Not(inner) => *inner,
            other => Self::Not(Box::new(other)),
        }
    }

    /// That both hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Yes, other) | (other, Self::Yes) => other,
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::All(mut all), Self::All(more)) => {
                all.extend(more);
                Self::All(all)
            }
            (Self::All(mut all), other) => {
                all.push(other);
                Self::All(all)
            }
            (one, Self::All(mut all)) => {
                all.insert(0, one);
                Self::All(all)
            }
            (one, other) => Self::All(vec![one, other]),
        }
    }

    /// That one of them holds.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, other) | (other, Self::No) => other,
            (Self::Yes, _) | (_, Self::Yes) => Self::Yes,
            (Self::Any(mut any), other) => {
                any.push(other);
                Self::Any(any)
            }
            (one, Self::Any(mut any)) => {
                any.insert(0, one);
                Self::Any(any)
            }
            (one, other) => Self::Any(vec![one, other]),
        }
    }

    /// Whether it holds in a configuration.
    #[must_use]
    pub fn truth(&self, config: &Config) -> Truth {
        match self {
            Self::Yes => Truth::Yes,
            Self::No => Truth::No,
            Self::Unknown(_) => Truth::Maybe,
            Self::Option(name) => Truth::of(config.is_on(name)),
            Self::Not(inner) => inner.truth(config).not(),
            Self::All(all) => all
                .iter()
                .map(|one| one.truth(config))
                .min()
                .unwrap_or(Truth::Yes),
            Self::Any(any) => any
                .iter()
                .map(|one| one.truth(config))
                .max()
                .unwrap_or(Truth::No),
        }
    }

    /// The options that it names.
    #[must_use]
    pub fn options(&self) -> BTreeSet<&str> {
        match self {
            Self::Yes | Self::No | Self::Unknown(_) => BTreeSet::new(),
            Self::Option(name) => BTreeSet::from([name.as_str()]),
            Self::Not(inner) => inner.options(),
            Self::All(some) | Self::Any(some) => {
                some.iter().flat_map(|one| one.options()).collect()
            }
        }
    }

    /// What has to be set in `config` for it to hold, or not to: options with their
    /// wanted value; none where no options make it so.
    #[must_use]
    pub fn wants(&self, holds: bool, config: &Config) -> Option<BTreeMap<String, bool>> {
        let wanted = Truth::of(holds);
        if self.truth(config) == wanted {
            return Some(BTreeMap::new());
        }
        match (self, holds) {
            (Self::Yes | Self::No, _) => None,
            (Self::Unknown(_), _) => Some(BTreeMap::new()),
            (Self::Option(name), holds) => Some(BTreeMap::from([(name.clone(), holds)])),
            (Self::Not(inner), holds) => inner.wants(!holds, config),
            (Self::All(some), true) | (Self::Any(some), false) => {
                let each = some.iter().map(|one| one.wants(holds, config));
                let each: Option<Vec<_>> = each.collect();
                Some(each?.into_iter().flatten().collect())
            }
            (Self::All(some), false) | (Self::Any(some), true) => {
                let each = some.iter().filter_map(|one| one.wants(holds, config));
                each.min_by_key(BTreeMap::len)
            }
        }
    }

    /// The same without what no configuration tells, which is taken to hold.
    #[must_use]
    pub fn told(self) -> Self {
        match self {
            Self::Unknown(_) => Self::Yes,
            Self::Not(inner) if matches!(*inner, Self::Unknown(_)) => Self::Yes,
            Self::All(all) => all.into_iter().map(Self::told).fold(Self::Yes, Self::and),
            other => other,
        }
    }

    /// Reads the expression of an `#if` or `#elif`.
    #[must_use]
    pub fn of_directive(text: &str) -> Self {
        Reader::new(text, Language::C).whole()
    }

    /// Reads an expression of Kconfig, `A && !B || C != n`.
    #[must_use]
    pub fn of_kconfig(text: &str) -> Self {
        Reader::new(text, Language::Kconfig).whole()
    }

    /// That a name of the preprocessor is defined.
    #[must_use]
    pub fn defined(name: &str) -> Self {
        match name {
            name if name.starts_with("CONFIG_") => {
                option_of_word(name).map_or(Self::No, Self::Option)
            }
            name => match given::defined(name) {
                Some(means) => Self::of_kconfig(means),
                None => Self::Unknown(format!("defined({name})")),
            },
        }
    }
}

/// The options that a directive asks for, without `CONFIG_`: of `#if` and its like, and
/// of what a `#define` puts in a name's place.
#[must_use]
pub fn options_of_directive(text: &str) -> Vec<String> {
    let all = words(text);
    let asks = all.iter().find(|word| !word.starts_with('#')).copied();
    if !matches!(
        asks,
        Some("if" | "ifdef" | "ifndef" | "elif" | "elifdef" | "elifndef" | "define")
    ) {
        return Vec::new();
    }
    let numbered = all.iter().enumerate();
    // A name that is put together is none yet.
    let whole =
        numbered.filter(|(at, _)| !all.get(at + 1).is_some_and(|next| next.starts_with('#')));
    whole.filter_map(|(_, word)| option_of_word(word)).collect()
}

/// The options that an expression of Kconfig, or what is behind a property's first word,
/// names.
pub(crate) fn options_of_kconfig(text: &str) -> Vec<String> {
    let code = words(text).into_iter().take_while(|word| *word != "#");
    let is_name = |word: &&str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_constant = matches!(*word, "y" | "m" | "n" | "if" | "on") || number(word).is_some();
        word.chars().all(is_plain) && !is_constant
    };
    code.filter(is_name).map(str::to_owned).collect()
}

/// `CONFIG_X_MODULE` → `X`.
#[must_use]
pub fn option_of_word(word: &str) -> Option<String> {
    let option = word
        .strip_prefix("CONFIG_")
        .filter(|name| !name.is_empty())?;
    Some(option.strip_suffix("_MODULE").unwrap_or(option).to_owned())
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed = |f: &mut fmt::Formatter<'_>, some: &[Self], between: &str| {
            for (index, one) in some.iter().enumerate() {
                if index > 0 {
                    f.write_str(between)?;
                }
                match one {
                    Self::All(_) | Self::Any(_) => write!(f, "({one})")?,
                    one => write!(f, "{one}")?,
                }
            }
            Ok(())
        };
        match self {
            Self::Yes => f.write_str("always"),
            Self::No => f.write_str("never"),
            // `#if` and nothing behind it.
            Self::Unknown(words) if words.is_empty() => f.write_str("a condition that is missing"),
            Self::Unknown(words) => f.write_str(words),
            Self::Option(name) => write!(f, "CONFIG_{name}"),
            Self::Not(inner) => match &**inner {
                Self::All(_) | Self::Any(_) => write!(f, "!({inner})"),
                inner => write!(f, "!{inner}"),
            },
            Self::All(some) => listed(f, some, " && "),
            Self::Any(some) => listed(f, some, " || "),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    C,
    Kconfig,
}

/// A reader of expressions: total, whatever it cannot read is [`Condition::Unknown`].
struct Reader<'a> {
    text: &'a str,
    words: Vec<&'a str>,
    at: usize,
    depth: usize,
    language: Language,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, language: Language) -> Self {
        Self {
            text,
            words: words(text),
            at: 0,
            depth: 0,
            language,
        }
    }

    fn whole(mut self) -> Condition {
        let read = self.any();
        match read.filter(|_| self.at == self.words.len()) {
            Some(condition) => condition,
            None => self.unknown(),
        }
    }

    fn unknown(&self) -> Condition {
        let words: Vec<&str> = self.text.split_whitespace().collect();
        Condition::Unknown(words.join(" "))
    }

    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).copied()
    }

    fn eat(&mut self, word: &str) -> bool {
        let is = self.peek() == Some(word);
        self.at += usize::from(is);
        is
    }

    fn any(&mut self) -> Option<Condition> {
        let mut read = self.all()?;
        while self.eat("||") {
            read = read.or(self.all()?);
        }
        Some(read)
    }

    fn all(&mut self) -> Option<Condition> {
        let mut read = self.compared()?;
        while self.eat("&&") {
            read = read.and(self.compared()?);
        }
        Some(read)
    }

    /// A comparison is what only the compiler can tell, but for Kconfig's with `y`,
    /// `m` and `n`, and the size of a word.
    fn compared(&mut self) -> Option<Condition> {
        let start = self.at;
        let left = self.one()?;
        let mut compared = false;
        while let Some(operator) = self.peek().filter(|word| is_operator(word)) {
            self.at += 1;
            let right = self.peek()?;
            let only = !compared;
            self.one()?;
            compared = true;
            if let Some(known) = self.known(&left, operator, right).filter(|_| only)
                && !self.peek().is_some_and(is_operator)
            {
                return Some(known);
            }
        }
        match compared {
            false => Some(left),
            true => {
                let words = self.words.get(start..self.at).unwrap_or_default();
                Some(Condition::Unknown(words.join(" ")))
            }
        }
    }

    fn known(&self, left: &Condition, operator: &str, right: &str) -> Option<Condition> {
        let holds = match (self.language, left, right) {
            (Language::C, Condition::Unknown(name), value) => {
                return given::compared(name, operator, value)
                    .map(|means| Condition::of_kconfig(&means));
            }
            (Language::Kconfig, Condition::Option(_), "y" | "m") => left.clone(),
            (Language::Kconfig, Condition::Option(_), "n") => left.clone().negated(),
            _ => return None,
        };
        match operator {
            "=" => Some(holds),
            "!=" => Some(holds.negated()),
            _ => None,
        }
    }

    fn one(&mut self) -> Option<Condition> {
        self.depth += 1;
        let read = (self.depth < DEEPEST).then(|| self.inner())?;
        self.depth -= 1;
        read
    }

    fn inner(&mut self) -> Option<Condition> {
        let word = self.peek()?;
        self.at += 1;
        match word {
            // Of Kconfig's operators `!` binds least (kconfig-language.rst).
            "!" if self.language == Language::Kconfig => Some(self.compared()?.negated()),
            "!" => Some(self.one()?.negated()),
            "-" | "~" | "+" => self.one().map(|_| Condition::Unknown(word.to_owned())),
            "(" => {
                let read = self.any()?;
                self.eat(")").then_some(read)
            }
            "defined" => {
                let closes = self.eat("(");
                let name = self.peek()?;
                self.at += 1;
                (!closes || self.eat(")")).then(|| Condition::defined(name))
            }
            word if self.language == Language::Kconfig => Some(kconfig_word(word)),
            word => self.c_word(word),
        }
    }

    fn c_word(&mut self, word: &str) -> Option<Condition> {
        if let Some(number) = number(word) {
            return Some(if number == 0 {
                Condition::No
            } else {
                Condition::Yes
            });
        }
        if !word.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '\'') {
            return None;
        }
        if self.eat("(") {
            let argument = self.peek();
            let condition = match (word, argument) {
                ("IS_ENABLED" | "IS_BUILTIN" | "IS_MODULE" | "IS_REACHABLE", Some(name)) => {
                    Condition::defined(name)
                }
                _ => Condition::Unknown(format!("{word}()")),
            };
            self.skip_arguments()?;
            return Some(condition);
        }
        Some(match word.strip_prefix("CONFIG_") {
            Some(option) => Condition::option(option),
            None => Condition::Unknown(word.to_owned()),
        })
    }

    fn skip_arguments(&mut self) -> Option<()> {
        let mut open = 1_usize;
        while open > 0 {
            match self.peek()? {
                "(" => open += 1,
                ")" => open -= 1,
                _ => {}
            }
            self.at += 1;
        }
        Some(())
    }
}

fn kconfig_word(word: &str) -> Condition {
    match word {
        "y" | "m" => Condition::Yes,
        "n" => Condition::No,
        word if word.starts_with(['"', '\'', '$']) => Condition::Unknown(word.to_owned()),
        word => Condition::option(word),
    }
}

/// A number of C, whatever its suffix.
pub(crate) fn number(word: &str) -> Option<u64> {
    let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        Some(digits) => hexadecimal(digits),
        None => digits
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| {
                digits.bytes().fold(0_u64, |all, byte| {
                    all.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'))
                })
            })
            .filter(|_| !digits.is_empty()),
    }
}

fn hexadecimal(digits: &str) -> Option<u64> {
    let mut all = 0_u64;
    for digit in digits.chars() {
        all = all
            .wrapping_mul(16)
            .wrapping_add(u64::from(digit.to_digit(16)?));
    }
    (!digits.is_empty()).then_some(all)
}

fn is_operator(word: &str) -> bool {
    matches!(
        word,
        "==" | "!="
            | "="
            | "<"
            | ">"
            | "<="
            | ">="
            | "+"
            | "-"
            | "*"
            | "/"
            | "%"
            | "&"
            | "|"
            | "^"
            | "<<"
            | ">>"
    )
}

/// The words of an expression; comments are none.
fn words(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let length = word_length(rest);
        let (word, after) = rest.split_at(length);
        if !word.starts_with("/*") && !word.starts_with("//") && word.trim() != "\\" {
            found.push(word);
        }
        rest = after.trim_start();
    }
    found
}

fn word_length(rest: &str) -> usize {
    const PAIRS: [&str; 8] = ["&&", "||", "==", "!=", "<=", ">=", "<<", ">>"];
    let first = rest.chars().next().map_or(1, char::len_utf8);
    if rest.starts_with("/*") {
        return rest.find("*/").map_or(rest.len(), |at| at + 2);
    }
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let end = rest.get(1..).and_then(|inner| inner.find(quote));
        return end.map_or(rest.len(), |at| at + 2);
    }
    if rest.starts_with("$(") {
        return macro_length(rest);
    }
    if PAIRS.iter().any(|pair| rest.starts_with(pair)) {
        return 2;
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
    end.max(first)
}

/// `$(call f,a)` with what it nests.
fn macro_length(rest: &str) -> usize {
    let mut open = 0_usize;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'(' => open += 1,
            b')' => open = open.saturating_sub(1),
            _ => continue,
        }
        if open == 0 {
            return at + 1;
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn c(text: &str) -> String {
        Condition::of_directive(text).to_string()
    }

    #[test]
    fn only_what_asks_for_an_option_names_it() {
        for (text, wanted) in [
            (
                "#if IS_ENABLED(CONFIG_A) || defined(CONFIG_B_MODULE) // CONFIG_C",
                "A B",
            ),
            ("# ifdef CONFIG_A /* CONFIG_B */", "A"),
            ("#define D IS_ENABLED(CONFIG_A)", "A"),
            ("#define D(x) CONFIG_PRE_##x \"CONFIG_B\"", ""),
            ("#error CONFIG_A is needed", ""),
            ("#include <CONFIG_A>", ""),
            ("#endif /* CONFIG_A */", ""),
        ] {
            assert_eq!(options_of_directive(text).join(" "), wanted, "{text}");
        }
    }

    #[test]
    fn what_differs_between_configurations_is_known() {
        let one = Config::parse("CONFIG_A=y\nCONFIG_N=3\n# CONFIG_B is not set\n");
        let two = Config::parse("CONFIG_A=m\nCONFIG_N=3\nCONFIG_C=y\n");
        let differing: Vec<String> = one.differing(&two).into_iter().collect();
        assert_eq!(differing, ["A", "C"]);
    }

    #[test]
    fn directives_are_read() {
        for (text, wanted) in [
            (
                "defined(CONFIG_A) && !defined CONFIG_B",
                "CONFIG_A && !CONFIG_B",
            ),
            (
                "IS_ENABLED(CONFIG_A) || CONFIG_B /* x */",
                "CONFIG_A || CONFIG_B",
            ),
            ("IS_REACHABLE(CONFIG_A_MODULE)", "CONFIG_A"),
            ("0", "never"),
            ("1 && 0x0UL", "never"),
            ("BITS_PER_LONG == 64", "CONFIG_64BIT"),
            ("BITS_PER_LONG != 64", "!CONFIG_64BIT"),
            ("BITS_PER_LONG > 32 && CONFIG_A", "CONFIG_64BIT && CONFIG_A"),
            ("defined(__BIG_ENDIAN)", "CONFIG_CPU_BIG_ENDIAN"),
            ("!defined __LP64__", "!CONFIG_64BIT"),
            (
                "__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__",
                "!CONFIG_CPU_BIG_ENDIAN",
            ),
            ("defined(__ASSEMBLY__)", "defined(__ASSEMBLY__)"),
            (
                "GCC_VERSION >= 40900 && CONFIG_X",
                "GCC_VERSION >= 40900 && CONFIG_X",
            ),
            (
                "__has_attribute(x(y)) && CONFIG_X",
                "__has_attribute() && CONFIG_X",
            ),
            (
                "(CONFIG_A || CONFIG_B) && !(CONFIG_C && CONFIG_D)",
                "(CONFIG_A || CONFIG_B) && !(CONFIG_C && CONFIG_D)",
            ),
            ("(", "("),
        ] {
            assert_eq!(c(text), wanted, "{text}");
        }
    }

    #[test]
    fn kconfigs_expressions_are_read() {
        let read = |text: &str| Condition::of_kconfig(text).to_string();
        assert_eq!(
            read("PCI && (X86 || COMPILE_TEST)"),
            "CONFIG_PCI && (CONFIG_X86 || CONFIG_COMPILE_TEST)"
        );
        assert_eq!(read("SND=n || !M = y"), "!CONFIG_SND || !CONFIG_M");
        assert_eq!(
            read("$(cc-option,-m(x)) && A"),
            "$(cc-option,-m(x)) && CONFIG_A"
        );
    }

    #[test]
    fn a_configuration_decides_what_it_can() {
        let config =
            Config::parse("CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_M=m\nCONFIG_N=\"x\"\n");
        let truth = |text: &str| Condition::of_directive(text).truth(&config);
        assert_eq!(truth("defined(CONFIG_A) && CONFIG_M"), Truth::Yes);
        assert_eq!(truth("CONFIG_A && CONFIG_B"), Truth::No);
        assert_eq!(truth("CONFIG_A && odd"), Truth::Maybe);
        assert_eq!(truth("CONFIG_B && odd"), Truth::No);
        assert_eq!(
            config.lacks("CONFIG_A=y\nCONFIG_B=y\n# CONFIG_M is not set\nCONFIG_C=n\n"),
            ["CONFIG_B=y", "# CONFIG_M is not set"]
        );
    }

    #[test]
    fn what_has_to_be_set_is_worked_out() {
        let config = Config::parse("CONFIG_A=y\n");
        let wants = |text: &str| Condition::of_directive(text).wants(true, &config);
        assert_eq!(wants("CONFIG_A"), Some(BTreeMap::new()));
        assert_eq!(
            wants("CONFIG_B && !CONFIG_A"),
            Some(BTreeMap::from([
                ("A".to_owned(), false),
                ("B".to_owned(), true)
            ]))
        );
        assert_eq!(
            wants("(CONFIG_B && CONFIG_C) || CONFIG_D"),
            Some(BTreeMap::from([("D".to_owned(), true)]))
        );
        assert_eq!(wants("0"), None);
    }

    proptest! {
        #[test]
        fn any_text_is_a_condition(text in "[a-zA-Z_ ()!&|=<>0-9\"'$/*\\\\é]{0,60}") {
            let config = Config::default();
            for condition in [Condition::of_directive(&text), Condition::of_kconfig(&text)] {
                let held = condition.truth(&config) == Truth::Yes;
                let wanted = condition.wants(true, &config);
                prop_assert!(!held || wanted == Some(BTreeMap::new()));
            }
        }

        #[test]
        fn what_is_wanted_makes_it_so(text in "(!?CONFIG_[A-D]( && | \\|\\| )){0,5}CONFIG_[A-D]") {
            let condition = Condition::of_directive(&text);
            let wanted = condition.wants(true, &Config::default());
            if let Some(wanted) = wanted {
                let lines: String = wanted.iter().filter(|(_, on)| **on).map(|(name, _)| format!("CONFIG_{name}=y\n")).collect();
                let config = Config::parse(&lines);
                // A contradiction, `A && !A`, wants both.
                let contradicts = condition.options().iter().any(|o| wanted.get(*o) == Some(&false)) || text.contains('!');
                prop_assert!(contradicts || condition.truth(&config) == Truth::Yes, "{text}");
            }
        }
    }
}
