// Containers whose words were overwritten.
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;

#[inline(never)]
fn hit<T>(value: &T) {
    unsafe { std::ptr::read_volatile(&(value as *const T)) };
}

// poke overwrites all words of a value that are equal to one of it.
fn poke<T>(value: &mut T, from: usize, to: usize) {
    let words = value as *mut T as *mut usize;
    for i in 0..std::mem::size_of::<T>() / 8 {
        unsafe {
            if words.add(i).read_volatile() == from {
                words.add(i).write_volatile(to);
            }
        }
    }
}

// pointer is the word of a value that looks like an address.
fn pointer<T>(value: &T) -> usize {
    let words = value as *const T as *const usize;
    (0..std::mem::size_of::<T>() / 8).map(|i| unsafe { words.add(i).read_volatile() }).find(|w| *w > 1 << 32 && *w < 1 << 47).unwrap()
}

fn wild<T>(mut value: T) -> T {
    let at = pointer(&value);
    poke(&mut value, at, 16);
    value
}

fn longer<T>(mut value: T, length: usize, to: usize) -> T {
    poke(&mut value, length, to);
    value
}

fn main() {
    let wild_vec = wild(vec![1, 2, 3]);
    let wild_text = wild(String::from("text"));
    let mut room = Vec::with_capacity(4);
    room.extend([1, 2, 3]);
    let long_vec = longer(room, 3, 1 << 60);
    let negative = longer(Vec::<u8>::with_capacity(4), 0, usize::MAX);
    let mut few = Vec::with_capacity(4);
    few.extend([1, 2, 3]);
    let over = longer(few, 3, 5);
    let beyond: &[u64] = longer(&[1u64, 2, 3, 4, 5][..], 5, 1 << 30);
    let wild_slice: &[u16] = wild(&[1u16, 2][..]);
    let wild_str = wild("literal");
    let wild_map = wild(HashMap::from([(1, 2)]));
    let wild_tree = wild(BTreeMap::from([(1, 2)]));
    let wild_ring = wild(VecDeque::from(vec![1, 2]));
    let wild_rc = wild(Rc::new(5));
    let wild_box = wild(Box::new(7));
    let nested = vec![vec![1], wild(vec![2, 3])];
    hit(&nested); // @here
    hit(&(&over, &wild_vec, &wild_text, &long_vec, &negative, &beyond, &wild_slice, &wild_str, &wild_map, &wild_tree, &wild_ring, &wild_rc, &wild_box));
    std::process::exit(0);
}
