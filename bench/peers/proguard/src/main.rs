//! Sentry's crate proguard as a peer: writes its cache of a mapping, or answers the
//! frames of standard input, a line each: CLASS, METHOD, LINE, by tabs.
//!
//!     peer-proguard write MAPPING      seconds and bytes
//!     peer-proguard answers MAPPING    a line each: CLASS.METHOD(FILE:LINE) ...

use proguard::{ProguardCache, ProguardMapping, StackFrame};
use std::io::{Read, Write};
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let text = std::fs::read(&arguments[2]).expect("the mapping");
    let begin = Instant::now();
    let mut bytes = Vec::new();
    ProguardCache::write(&ProguardMapping::new(&text), &mut bytes).expect("a cache");

    if arguments[1] == "write" {
        println!("{:.3} {}", begin.elapsed().as_secs_f64(), bytes.len());
        return;
    }

    let cache = ProguardCache::parse(&bytes).expect("its own cache");
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input).expect("frames");
    let mut output = String::new();

    for line in input.lines() {
        let field: Vec<&str> = line.split('\t').collect();
        let frame = StackFrame::new(field[0], field[1], field[2].parse().expect("a line"));
        let mut carried = None;
        let answers: Vec<String> = cache
            .remap_frame_with_context(&frame, None, false, &mut carried)
            .map(|frames| {
                frames
                    .map(|f| {
                        format!(
                            "{}.{}({}:{})",
                            f.class(),
                            f.method(),
                            f.file().unwrap_or(""),
                            f.line().unwrap_or(0)
                        )
                    })
                    .collect()
            })
            .unwrap_or_default();
        output.push_str(if answers.is_empty() { "??:0" } else { "" });
        output.push_str(&answers.join(" "));
        output.push('\n');
    }

    std::io::stdout().write_all(output.as_bytes()).expect("standard output");
}
