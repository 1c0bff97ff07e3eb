// work.rs - Rust: closures, panics that are caught, collections, threads.
use std::collections::BTreeMap;

#[inline(never)]
fn deep(n: u32, f: &dyn Fn(u32) -> u64) -> u64 {
    if n == 0 { f(n) } else { deep(n - 1, f).wrapping_add(n as u64) }
}

#[inline(never)]
fn work(id: u32) -> u64 {
    let mut map = BTreeMap::new();
    for i in 0..50u64 {
        map.insert(format!("{}", i * id as u64), i);
    }
    let mut keys: Vec<_> = map.keys().cloned().collect();
    keys.sort_by(|a, b| b.cmp(a));
    keys.len() as u64
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let threads: Vec<_> = (1..8).map(|id| std::thread::spawn(move || loop {
        let _ = std::panic::catch_unwind(|| {
            if deep(id * 9, &|n| work(n + id)) % 2 == 0 { panic!() }
        });
    })).collect();
    for t in threads { t.join().unwrap(); }
}
