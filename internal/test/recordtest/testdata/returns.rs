// Functions that return values by Rust's own convention, and print these as the recorder shows them.
fn black_box(n: i32) -> i32 { unsafe { std::ptr::read_volatile(&n) } }

#[derive(Debug)]
pub enum Color { Red, Green }

#[no_mangle] #[inline(never)] pub fn number(n: i32) -> i32 { black_box(n) + 1 }
#[no_mangle] #[inline(never)] pub fn real(n: i32) -> f32 { black_box(n) as f32 / 4.0 }
#[no_mangle] #[inline(never)] pub fn truth(n: i32) -> bool { black_box(n) == 3 }
#[no_mangle] #[inline(never)] pub fn wide(n: i32) -> u128 { (black_box(n) as u128) << 70 }
#[no_mangle] #[inline(never)] pub fn color(n: i32) -> Color { if black_box(n) > 2 { Color::Green } else { Color::Red } }
#[no_mangle] #[inline(never)] pub fn some(n: i32) -> Option<u32> { if black_box(n) > 2 { Some(n as u32) } else { None } }
#[no_mangle] #[inline(never)] pub fn long(n: i32) -> Option<i64> { if black_box(n) > 2 { Some(-n as i64) } else { None } }
#[no_mangle] #[inline(never)] pub fn checked(n: i32) -> Result<u16, u16> { if black_box(n) > 2 { Ok(7) } else { Err(700) } }
#[no_mangle] #[inline(never)] pub fn tuple(n: i32) -> (u32, u32) { (black_box(n) as u32, 5) }
#[no_mangle] #[inline(never)] pub fn mixed(n: i32) -> (f64, i32) { (black_box(n) as f64 / 2.0, 5) }
#[no_mangle] #[inline(never)] pub fn three(n: i32) -> (u8, u8, u8) { (black_box(n) as u8, 5, 6) }
#[no_mangle] #[inline(never)] pub fn bytes(n: i32) -> [u8; 4] { [black_box(n) as u8, 2, 3, 4] }
#[no_mangle] #[inline(never)] pub fn text(n: i32) -> &'static str { if black_box(n) > 2 { "long" } else { "short" } }
// In memory.
pub struct Three { pub a: i64, pub b: f64, pub c: u8 }

#[no_mangle] #[inline(never)] pub fn owned(n: i32) -> String { black_box(n).to_string() }
#[no_mangle] #[inline(never)] pub fn array(n: i32) -> [u64; 4] { [black_box(n) as u64, 2, 3, 4] }
#[no_mangle] #[inline(never)] pub fn whole(n: i32) -> Three { Three { a: black_box(n) as i64, b: 0.5, c: 7 } }
#[no_mangle] #[inline(never)] pub extern "C" fn foreign(n: i32) -> Three { Three { a: black_box(-n) as i64, b: 1.5, c: 8 } }
#[no_mangle] #[inline(never)] pub fn maybe(n: i32) -> Option<Three> { if black_box(n) > 2 { Some(Three { a: n as i64, b: 0.5, c: 7 }) } else { None } }
#[no_mangle] #[inline(never)] pub fn either(n: i32) -> Result<String, i32> { if black_box(n) > 2 { Ok((n + 50).to_string()) } else { Err(-1) } }
// Local functions, of which LLVM may know all callers: the result of the second is 5 always, and it leaves that out.
#[inline(never)] fn local(n: i32) -> [i64; 3] { [black_box(n) as i64, 5, 6] }
#[inline(never)] fn constant(n: i32) -> i32 { black_box(n); 5 }

fn show(function: &str, before: &str, t: &Three, after: &str) {
    println!("returns::{} = {}returns::Three {{a: {}, b: {}, c: {}}}{}", function, before, t.a, t.b, t.c, after);
}

fn main() {
    for n in 2..4 {
        println!("returns::number = {}", number(n));
        println!("returns::real = {}", real(n));
        println!("returns::truth = {}", truth(n));
        println!("returns::wide = {}", wide(n));
        println!("returns::color = returns::Color::{:?}", color(n));
        println!("returns::some = core::option::Option<u32>::{:?}", some(n));
        println!("returns::long = core::option::Option<i64>::{:?}", long(n));
        println!("returns::checked = core::result::Result<u16, u16>::{:?}", checked(n));
        println!("returns::tuple = {:?}", tuple(n));
        let pair = mixed(n);
        println!("returns::mixed = ({}, {})", pair.0, pair.1);
        println!("returns::three = {:?}", three(n));
        println!("returns::bytes = {:?}", bytes(n));
        println!("returns::text = {:?}", text(n));
        println!("returns::owned = {:?}", owned(n));
        println!("returns::array = {:?}", array(n));
        show("whole", "", &whole(n), "");
        show("foreign", "", &foreign(n), "");
        match maybe(n) {
            Some(t) => show("maybe", "core::option::Option<returns::Three>::Some(", &t, ")"),
            None => println!("returns::maybe = core::option::Option<returns::Three>::None"),
        }
        println!("returns::either = core::result::Result<alloc::string::String, i32>::{:?}", either(n));
        black_box(local(n)[0] as i32);
        black_box(constant(n));
    }
}
