//! rusty.rs: functions as rustc makes them: generic ones, closures, trait objects, panics that are
//! caught and that unwind, threads, 128-bit numbers, results that are large.

use std::panic;
use std::thread;

const CALLS: u64 = 300;
const THREADS: u64 = 3;

#[inline(never)]
#[no_mangle]
pub fn t_words(a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64, h: u64) -> u64 {
    a + 3 * b + 5 * c + 7 * d + 11 * e + 13 * f + 17 * g + 19 * h
}

#[inline(never)]
#[no_mangle]
pub fn t_wide(a: u64, b: i128) -> i128 {
    (a as i128) << (64 + b as u32 % 8)
}

#[inline(never)]
#[no_mangle]
pub fn t_text(n: u64) -> String {
    format!("number {}", n)
}

#[inline(never)]
#[no_mangle]
pub fn t_result(n: u64) -> Result<Vec<u64>, String> {
    if n % 3 == 0 {
        Err(t_text(n))
    } else {
        Ok((0..n % 10).collect())
    }
}

struct Guard<'a>(&'a mut u64);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        *self.0 += 1;
    }
}

#[inline(never)]
#[no_mangle]
pub fn t_panics(n: u64) -> u64 {
    if n % 4 == 1 {
        panic::resume_unwind(Box::new(n));
    }
    n
}

#[inline(never)]
#[no_mangle]
pub fn t_around_panic(dropped: &mut u64, depth: u64, n: u64) -> u64 {
    let guard = Guard(dropped);
    if depth == 0 {
        t_panics(n)
    } else {
        t_around_panic(guard.0, depth - 1, n) + 1
    }
}

trait Shape {
    fn area(&self) -> u64;
}
struct Square(u64);
struct Circle(u64);

impl Shape for Square {
    #[inline(never)]
    fn area(&self) -> u64 {
        t_words(self.0, 0, 0, 0, 0, 0, 0, 0)
    }
}
impl Shape for Circle {
    #[inline(never)]
    fn area(&self) -> u64 {
        t_words(0, self.0, 0, 0, 0, 0, 0, 0)
    }
}

fn work() -> (u64, u64) {
    let (mut sum, mut dropped) = (0u64, 0u64);
    let shapes: [Box<dyn Shape>; 2] = [Box::new(Square(3)), Box::new(Circle(4))];
    for n in 0..CALLS {
        sum = sum.wrapping_mul(31).wrapping_add(t_words(1, 2, 3, 4, 5, 6, 7, n));
        sum = sum.wrapping_add(t_wide(n, n as i128) as u64 ^ (t_wide(n, 1) >> 64) as u64);
        sum = sum.wrapping_add(match t_result(n) {
            Ok(list) => list.iter().sum::<u64>(),
            Err(text) => text.len() as u64,
        });
        sum = sum.wrapping_add(shapes[n as usize % 2].area());
        let caught = panic::catch_unwind(panic::AssertUnwindSafe(|| t_around_panic(&mut dropped, n % 5, n)));
        sum = sum.wrapping_add(caught.unwrap_or_else(|thrown| *thrown.downcast::<u64>().unwrap() * 7));
    }
    (sum, dropped)
}

fn main() {
    let threads: Vec<_> = (0..THREADS).map(|_| thread::spawn(work)).collect();
    for thread in threads {
        let (sum, dropped) = thread.join().unwrap();
        println!("rust {:x} {}", sum, dropped);
    }
    println!("count t_words {}", 2 * THREADS * CALLS);
    println!("count t_wide {}", 2 * THREADS * CALLS);
    println!("count t_text {}", THREADS * CALLS / 3);
    println!("count t_result {}", THREADS * CALLS);
    println!("count t_panics {}", THREADS * CALLS);
    println!("count t_around_panic {}", THREADS * CALLS * 3);
}
