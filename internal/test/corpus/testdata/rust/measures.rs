//! The library of measures, which the program links dynamically.

pub static mut CALLS: u32 = 0;
static NAME: &str = "measures";

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Reading {
    pub kind: u8,
    pub value: f64,
    pub raw: [i16; 3],
}

#[inline(never)]
#[no_mangle]
pub extern "C" fn measure(reading: Reading, factor: i32) -> f64 {
    let mut sum: i64 = 0;
    for (index, part) in reading.raw.iter().enumerate() {
        sum += *part as i64 * (index as i64 + 1);
        unsafe { CALLS += 1 } // @part
    }
    let scaled = reading.value * factor as f64;
    let total = scaled + sum as f64 + NAME.len() as f64;
    total // @measure
}
