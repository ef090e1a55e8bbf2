//! Lines of every form, put together in any way: read or refused, never a panic.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test says what it expects"
)]

use proptest::prelude::*;

const PIECES: [&str; 24] = [
    "# Overhead  Command  Shared Object  Symbol\n",
    "Symbol  Self  Children\n",
    "# Overhead  Command  Shared \nObject  Symbol\n",
    "    12.86%  a  [kernel]  [k] snd_pcm_ioctl\n",
    "    14.44%  a  lib.so  [.] \n",
    "[k] __lock_acquire  ",
    "8.51%",
    "==>  4.92%  ",
    "> >> ",
    "\n",
    "            |--6.00%--ep_send_events\n",
    "            |          do_epoll_wait\n",
    "...\n",
    "# Samples: 34K of event 'cycles:P'\n",
    "    0.36 :   c057f868:       41 a1 fb 58     bgt     c057f3c0 <snd_pcm_ioctl+0xbb0>\n",
    "    89.91 \u{2502}      stac\n",
    "server  1234  5041.123456:     250000 cycles: \n",
    "\tffffffff8123 __put_user_nocheck_4+0x3 ([kernel.kallsyms])\n",
    "a;b;c_[k] 12\n",
    "   before   after\n",
    "single  100.173ns  84.496ns\n",
    " Signal handler overhead: 1.7531 microseconds\n",
    "\u{1b}[31m",
    "99999999999999999999%  \u{e9}",
];

proptest! {
    #[test]
    fn is_read_or_refused(at in prop::collection::vec(0..PIECES.len(), 0..24), cut in 0..40_usize) {
        let text: String = at.iter().filter_map(|at| PIECES.get(*at)).copied().collect();
        let bytes = text.as_bytes();
        tollgate_profile::fuzz::profile(&bytes[..bytes.len().saturating_sub(cut)]);
    }

    #[test]
    fn perf_data_is_read_or_refused(at in prop::collection::vec((0..8000_usize, any::<u8>()), 1..12), cut in 0..8000_usize) {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/perf_data/cat");
        let mut bytes = std::fs::read(file).unwrap();
        for (at, byte) in at {
            let end = bytes.len();
            bytes[at % end] = byte;
        }
        tollgate_profile::fuzz::perf_data(&bytes);
        tollgate_profile::fuzz::perf_data(&bytes[..cut.min(bytes.len())]);
    }
}
