// References to and owners of values whose types only their tables of methods tell, and of slices.
use std::cell::RefCell;
use std::error::Error;
use std::fmt::Debug;
use std::rc::{Rc, Weak};
use std::sync::Arc;

#[derive(Debug)]
struct Job {
    id: i32,
    name: String,
}

#[derive(Debug)]
struct Large([u64; 100]);

#[derive(Debug)]
#[repr(align(64))]
struct Aligned(u8);

trait Run: Debug {
    fn run(&self) -> i32;
}

impl Run for Job {
    fn run(&self) -> i32 {
        self.id
    }
}

impl Run for i32 {
    fn run(&self) -> i32 {
        *self
    }
}

impl Run for Aligned {
    fn run(&self) -> i32 {
        self.0 as i32
    }
}

impl Run for Large {
    fn run(&self) -> i32 {
        self.0[0] as i32
    }
}

#[inline(never)]
fn hit<T>(value: &T) {
    unsafe { std::ptr::read_volatile(&(value as *const T)) };
}

fn job(id: i32, name: &str) -> Job {
    Job { id, name: String::from(name) }
}

// said is a value of a type as show has it: GDB writes structures with the names of their modules and without blanks in their braces.
fn said<T: Debug + ?Sized>(value: &T) -> String {
    let text = format!("{:?}", value).replace("Job { ", "dyn::Job {").replace(" }", "}");
    text.replace("Aligned(", "dyn::Aligned (")
}

fn counted(name: &str, strong: usize, weak: usize, value: String) -> String {
    format!("{0}(strong={1}, weak={2}) = {{value = {3}, strong = {1}, weak = {2}}}", name, strong, weak, value)
}

fn main() {
    let owner = job(3, "owned");
    let referred: &dyn Run = &owner;
    let boxed: Box<dyn Run> = Box::new(job(2, "böxed"));
    let number: Box<dyn Debug + Send> = Box::new(5u8);
    let closure: Box<dyn Fn(i32) -> i32> = {
        let k = owner.id;
        Box::new(move |x| x + k)
    };
    let failure: Box<dyn Error> = "12x".parse::<i32>().unwrap_err().into();
    let rc: Rc<dyn Run> = Rc::new(job(1, "rc"));
    let arc: Arc<dyn Run> = Arc::new(7);
    let aligned: Rc<dyn Run> = Rc::new(Aligned(9));
    let weak: Weak<dyn Run> = Rc::downgrade(&rc);
    let gone: Weak<dyn Run> = { let rc: Rc<dyn Run> = Rc::new(8); Rc::downgrade(&rc) };
    let slice: Rc<[i32]> = Rc::from(vec![1, 2, 3]);
    let empty: Arc<[String]> = Arc::from(vec![]);
    let texts: Arc<[String]> = Arc::from(vec![String::from("a"), String::from("bb")]);
    let text: Rc<str> = Rc::from("téxt");
    let list: Vec<Box<dyn Run>> = vec![Box::new(1), Box::new(job(4, "listed"))];
    let cell: Rc<RefCell<dyn Run>> = Rc::new(RefCell::new(6));
    let large: Box<dyn Run> = Box::new(Large([1; 100]));
    let wild: [usize; 2] = [8, 16];
    let nowhere: &&dyn Run = unsafe { &*(&wild as *const [usize; 2] as *const &dyn Run) };
    println!("rc = {}", counted("Rc", Rc::strong_count(&rc), Rc::weak_count(&rc), said(&*rc)));
    println!("arc = {}", counted("Arc", Arc::strong_count(&arc), Arc::weak_count(&arc), said(&*arc)));
    println!("aligned = {}", counted("Rc", 1, 0, said(&*aligned)));
    println!("weak = {}", counted("Weak", weak.strong_count(), weak.weak_count(), said(&*weak.upgrade().unwrap())));
    println!("gone = Weak(strong={}, weak=1)", gone.strong_count());
    println!("slice = {}", counted("Rc", 1, 0, format!("&[i32](size={}) = {{{}, {}, {}}}", slice.len(), slice[0], slice[1], slice[2])));
    println!("empty = {}", counted("Arc", 1, 0, format!("&[alloc::string::String](size={})", empty.len())));
    println!("texts = {}", counted("Arc", 1, 0, format!("&[alloc::string::String](size={}) = {{{:?}, {:?}}}", texts.len(), texts[0], texts[1])));
    println!("text = {}", counted("Rc", 1, 0, said(&text)));
    let each = "alloc::boxed::Box<dyn dyn::Run, alloc::alloc::Global> = ";
    println!("list = Vec(size={}) = {{{}{}, {}{}}}", list.len(), each, said(&list[0]), each, said(&list[1]));
    println!("cell = {}", counted("Rc", 1, 0, String::from("<of a type that is not known>")));
    println!("large = {}<not collected: dyn::Large>", each);
    hit(&nowhere); // @here
    hit(&(&referred, &boxed, &number, &closure, &failure, &rc, &arc, &aligned, &weak, &gone, &slice, &empty, &texts, &text, &list));
    hit(&(&cell, &large));
}
