//! What Sentry's `symbolic`, which Mozilla's symbolication server stands on,
//! needs for what symloader and bench_lookup do, on the same file.
//!
//!     peer_symbolic FILE.sym ADDRESSES
//!
//! ADDRESSES holds one hexadecimal address a line.  Prints one line a figure:
//! the conversion in MB/s of .sym, the bytes of the symcache, and nanoseconds a
//! lookup in the order given ("random") and sorted, each decoded down to the
//! line of every inlined call, and again with every name and path: medians.

use std::hint::black_box;
use std::time::Instant;

use symbolic_common::ByteView;
use symbolic_debuginfo::breakpad::BreakpadObject;
use symbolic_symcache::{SymCache, SymCacheConverter};

const ROUNDS: usize = 21;

fn convert(data: &[u8]) -> Vec<u8> {
    let object = BreakpadObject::parse(data).expect("not a .sym file");
    let mut converter = SymCacheConverter::new();
    let mut out = Vec::new();

    converter
        .process_object(&object)
        .expect("not to be converted");
    converter.serialize(&mut out).expect("not to be written");
    out
}

fn look_up(cache: &SymCache, addr: u64, with_names: bool) {
    for location in cache.lookup(addr) {
        black_box(location.line());
        if with_names {
            black_box(location.function().name());
            // the path comes in parts, which every caller joins
            black_box(location.file().map(|f| f.full_path()));
        }
    }
}

fn measure(label: &str, cache: &SymCache, addrs: &[u64], with_names: bool) {
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            for &addr in addrs {
                look_up(cache, addr, with_names);
            }
            start.elapsed().as_nanos() as f64 / addrs.len() as f64
        })
        .collect();

    rounds.sort_by(|a, b| a.partial_cmp(b).unwrap());
    println!("{label} {:.1} ns", rounds[ROUNDS / 2]);
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let data = ByteView::open(&args[1]).expect("cannot open the .sym");
    let mut addrs: Vec<u64> = std::fs::read_to_string(&args[2])
        .expect("cannot open the addresses")
        .lines()
        .map(|l| u64::from_str_radix(l, 16).expect("not an address"))
        .collect();

    // the file is in memory before the clock starts
    black_box(data.iter().map(|&b| b as u64).sum::<u64>());
    let start = Instant::now();
    let out = convert(&data);
    let seconds = start.elapsed().as_secs_f64();
    println!("convert {:.1} MB/s", data.len() as f64 / 1e6 / seconds);
    println!("bytes {}", out.len());

    let cache = SymCache::parse(&out).expect("not a symcache");
    measure("random, lookup", &cache, &addrs, false);
    measure("random, with names", &cache, &addrs, true);
    addrs.sort_unstable();
    measure("sorted, lookup", &cache, &addrs, false);
    measure("sorted, with names", &cache, &addrs, true);
}
