// Values of Rust, for expressions over them.
struct Point { x: i32, y: i16 }
struct Job { id: u8, at: Point, pair: (i64, u16), ready: bool, next: Option<Box<Point>>, name: String }
static LIMIT: i32 = 42;
static mut COUNT: u64 = 7;

impl Job {
    #[inline(never)]
    fn work(&self, word: &str, values: &[i32], scale: &mut i32) -> i64 {
        let tiny: i8 = -100;
        let table = [[1u16, 2], [3, 4]];
        let local = Point { x: -5, y: 6 };
        let tuple = (1u8, -2i32, local.x);
        let reference = &local;
        let size = values.len();
        unsafe { COUNT += 1 }
        let limit = unsafe { std::ptr::read_volatile(&LIMIT) }; // a LIMIT that is only read is not in the program
        let sum = self.id as i64 + *scale as i64 + tiny as i64 + table[1][0] as i64 + tuple.1 as i64 + reference.x as i64;
        sum + word.len() as i64 + size as i64 + limit as i64 /* here */
    }
}

fn main() {
    let job = Job { id: 200, at: Point { x: 3, y: -4 }, pair: (-9, 10), ready: true, next: None, name: String::from("job") };
    let mut scale = 5;
    let sum = job.work("text", &[7, -8, 9], &mut scale);
    println!("{} {} {} {} {} {} {}", sum, job.at.x, job.at.y, job.pair.0 + job.pair.1 as i64, job.ready, job.name,
        job.next.map_or(0, |p| p.x + p.y as i32));
}
