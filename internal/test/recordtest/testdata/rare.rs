// Types of Rust of which debugging information says little: what a value never is tells one variant from another.
use std::arch::asm;
use std::cell::Cell;
use std::num::*;
use std::rc::Rc;

#[derive(Clone, Copy)]
#[repr(u8)]
pub enum Byte { Low = 200, High = 255 }
#[derive(Clone, Copy)]
#[repr(i64)]
pub enum Signed { Low = -3000000000, Minus = -1, High = 200 }
#[derive(Clone, Copy)]
pub enum Data { Pair(u8, u32), Flag(bool), Named { a: i8, b: u128 }, Nothing }
#[derive(Clone, Copy)]
#[repr(i8)]
pub enum Tagged { X(u8), Y(i64), Z }

pub struct Rare {
    none: Option<bool>, some: Option<bool>, nested: Option<Option<bool>>, byte: Option<NonZeroU8>, no_word: Option<NonZeroU32>,
    word: Option<NonZeroU32>, signed: Option<NonZeroI64>, reference: Option<&'static u32>, boxed: Option<Box<u8>>,
    no_box: Option<Box<u8>>, letter: Option<char>, listed: Option<Byte>, unlisted: Option<Byte>, low: Signed, minus: Signed,
    data: Option<Data>, pair: Data, named: Data, nothing: Data, wide: Option<u128>, text: Option<&'static str>, no_text: Option<&'static str>,
    tagged: Tagged, other: Tagged, last: Tagged, result: Result<u8, u128>, order: Option<std::cmp::Ordering>, most: u128, least: i128,
    unit: (), empty: [u8; 0], some_unit: Option<()>, shared: Option<Rc<u8>>, list: Vec<u8>, string: String, cell: Cell<i8>,
    function: fn(u8) -> u8, slice: &'static [u16], real: f32, big: [u8; 70000], behind: i16,
}

static SEVEN: u32 = 7;

fn next(n: u8) -> u8 { n + 1 }

#[inline(never)]
fn look(x: &Rare, niche: &Option<NonZeroU128>, no_niche: &Option<NonZeroU128>) {
    unsafe { asm!("nop /* {0} {1} {2} */", in(reg) x, in(reg) niche, in(reg) no_niche) }; // @look
}

fn main() {
    let all = Rare {
        none: None, some: Some(true), nested: Some(None), byte: NonZeroU8::new(200), no_word: None, word: NonZeroU32::new(4000000000),
        signed: NonZeroI64::new(-3), reference: Some(&SEVEN), boxed: Some(Box::new(9)), no_box: None, letter: Some('\u{e9}'),
        listed: Some(Byte::High), unlisted: None, low: Signed::Low, minus: Signed::Minus, data: Some(Data::Flag(true)),
        pair: Data::Pair(200, 3000000000), named: Data::Named { a: -100, b: 1 << 100 }, nothing: Data::Nothing, wide: Some(1 << 127),
        text: Some("hey"), no_text: None, tagged: Tagged::X(200), other: Tagged::Y(-1), last: Tagged::Z, result: Err(5),
        order: Some(std::cmp::Ordering::Less), most: u128::MAX, least: i128::MIN, unit: (), empty: [], some_unit: Some(()),
        shared: Some(Rc::new(3)), list: vec![1, 200], string: String::from("abc"), cell: Cell::new(-3), function: next,
        slice: &[1, 40000], real: 0.1, big: [200; 70000], behind: -200,
    };
    let _ = (Byte::Low, Signed::High);
    look(&all, &NonZeroU128::new(1 << 100), &None);
}
