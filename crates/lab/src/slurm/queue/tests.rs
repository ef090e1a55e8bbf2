use super::*;

struct Deaf;

impl Told for Deaf {
    fn event(&self, _words: &str) {}
    fn line(&self, _words: &str) {}
}

fn work(what: &str) -> Work {
    let job = crate::job::BootJob {
        what: what.to_owned(),
        qemu: crate::toolchain::Qemu {
            command: "qemu".to_owned(),
            version: "1".to_owned(),
            plugin_api: 1,
        },
        words: Vec::new(),
        files: Vec::new(),
        seconds: 1,
    };
    Work::Boot(Box::new(job))
}

fn queue(shared: &Path) -> Queue {
    let text = format!(
        "shared = '{}'\nnode_cache = '/c'\nprogram = '/p'",
        shared.to_str().unwrap()
    );
    let site = Site::parse(&text, &[]).unwrap();
    Queue::new(site, Interrupt::default(), Arc::new(Deaf), None).unwrap()
}

fn failed(words: &str, accident: bool) -> Came {
    Came::Failed {
        words: words.to_owned(),
        accident,
    }
}

#[test]
fn an_accident_is_done_again_elsewhere_and_three_times_at_most() {
    let dir = tempfile::tempdir().unwrap();
    let queue = queue(dir.path());
    let mut held = queue.held();
    let number = held.number(&work("a boot"));
    for node in ["n1", "n2", "n3"] {
        assert!(held.jobs[number].answer.is_none());
        held.jobs[number].sent = true;
        queue.settle(&mut held, number, failed("its disk is full", true), node);
    }
    let ticket = &held.jobs[number];
    assert!(ticket.shunned.contains("n1") && ticket.shunned.contains("n2"));
    let said = ticket.answer.as_ref().unwrap().as_ref().unwrap_err();
    assert_eq!(
        said.to_string(),
        "Slurm gave no answer for a boot: its disk is full (n1); then its disk is full (n2); then its disk is full (n3)"
    );
}

#[test]
fn what_would_fail_everywhere_is_said_as_the_node_said_it() {
    let dir = tempfile::tempdir().unwrap();
    let queue = queue(dir.path());
    let mut held = queue.held();
    let number = held.number(&work("a boot"));
    queue.settle(
        &mut held,
        number,
        failed("Kconfig does not take it", false),
        "n1",
    );
    let answer = held.jobs[number].answer.take().unwrap();
    assert_eq!(answer.unwrap_err().to_string(), "Kconfig does not take it");
}

#[test]
fn who_refuses_may_refuse_because_nodes_are_shunned() {
    let dir = tempfile::tempdir().unwrap();
    let queue = queue(dir.path());
    let mut held = queue.held();
    let number = held.number(&work("a boot"));
    let shunned = BTreeSet::from(["n1".to_owned()]);
    held.jobs[number].shunned = shunned.clone();
    held.jobs[number].sent = true;
    held.doubt = Some(queue.laid_out(&mut held, &shunned, &[number]).unwrap());
    queue
        .refused(&mut held, "sbatch: error: not available\n")
        .unwrap();
    assert!(!held.jobs[number].sent && held.jobs[number].answer.is_none());
    held.doubt = Some(
        queue
            .laid_out(&mut held, &BTreeSet::new(), &[number])
            .unwrap(),
    );
    queue
        .refused(
            &mut held,
            "sbatch: error: no account\n  sbatch: error: no\n",
        )
        .unwrap();
    let answer = held.jobs[number].answer.take().unwrap();
    assert_eq!(
        answer.unwrap_err().to_string(),
        "Slurm does not take a boot: no account; no"
    );
}

