//! What registers hold, as far as the gate asks: a write of the gate opens or
//! closes by the value of a register.

use tollgate_defect::answer;

/// What is known of a register's value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Value {
    /// Nothing.
    #[default]
    Lost,
    /// It opens the gate when it is written to it.
    Opens,
    /// It closes the gate.
    Closes,
    /// It does neither.
    Neither,
    /// It is what the gate had when it was read.
    State,
    /// This number.
    Number(u64),
    /// Loaded from memory other than the stack, with these bits set besides.
    Memory(u64),
    /// This number on one path, loaded with these bits set on another.
    Either { number: u64, bits: u64 },
}

impl Value {
    /// What holds on both of two paths.
    fn meet(self, other: Self) -> Self {
        match (self, other) {
            (a, b) if a == b => a,
            (Self::Memory(a), Self::Memory(b)) => Self::Memory(a & b),
            (Self::Number(number), Self::Memory(bits))
            | (Self::Memory(bits), Self::Number(number)) => Self::Either { number, bits },
            (Self::Either { number, bits }, Self::Memory(other))
            | (Self::Memory(other), Self::Either { number, bits }) => Self::Either {
                number,
                bits: bits & other,
            },
            (Self::Either { number, bits }, Self::Number(other))
            | (Self::Number(other), Self::Either { number, bits })
                if number == other =>
            {
                Self::Either { number, bits }
            }
            (Self::Either { number, bits }, Self::Either { number: n, bits: b }) if number == n => {
                let bits = bits & b;
                Self::Either { number, bits }
            }
            _ => Self::Lost,
        }
    }

    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => Self::Number(a | b),
            (Self::Memory(a), Self::Memory(b) | Self::Number(b))
            | (Self::Number(b), Self::Memory(a)) => Self::Memory(a | b),
            (Self::Either { number, bits }, Self::Number(more))
            | (Self::Number(more), Self::Either { number, bits }) => Self::Either {
                number: number | more,
                bits: bits | more,
            },
            _ => Self::Lost,
        }
    }

    fn number(self, how: impl FnOnce(u64) -> u64) -> Self {
        match self {
            Self::Number(number) => Self::Number(how(number)),
            _ => Self::Lost,
        }
    }
}

/// What an instruction does to registers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Operation {
    /// Nothing.
    #[default]
    Nothing,
    /// Those of the mask hold another value after it.
    Lose(u32),
    /// Puts a value into a register.
    Set(u8, Value),
    /// `to = from + number`.
    Add { to: u8, from: u8, number: u64 },
    /// `to = from | number`.
    Or { to: u8, from: u8, number: u64 },
    /// `to = from | with`.
    OrRegister { to: u8, from: u8, with: u8 },
    /// `to = from << number`.
    ShiftLeft { to: u8, from: u8, number: u64 },
    /// `to` is `from`, rotated to the left by `number`, of which the bits `kept`
    /// count; the others are 0, or what `to` has.
    Rotate {
        to: u8,
        from: u8,
        number: u64,
        kept: u64,
        insert: bool,
    },
    /// `to = from`, and `to` is compared with 0.
    Compare { to: u8, from: u8 },
    /// A branch after a comparison: whether it is taken where that found 0.
    Test { taken: bool },
}

/// What all registers hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Registers {
    values: [Value; 32],
    /// What the instruction before has compared with 0.
    pub(crate) compared: Option<u8>,
}

impl Registers {
    pub(crate) fn get(&self, register: u8) -> Value {
        let value = self.values.get(usize::from(register));
        value.copied().unwrap_or_default()
    }

    pub(crate) fn set(&mut self, register: u8, value: Value) {
        if let Some(slot) = self.values.get_mut(usize::from(register)) {
            *slot = value;
        }
    }

    pub(crate) fn meet(mut self, other: &Self) -> Self {
        for (mine, theirs) in self.values.iter_mut().zip(&other.values) {
            *mine = mine.meet(*theirs);
        }
        self.compared = self.compared.filter(|_| self.compared == other.compared);
        self
    }

    pub(crate) fn after(mut self, operation: Operation) -> Self {
        self.compared = None;
        match operation {
            Operation::Nothing | Operation::Test { .. } => {}
            Operation::Compare { to, from } => {
                self.set(to, self.get(from));
                self.compared = Some(to);
            }
            Operation::Lose(mask) => {
                for (number, value) in self.values.iter_mut().enumerate() {
                    if mask >> number & 1 == 1 {
                        *value = Value::Lost;
                    }
                }
            }
            Operation::Set(to, value) => self.set(to, value),
            Operation::Add { to, from, number } => {
                let sum = self.get(from).number(|value| value.wrapping_add(number));
                self.set(to, sum);
            }
            Operation::Or { to, from, number } => {
                self.set(to, self.get(from).or(Value::Number(number)));
            }
            Operation::OrRegister { to, from, with } if from == with => {
                self.set(to, self.get(from));
            }
            Operation::OrRegister { to, from, with } => {
                self.set(to, self.get(from).or(self.get(with)));
            }
            Operation::ShiftLeft { to, from, number } => {
                let shift = answer::fits::<u32, _>(number).unwrap_or(u32::MAX);
                let shifted = |value: u64| value.checked_shl(shift).unwrap_or(0);
                self.set(to, self.get(from).number(shifted));
            }
            Operation::Rotate {
                to,
                from,
                number,
                kept,
                insert,
            } => {
                let own = match insert {
                    true => self.get(to),
                    false => Value::Number(0),
                };
                let value = match (self.get(from), own) {
                    (Value::Number(from), Value::Number(own)) => {
                        let rotated = from.rotate_left((number & 63) as u32);
                        Value::Number(rotated & kept | own & !kept)
                    }
                    _ => Value::Lost,
                };
                self.set(to, value);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_built_in_pieces_and_joined_with_what_is_loaded() {
        let mut registers = Registers::default();
        // lis r9,-769; ori r9,r9,65535; sldi r9,r9,32; oris, ori: AMR_KUAP_BLOCKED.
        let pieces = [
            Operation::Set(9, Value::Number(0xffff_ffff_fcff_0000)),
            Operation::Or {
                to: 9,
                from: 9,
                number: 0xffff,
            },
            Operation::ShiftLeft {
                to: 9,
                from: 9,
                number: 32,
            },
            Operation::Or {
                to: 9,
                from: 9,
                number: 0xffff_ffff,
            },
        ];
        for piece in pieces {
            registers = registers.after(piece);
        }
        assert_eq!(registers.get(9), Value::Number(0xfcff_ffff_ffff_ffff));
        registers.set(8, Value::Memory(0));
        let joined = registers.after(Operation::OrRegister {
            to: 7,
            from: 8,
            with: 9,
        });
        assert_eq!(joined.get(7), Value::Memory(0xfcff_ffff_ffff_ffff));
        assert_eq!(joined.after(Operation::Lose(1 << 7)).get(7), Value::Lost);
    }

    #[test]
    fn paths_that_disagree_keep_what_both_hold() {
        let number = Value::Number(6);
        let either = Value::Either { number: 6, bits: 3 };
        assert_eq!(number.meet(Value::Memory(3)), either);
        assert_eq!(either.meet(number), either);
        assert_eq!(number.meet(Value::Number(7)), Value::Lost);
        assert_eq!(Value::Opens.meet(Value::Opens), Value::Opens);
        assert_eq!(Value::Opens.meet(number), Value::Lost);
    }
}
