// padded THREADS CALLS: each thread calls tick(i, &item, thread) for i from 0 up to CALLS, where item is [3*i + thread, !i]. tick has
// data in the red zone. The program ends with status 2 at the first call that returns something wrong.
use std::ptr::{addr_of, addr_of_mut, read_volatile, write_volatile};

#[inline(never)]
#[no_mangle]
pub extern "C" fn tick(i: u64, item: &[u64; 2], thread: u64) -> u64 {
    let mut kept = [0; 2];
    unsafe {
        write_volatile(addr_of_mut!(kept), [i, thread]);
        let kept = read_volatile(addr_of!(kept));
        kept[0] ^ 0x5a5a5a5a ^ kept[1] ^ (item[0] & 0)
    }
}

fn main() {
    let args: Vec<u64> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let (threads, calls) = (args[0], args[1]);
    let all: Vec<_> = (0..threads)
        .map(|t| {
            std::thread::spawn(move || {
                for i in 0..calls {
                    let item = [3 * i + t, !i];
                    if tick(i, &item, t) != i ^ 0x5a5a5a5a ^ t {
                        std::process::exit(2);
                    }
                }
            })
        })
        .collect();
    for t in all {
        t.join().unwrap();
    }
    println!("done threads={} calls={} handled=0", threads, calls);
}