#[test]
fn a_second_process_takes_over_what_the_first_handed_over() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    std::fs::create_dir(&run).unwrap();
    let text = format!(
        "shared = '{}'\nnode_cache = '/c'\nprogram = '/p'",
        dir.path().to_str().unwrap()
    );
    let site = Site::parse(&text, &[]).unwrap();
    let open = || {
        Queue::new(
            site.clone(),
            Interrupt::default(),
            Arc::new(Deaf),
            Some(&run),
        )
    };
    let first = open().unwrap();
    {
        let mut held = first.held();
        let number = held.number(&work("a boot"));
        held.doubt = Some(
            first
                .laid_out(&mut held, &BTreeSet::new(), &[number])
                .unwrap(),
        );
        first.has(&mut held, 12).unwrap();
        // As SIGKILL leaves it: nothing is cancelled.
        held.arrays.clear();
    }
    drop(first);
    let second = open().unwrap();
    let mut held = second.held();
    assert_eq!(held.made, 1);
    assert_eq!(held.arrays[0].known.number, Some(12));
    let number = held.number(&work("a boot"));
    assert_eq!(number, 0);
    assert!(held.jobs[number].sent);
    assert_eq!(held.number(&work("a boot")), 1);
    held.arrays.clear();
}

#[test]
fn slurm_is_asked_more_seldom_the_longer_nothing_changes() {
    let paused = |seconds| pause(Duration::from_secs(seconds)).as_secs();
    assert_eq!(
        [0, 19, 60, 200, 300, 9000].map(paused),
        [1, 1, 3, 10, 15, 15]
    );
    let mut held = Held::default();
    assert!(held.is_time());
    held.number(&work("a boot"));
    // What is asked for next may become one array with it.
    assert!(!held.is_time());
    held.changed = Instant::now().checked_sub(Duration::from_secs(600));
    held.asked = Instant::now().checked_sub(Duration::from_secs(10));
    assert!(!held.is_time());
    held.asked = Instant::now().checked_sub(Duration::from_secs(16));
    assert!(held.is_time());
}

#[test]
fn what_arrives_late_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let queue = queue(dir.path());
    let mut looks = 0;
    let there: Result<_, Error> = queue.arrived(|| {
        looks += 1;
        Ok((looks == 2).then_some("an image"))
    });
    assert_eq!(there.unwrap(), Some("an image"));
}

/// A job file was another one by the time that a node read it.
#[test]
fn an_answer_to_another_job_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let queue = queue(dir.path());
    let mut held = queue.held();
    let number = held.number(&work("a boot"));
    let mut array = queue
        .laid_out(&mut held, &BTreeSet::new(), &[number])
        .unwrap();
    held.jobs[number].sent = true;
    let answer = |to: &Work, accident: bool| Answer {
        version: crate::job::VERSION,
        node: "n1".to_owned(),
        to: Some(to.id().unwrap()),
        came: failed("no", accident),
    };
    let place = array.known.folder.join("0.answer");
    crate::sealed::keep(&place, &answer(&work("another boot"), false)).unwrap();
    queue.ask(&mut array, None, &mut held).unwrap();
    assert!(!held.jobs[number].sent && held.jobs[number].answer.is_none());
    let again = queue.laid_out(&mut held, &BTreeSet::new(), &[number]);
    let mut array = again.unwrap();
    let place = array.known.folder.join("0.answer");
    crate::sealed::keep(&place, &answer(&work("a boot"), false)).unwrap();
    queue.ask(&mut array, None, &mut held).unwrap();
    let said = held.jobs[number].answer.take().unwrap().unwrap_err();
    assert_eq!(said.to_string(), "no");
}

/// A limit is waited for as long as jobs of the run itself are what fills it.
#[test]
fn a_limit_that_the_run_fills_itself_passes() {
    let dir = tempfile::tempdir().unwrap();
    let queue = queue(dir.path());
    let mut held = queue.held();
    let number = held.number(&work("a boot"));
    let full = || Error::Said("no more jobs".to_owned());
    let long_ago = Instant::now().checked_sub(AWAY * 2).unwrap();
    let array = queue.laid_out(&mut held, &BTreeSet::new(), &[number]);
    held.arrays.push(array.unwrap());
    held.away.insert(Part::Submission, long_ago);
    queue.hiccup(&mut held, Part::Submission, full()).unwrap();
    held.arrays.clear();
    queue.hiccup(&mut held, Part::Submission, full()).unwrap();
    held.away.insert(Part::Submission, long_ago);
    let said = queue.hiccup(&mut held, Part::Submission, full());
    assert_eq!(said.unwrap_err().to_string(), "no more jobs");
}
