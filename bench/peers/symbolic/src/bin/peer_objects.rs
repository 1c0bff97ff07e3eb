//! Sentry's readers of debug files, for `./dev bench` and `./dev accuracy`.
//!
//!     peer_objects convert FILE OUT      a symcache, of a portable PDB its cache
//!     peer_objects convert-all DIR FILE...  the same of each file, into DIR
//!     peer_objects answers FILE          reads addresses from standard input
//!     peer_objects time FILE             the nanoseconds of a lookup, likewise
//!
//! A FILE.js is converted with its source map, FILE.js.map.
//!
//! Addresses are hexadecimal, one a line, relative to the load address; of a
//! portable PDB "METHOD OFFSET", of a script "LINE COLUMN", from 0.  An answer is one line: function, path and line
//! of each call, the innermost first, all separated by tabs.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::io::{self, BufRead, Write as _};
use std::time::Instant;

use symbolic_common::ByteView;
use symbolic_debuginfo::pe::PeObject;
use symbolic_debuginfo::Object;
use symbolic_ppdb::{PortablePdb, PortablePdbCache, PortablePdbCacheConverter};
use symbolic_sourcemapcache::{SourceMapCache, SourceMapCacheWriter, SourcePosition};
use symbolic_symcache::{SymCache, SymCacheConverter};

const ROUNDS: usize = 21;

enum Cache<'a> {
    Native(SymCache<'a>),
    Managed(PortablePdbCache<'a>),
    Script(SourceMapCache<'a>),
}

/// The portable PDB in a file: the file itself, or what a PE has embedded.
fn portable(data: &[u8]) -> Option<Vec<u8>> {
    if PortablePdb::peek(data) {
        return Some(data.to_vec());
    }
    let pe = PeObject::parse(data).ok()?;
    let embedded = pe.embedded_ppdb().ok()??;
    let mut out = Vec::new();
    embedded.decompress_to(&mut out).ok()?;
    Some(out)
}

fn convert(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();

    if let Some(pdb) = portable(data) {
        let pdb = PortablePdb::parse(&pdb).expect("not a portable PDB");
        let mut converter = PortablePdbCacheConverter::new();
        converter
            .process_portable_pdb(&pdb)
            .expect("not to be converted");
        converter.serialize(&mut out).expect("not to be written");
        return out;
    }

    let object = Object::parse(data).expect("not an object");
    let mut converter = SymCacheConverter::new();
    converter
        .process_object(&object)
        .expect("not to be converted");
    converter.serialize(&mut out).expect("not to be written");
    out
}

fn convert_file(path: &str) -> Vec<u8> {
    let data = ByteView::open(path).expect("cannot open a file");

    if !path.ends_with(".js") {
        return convert(&data);
    }

    let text = |path: &str| fs::read_to_string(path).expect("not to be read");
    let mut out = Vec::new();
    SourceMapCacheWriter::new(&text(path), &text(&format!("{path}.map")))
        .expect("not to be converted")
        .serialize(&mut out)
        .expect("not to be written");
    out
}

/// Pairs of numbers: an address and nothing, or the two of a position.
fn asked() -> Vec<(u64, u64)> {
    let hex = |text: &str| u64::from_str_radix(text, 16).expect("not a number");

    io::stdin()
        .lock()
        .lines()
        .map(|line| {
            let line = line.expect("not to be read");
            let mut fields = line.split_whitespace().map(|f| hex(f.trim_start_matches("0x")));
            (fields.next().expect("no number"), fields.next().unwrap_or(0))
        })
        .collect()
}

fn answer(cache: &Cache, (a, b): (u64, u64)) -> String {
    let mut text = String::new();

    match cache {
        Cache::Native(cache) => {
            for location in cache.lookup(a) {
                let path = location.file().map(|f| f.full_path());
                let _ = write!(
                    text,
                    "{}\t{}\t{}\t",
                    location.function().name(),
                    path.unwrap_or_default(),
                    location.line()
                );
            }
        }
        Cache::Managed(cache) => {
            if let Some(found) = cache.lookup(a as u32, b as u32) {
                let _ = write!(text, "\t{}\t{}\t", found.file_name, found.line);
            }
        }
        Cache::Script(cache) => {
            if let Some(found) = cache.lookup(SourcePosition::new(a as u32, b as u32)) {
                let _ = write!(text, "\t{}\t{}\t", found.file_name().unwrap_or(""), found.line());
            }
        }
    }
    text.pop();
    text
}

fn touch(cache: &Cache, (a, b): (u64, u64)) {
    match cache {
        Cache::Native(cache) => {
            for location in cache.lookup(a) {
                black_box(location.line());
            }
        }
        Cache::Managed(cache) => {
            black_box(cache.lookup(a as u32, b as u32));
        }
        Cache::Script(cache) => {
            black_box(cache.lookup(SourcePosition::new(a as u32, b as u32)));
        }
    }
}

fn time(cache: &Cache, wanted: &[(u64, u64)]) -> f64 {
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            for &one in wanted {
                touch(cache, one);
            }
            start.elapsed().as_nanos() as f64 / wanted.len() as f64
        })
        .collect();

    rounds.sort_by(|a, b| a.partial_cmp(b).unwrap());
    rounds[ROUNDS / 2]
}

fn convert_all(dir: &str, files: &[String]) {
    // a map is read with its script
    let whole = files.iter().filter(|file| !file.ends_with(".js.map"));
    for (i, file) in whole.enumerate() {
        fs::write(format!("{dir}/{i}"), convert_file(file)).expect("not to be written");
    }
}

fn main() {
    let args: Vec<String> = env::args().collect();

    if args[1] == "convert-all" {
        convert_all(&args[2], &args[3..]);
        return;
    }

    let converted = convert_file(&args[2]);

    if args[1] == "convert" {
        fs::write(&args[3], converted).expect("not to be written");
        return;
    }

    let cache = match SymCache::parse(&converted) {
        Ok(cache) => Cache::Native(cache),
        Err(_) if args[2].ends_with(".js") => {
            Cache::Script(SourceMapCache::parse(&converted).expect("not a cache"))
        }
        Err(_) => Cache::Managed(PortablePdbCache::parse(&converted).expect("not a cache")),
    };
    if args[1] == "time" {
        println!("{:.1} ns", time(&cache, &asked()));
        return;
    }

    let mut out = io::BufWriter::new(io::stdout().lock());
    for one in asked() {
        writeln!(out, "{}", answer(&cache, one)).expect("not to be written");
    }
}
