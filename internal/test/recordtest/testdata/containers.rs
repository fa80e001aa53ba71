// Variables of the types of Rust's library.
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::{Rc, Weak};
use std::sync::{Arc, Mutex, RwLock};

struct Job {
    id: i32,
    name: String,
    tags: Vec<String>,
    owner: Option<Box<i32>>,
}

#[inline(never)]
fn hit<T>(value: &T) {
    unsafe { std::ptr::read_volatile(&(value as *const T)) };
}

fn main() {
    let empty = String::new();
    let text = String::from("text");
    let utf8 = String::from("héllo → ü");
    let literal = "literal";
    let v0: Vec<i32> = Vec::new();
    let v3 = vec![1, 2, 3];
    let v100: Vec<i32> = (0..100).collect();
    let texts = vec![String::from("a"), String::new(), String::from("ccc")];
    let nested = vec![vec![1], vec![], vec![2, 3]];
    let pairs = vec![(1, String::from("one")), (2, String::from("two"))];
    let jobs = vec![Job { id: 1, name: String::from("first"), tags: texts.clone(), owner: None }];
    let mut ring: VecDeque<i32> = (0..5).collect();
    ring.pop_front();
    ring.pop_front();
    ring.push_back(7);
    ring.push_front(9);
    let mut map = HashMap::new();
    for i in 0..90 {
        map.insert(format!("key{}", i), i);
    }
    let map0: HashMap<i32, i32> = HashMap::new();
    let set: HashSet<i32> = (0..40).collect();
    let some = Some(4);
    let none: Option<String> = None;
    let some_text = Some(String::from("some"));
    let ok: Result<i32, String> = Ok(1);
    let bad: Result<i32, String> = Err(String::from("bad"));
    let tuple = (1, String::from("t"), true);
    let array = [String::from("x"), String::from("y")];
    let shared = Rc::new(String::from("rc"));
    let again = shared.clone();
    let atomic = Arc::new(vec![1, 2]);
    let borrowed: Cow<str> = Cow::Borrowed("cow");
    let owned: Cow<str> = Cow::Owned(String::from("own"));
    let tree0: BTreeMap<i32, i32> = BTreeMap::new();
    let tree1: BTreeMap<u8, String> = vec![(7, String::from("seven"))].into_iter().collect();
    let mut tree: BTreeMap<String, i32> = (0..130).map(|i| (format!("key{}", i * 37 % 1000), i)).collect();
    for i in 0..40 {
        tree.remove(&format!("key{}", i * 3 * 37 % 1000));
    }
    let lists: BTreeMap<i64, Vec<u16>> = (0..20).map(|i| (i, vec![7; i as usize % 3])).collect();
    let leaves: BTreeSet<i32> = (0..11).collect();
    let ordered: BTreeSet<u16> = (0..190).map(|i| i * 77 % 1001).collect();
    let named: BTreeSet<String> = texts.iter().cloned().collect();
    let cell = Cell::new(5);
    let free = RefCell::new(vec![1, 2]);
    let read = RefCell::new(String::from("read"));
    let reader = read.borrow();
    let written = RefCell::new(3);
    let writer = written.borrow_mut();
    let graph = Rc::new(RefCell::new(texts.clone()));
    let mutex = Mutex::new(String::from("mutex"));
    let lock = RwLock::new(vec![3]);
    let counter = Arc::new(Mutex::new(1));
    let weak = Rc::downgrade(&shared);
    let distant = Arc::downgrade(&atomic);
    let gone = Rc::downgrade(&Rc::new(1));
    let nowhere: Weak<i32> = Weak::new();
    let (v1, v300): (Vec<i32>, Vec<i32>) = (vec![9], (0..300).collect());
    let (slice0, slice1, slice100, slice300): (&[i32], &[i32], &[i32], &[i32]) = (&v0, &v1, &v100, &v300);
    let boxed = Box::new(Job { id: 3, name: String::from("boxed"), tags: vec![], owner: None });
    let (boxed_slice, boxed_text): (Box<[i32]>, Box<str>) = (vec![1, 2].into_boxed_slice(), String::from("böxed").into_boxed_str());
    let (ring0, ring1): (VecDeque<i32>, VecDeque<i32>) = (VecDeque::new(), vec![1].into());
    let (ring100, ring300): (VecDeque<i32>, VecDeque<i32>) = (v100.clone().into(), v300.clone().into());
    let (map1, set0, set1): (HashMap<i32, i32>, HashSet<i32>, HashSet<i32>) = ([(1, 2)].into(), HashSet::new(), [7].into());
    let (leaves0, leaves1): (BTreeSet<i32>, BTreeSet<i32>) = (BTreeSet::new(), [1].into());
    let (tree300, leaves300): (BTreeMap<i32, i32>, BTreeSet<i32>) = ((0..300).map(|i| (i, i)).collect(), (0..300).collect());
    let text300 = "x".repeat(300);
    println!("boxed_slice = alloc::boxed::Box<[i32], alloc::alloc::Global>(size=2) = {{{}, {}}}", boxed_slice[0], boxed_slice[1]);
    println!("boxed_text = {:?}", boxed_text);
    println!("mutex = Mutex(poisoned=0) = {{value = {:?}, poisoned = 0}}", mutex.lock().unwrap());
    println!("lock = RwLock(poisoned=0) = {{value = Vec(size=1) = {{{}}}, poisoned = 0}}", lock.read().unwrap()[0]);
    println!("counter = Arc(strong=1, weak=0) = {{value = Mutex(poisoned=0) = {{value = 1, poisoned = 0}}, strong = 1, weak = 0}}");
    let (n, m) = (weak.strong_count(), weak.weak_count());
    println!("weak = Weak(strong={0}, weak={1}) = {{value = {2:?}, strong = {0}, weak = {1}}}", n, m, weak.upgrade().unwrap());
    println!("distant = Weak(strong={0}, weak={1}) = {{value = Vec(size=2) = {{1, 2}}, strong = {0}, weak = {1}}}",
        distant.strong_count(), distant.weak_count());
    println!("gone = Weak(strong={}, weak=1)", gone.strong_count());
    println!("nowhere = Weak(strong={}, weak={})", nowhere.strong_count(), nowhere.weak_count());
    // What C has for keywords are names here.
    let long = vec![5];
    let (unsigned, union, sizeof, double) = (6, 7, 8, 9);
    let job = Job { id: 2, name: String::from("job"), tags: vec![], owner: Some(Box::new(3)) };
    hit(&job); // @here
    hit(&(&empty, &text, &utf8, &literal, &v0, &v3, &v100, &texts, &nested, &pairs, &jobs));
    hit(&(&ring, &map, &map0, &set, &some, &none, &some_text, &ok, &bad, &tuple, &array));
    hit(&(&shared, &again, &atomic, &borrowed, &owned, job.id, &job.name, &job.tags, &job.owner));
    hit(&(&tree0, &tree1, &tree, &lists, &leaves, &ordered, &named, &cell, &free));
    hit(&(&reader, &writer, &graph, &mutex, &lock, &counter, &weak, &distant, &gone, &nowhere));
    hit(&(&v1, &v300, &slice0, &slice1, &slice100, &slice300, &boxed, &boxed_slice, &boxed_text, &ring0, &ring1, &ring100));
    hit(&(&boxed.id, &boxed.name, &boxed.tags, &boxed.owner));
    hit(&(&ring300, &map1, &set0, &set1, &leaves0, &leaves1, &tree300, &leaves300, &text300));
    hit(&(&long, &unsigned, &union, &sizeof, &double));
    hit(&(jobs[0].id, &jobs[0].name, &jobs[0].tags, &jobs[0].owner));
}
