// Sorts, maps and formats in several threads, catches panics, and checks what comes of it against other ways to the same.
use std::collections::{BTreeMap, HashMap};
use std::{panic, thread};

fn next(x: &mut u64) -> u64 {
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    *x
}

fn work(id: u64, rounds: u64) -> (u64, u64) {
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
        if round % 16 == 3 {
            let at = 50 + (round as usize);
            panics += panic::catch_unwind(|| numbers[at]).is_err() as u64;
        }
    }
    (sum, panics)
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let rounds: u64 = std::env::args().nth(1).map_or(100, |s| s.parse().unwrap());
    let threads: Vec<_> = (1..=3).map(|id| thread::spawn(move || work(id, rounds))).collect();
    for (id, t) in threads.into_iter().enumerate() {
        let (sum, panics) = t.join().unwrap();
        println!("thread {id} sum {sum} panics {panics}");
    }
}
