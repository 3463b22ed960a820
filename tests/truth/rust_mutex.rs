// Orders are matched under one Mutex by all threads.
// TRUTH: lock; place=submit|main|matcher
// Fixed: a book for each thread.
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread;

struct Book {
    asks: BTreeMap<u64, u64>,
}

fn mix(mut seed: u64, rounds: u32) -> u64 {
    for _ in 0..rounds {
        seed ^= seed >> 33;
        seed = seed.wrapping_mul(0xff51afd7ed558ccd).wrapping_add(1);
    }
    seed
}

fn submit(book: &Mutex<Book>, price: u64) {
    let mut book = book.lock().unwrap();
    *book.asks.entry(mix(price, 4000) % 500).or_insert(0) += 1;
}

fn main() {
    let fixed = std::env::args().nth(1).as_deref() == Some("--fixed");
    let books: Vec<_> = (0..2).map(|_| Arc::new(Mutex::new(Book { asks: BTreeMap::new() }))).collect();
    let threads: Vec<_> = (0..2usize)
        .map(|i| {
            let book = books[if fixed { i } else { 0 }].clone();
            thread::spawn(move || {
                let mut price = i as u64 + 1;
                for _ in 0..50000 {
                    price = mix(price, 800);
                    submit(&book, price);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{}", books[0].lock().unwrap().asks.len());
}
