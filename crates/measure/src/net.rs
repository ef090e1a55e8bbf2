//! What a benchmark costs beyond another that does all but the thing itself:
//! a caught signal less the call that sends none.

use crate::comparison::{Comparison, Figure, Per, WorkloadComparison};

/// One benchmark less another of the same guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Net<'a> {
    /// What is subtracted from.
    pub row: &'a WorkloadComparison,
    /// What is subtracted.
    pub less: &'a WorkloadComparison,
}

impl Comparison {
    /// Every benchmark that names another to be subtracted, where both were
    /// counted.
    pub fn nets(&self) -> impl Iterator<Item = Net<'_>> {
        self.workloads.iter().filter_map(|row| {
            let wanted = row.less.as_ref()?;
            let mut all = self.workloads.iter();
            let less = all.find(|one| one.workload == *wanted)?;
            Some(Net { row, less })
        })
    }
}

impl Net<'_> {
    /// Kernel instructions: those of the one per unit, less those of the other
    /// per unit.
    #[must_use]
    pub fn kernel(self) -> Figure {
        let (row, less) = (self.row.kernel(Per::Unit), self.less.kernel(Per::Unit));
        Figure {
            before: row.before.minus(less.before),
            after: row.after.minus(less.after),
        }
    }

    /// Whether all four counts are exact; the difference is then exact, too.
    #[must_use]
    pub fn exact(self) -> bool {
        self.row.exact() && self.less.exact()
    }
}

#[cfg(test)]
mod tests {
    use crate::compare::tests::{benchmarks, epoll, run};
    use crate::comparison::Comparison;
    use crate::setting::{ImageName, Setting};
    use crate::{BootResult, Booted};

    fn comparison(after: &BootResult) -> Comparison {
        let base = run(5540, 83_066);
        let mut benchmarks = benchmarks();
        benchmarks[1].less = Some(epoll(1));
        benchmarks[0].less = Some(epoll(2));
        let booted = |letter, run| Booted {
            image: ImageName {
                letter,
                variant: String::new(),
                id: String::new(),
            },
            run,
        };
        let before = booted('A', &base);
        Comparison::new(
            Setting::default(),
            &benchmarks,
            before,
            None,
            booted('B', after),
        )
    }

    #[test]
    fn one_less_the_other_where_both_ran() {
        let found = comparison(&run(5540, 84_066));
        let nets: Vec<_> = found.nets().collect();
        // Nothing has run with two events.
        assert_eq!(nets.len(), 1);
        assert_eq!(nets[0].row.workload, epoll(64));
        assert!(nets[0].exact());
        // 83,066 / 640 - 5540 / 10, and 1000 / 640 more.
        let figure = nets[0].kernel();
        assert_eq!(figure.before.decimal(4), "-424.2094");
        assert_eq!(figure.difference().decimal(4), "1.5625");
    }
}
