use super::{Profile, ProfileError};

fn kernel(text: &str) -> Vec<String> {
    let profile = Profile::parse(text).unwrap();
    let words = |share: &super::SymbolShare| format!("{} {:.2}", share.symbol, share.percent);
    profile.kernel().map(words).collect()
}

#[test]
fn rows_of_perf_top_are_read_through_the_marks_of_mail() {
    let text = "> >>     14.20%  test_perf           [.] engine_main\n\
                > >> ==> 12.86%  [kernel]            [k] snd_pcm_ioctl\n\
                > >>      4.15%  [kernel]            [k] snd_pcm_group_unlock_irq.part.0\n\
                > >>\n> >> With the patch:\n\
                > >>     17.46%  test_perf           [.] engine_main\n\
                > >> ==>  4.92%  [kernel]            [k] snd_pcm_ioctl\n";
    // Two reports: the larger part counts, they are not added.
    assert_eq!(
        kernel(text),
        [
            "snd_pcm_ioctl 12.86",
            "snd_pcm_group_unlock_irq.part.0 4.15"
        ]
    );
}

#[test]
fn a_symbol_that_mail_wrapped_stands_on_the_next_line() {
    let text = "     14.44%  pulseaudio  libasound.so.2.0.0              [.] \n0x000000000004bc7e\n\
                \x20     8.51%  pulseaudio  [kernel.kallsyms]               [k] __lock_acquire\n\
                \x20     1.10%  pulseaudio  [kernel.kallsyms]               [k] \nsnd_pcm_period_elapsed\n\
                \x20     1.00%  pulseaudio  [kernel.kallsyms]               [k] \n      0.90%  a  b  [k] last\n";
    assert_eq!(
        kernel(text),
        [
            "__lock_acquire 8.51",
            "snd_pcm_period_elapsed 1.10",
            "last 0.90"
        ]
    );
}

#[test]
fn perf_report_gives_the_own_part_and_adds_threads() {
    let text = "# Samples: 34K of event 'cycles:P'\n#\n\
                \x20   50.00%    20.00%  a  [kernel.kallsyms]  [k] do_epoll_wait  -      -\n\
                \x20           |\n            |--30.00%--entry\n\
                \x20   10.00%     5.00%  b  [kernel.kallsyms]  [k] do_epoll_wait  -      -\n";
    let profile = Profile::parse(text).unwrap();
    assert_eq!(profile.unit, "samples of cycles:P");
    assert_eq!(kernel(text), ["do_epoll_wait 25.00"]);
}

#[test]
fn perf_script_counts_periods() {
    let text = "server  1234 [001] 5041.123456:     300000 cycles:P:  ffffffff8123 ep_send_events+0x1f ([kernel.kallsyms])\n\
                server  1234 [001] 5041.123460:     100000 cycles:P:      7f8812 main+0x1f (/usr/bin/server)\n";
    assert_eq!(kernel(text), ["ep_send_events 75.00"]);
}

#[test]
fn of_a_call_chain_the_first_frame_counts() {
    let text = "server  1234  5041.123456:     250000 cycles: \n\
                \tffffffff8123 __put_user_nocheck_4+0x3 ([kernel.kallsyms])\n\
                \tffffffff8124 ep_send_events+0x10 ([kernel.kallsyms])\n\n\
                server  1234  5041.123457:     750000 cycles: \n\
                \tffffffffc0ab snd_pcm_ioctl+0x10 (/lib/modules/6.12/kernel/sound/snd-pcm.ko)\n\
                \t      7f8812 ioctl+0x10 (/usr/lib/libc.so.6)\n\n";
    assert_eq!(
        kernel(text),
        ["snd_pcm_ioctl 75.00", "__put_user_nocheck_4 25.00"]
    );
}

#[test]
fn annotated_lines_belong_to_the_function_that_a_jump_names() {
    let text = "    0.77 :   c057f860:       61 29 ff fc     ori     r9,r9,65532\n\
                \x20   0.36 :   c057f868:       41 a1 fb 58     bgt     c057f3c0 <snd_pcm_ioctl+0xbb0>\n\
                \x20   1.95 :   c057f870:       7d 3a c3 a6     mtspr   794,r9\n";
    let profile = Profile::parse(text).unwrap();
    assert_eq!(profile.unit, "samples of the function itself");
    assert_eq!(kernel(text), ["snd_pcm_ioctl 3.08"]);
}

#[test]
fn what_has_no_part_of_the_samples_is_not_shown() {
    let text = "    0.00 :   c057f860:       41 a1 fb 58     bgt     c057f3c0 <put_user+0x10>\n\
                \x20   1.50 :   c057f868:       41 a1 fb 58     bgt     c057f3c0 <snd_ioctl.isra.0+0xbb0>\n\
                \x20   0.50 :   c057f870:       41 a1 fb 58     bgt     c057f3c0 <no name>\n";
    // What is no name of a symbol leaves its part to the last that is one.
    assert_eq!(kernel(text), ["snd_ioctl.isra.0 2.00"]);
}

#[test]
fn the_counts_of_prove_are_a_profile() {
    let text = r#"{"comparisons": [{"workloads": [
        {"functions": [{"name": "do_epoll_wait", "before_share": 0.25}]},
        {"functions": [{"name": "do_epoll_wait", "before_share": 0.5}, {"name": "fput", "before_share": 0.125}]}
    ]}]}"#;
    assert_eq!(kernel(text), ["do_epoll_wait 50.00", "fput 12.50"]);
}

#[test]
fn what_is_no_profile_is_refused_in_a_sentence() {
    assert_eq!(
        Profile::parse("a\nb\n"),
        Err(ProfileError::Nothing { lines: 2 })
    );
    assert!(Profile::parse("").is_err());
    for text in ["{", "{}", r#"{"functions": [1e999]}"#] {
        let error = Profile::parse(text).unwrap_err().to_string();
        assert!(error.starts_with("it begins as JSON does, but "), "{error}");
    }
    // Huge, negative and cut-off figures are no rows.
    assert!(Profile::parse("-3%  a [k] b\n1e999% a [k] b\n12.5% a [k]").is_err());
}
