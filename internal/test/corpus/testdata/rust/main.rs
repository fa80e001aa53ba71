//! Locals, arguments and statics in Rust. It prints what its functions return, and a check sum.

mod stock {
    pub static LIMIT: i64 = 64;
    pub static mut COUNT: u16 = 3;

    #[derive(Clone)]
    pub struct Item {
        pub id: u32,
        pub name: String,
        pub price: (i32, u8),
        pub spare: Option<Box<u64>>,
    }

    impl Item {
        #[inline(never)]
        pub fn cost(&self, pieces: i32) -> i64 {
            let base = self.price.0 as i64 * pieces as i64;
            let rest = self.price.1 as i64;
            unsafe { COUNT += 1 } // @cost
            base + rest
        }
    }
}

#[derive(Clone, Copy)]
#[allow(dead_code)]
enum Shape {
    Empty,
    Circle(f32),
    Box { width: u16, height: i64 },
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Reading {
    kind: u8,
    value: f64,
    raw: [i16; 3],
}

#[link(name = "measures")]
extern "C" {
    fn measure(reading: Reading, factor: i32) -> f64;
}

#[inline(never)]
fn numbers(round: i8) -> i64 {
    let tiny: i8 = -100 - round;
    let byte: u8 = 200 + round as u8;
    let big: i64 = -9_000_000_000 + round as i64;
    let huge: u128 = 1 << 100;
    let flag = round & 1 == 1;
    let letter = 'ß';
    let real = 0.1f32 + round as f32;
    let sum = tiny as i64 + byte as i64 + big; // @numbers
    sum + flag as i64 + letter as i64 + real as i64 + (huge >> 90) as i64
}

#[inline(never)]
fn area(shape: Shape, scale: &mut i32) -> i64 {
    *scale += 1;
    let size = match shape {
        Shape::Empty => 0,
        Shape::Circle(radius) => (radius * radius * 3.0) as i64, // @circle
        Shape::Box { width, height } => width as i64 * height,
    };
    size * *scale as i64 // @area
}

#[inline(never)]
fn slices(values: &[i32], word: &str) -> i32 {
    let table = [[1u16, 2], [3, 4]];
    let mut best = i32::MIN;
    for value in values {
        if *value > best {
            best = *value; // @best
        }
    }
    best + table[1][0] as i32 + word.len() as i32 // @slices
}

#[inline(never)]
fn generic<T: Copy + Into<f64>>(value: T, times: usize) -> f64 {
    let mut sum = 0.0;
    for _ in 0..times {
        sum += value.into();
    }
    sum // @generic
}

/// Prints what a function has returned.
fn said<T: std::fmt::Display>(name: &str, value: T) -> T {
    println!("{} = {}", name, value);
    value
}

fn main() {
    let mut scale = 1;
    let mut sum = 0i64;
    for round in 0..3i8 {
        let item = stock::Item { id: 7 + round as u32, name: format!("item-{}", round), price: (50, round as u8), spare: Some(Box::new(5)) };
        let reading = Reading { kind: round as u8, value: 1.5, raw: [1, -2, 3 + round as i16] };
        let shape = [Shape::Empty, Shape::Circle(2.5), Shape::Box { width: 3, height: -4 }][round as usize];
        sum += said("main::numbers", numbers(round));
        sum += said("main::area", area(shape, &mut scale));
        sum += said("main::slices", slices(&[3, round as i32 * 5, -1], &item.name)) as i64;
        sum += said("main::stock::Item::cost", item.cost(round as i32 + 1)) + item.id as i64;
        sum += said("main::generic", generic(2.5f32, 2)) as i64 + said("main::generic", generic(round as i32, 3)) as i64;
        sum += said("measure", unsafe { measure(reading, 2) }) as i64; // @round
        if let Some(boxed) = &item.spare {
            sum += **boxed as i64;
        }
    }
    println!("{} {}", sum, sum + stock::LIMIT);
}
