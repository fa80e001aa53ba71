// Sorts, maps and formats in several threads, catches panics, and checks what comes of it against other ways to the same. Each thread
// keeps what it knew in each line with known(), which a tracepoint there has to agree with.
use std::collections::{BTreeMap, HashMap};
use std::{panic, thread};

fn next(x: &mut u64) -> u64 {
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    *x
}

#[inline(never)]
fn known(log: &mut String, line: u32, values: &[u64]) {
    let words: Vec<String> = values.iter().map(|v| format!(" {v}")).collect();
    log.push_str(&format!("known {line}{}\n", words.concat()));
}

fn work(id: u64, rounds: u64) -> (u64, u64, String) {
    let mut log = String::new();
    let mut state = id * 0x9e3779b97f4a7c15 + 1;
    let (mut sum, mut panics) = (0u64, 0u64);
    for round in 0..rounds {
        let numbers: Vec<u64> = (0..50).map(|_| next(&mut state) % 1000).collect();
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        let mut tree = BTreeMap::new();
        let mut table: HashMap<u64, u32> = HashMap::new();
        for n in &numbers {
            *tree.entry(*n).or_insert(0u32) += 1;
            *table.entry(*n).or_default() += 1;
        }
        let flat: Vec<u64> = tree.iter().flat_map(|(n, k)| std::iter::repeat(*n).take(*k as usize)).collect();
        assert_eq!(flat, sorted);
        assert!(table.iter().all(|(n, k)| tree[n] == *k));
        let text = sorted.iter().map(|n| format!("{n:03}")).collect::<Vec<_>>().join(",");
        sum = sum.wrapping_mul(31).wrapping_add(text.bytes().map(u64::from).sum::<u64>());
        known(&mut log, line!(), &[id, round, state, sum]);
        if round % 16 == 3 {
            let at = 50 + (round as usize);
            panics += panic::catch_unwind(|| numbers[at]).is_err() as u64;
            known(&mut log, line!(), &[id, round, panics]);
        }
    }
    (sum, panics, log)
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let rounds: u64 = std::env::args().nth(1).map_or(100, |s| s.parse().unwrap());
    let threads: Vec<_> = (1..=3).map(|id| thread::spawn(move || work(id, rounds))).collect();
    for (id, t) in threads.into_iter().enumerate() {
        let (sum, panics, log) = t.join().unwrap();
        print!("thread {id} sum {sum} panics {panics}\n{log}");
    }
}
