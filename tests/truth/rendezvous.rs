// One thread cuts pieces of uneven work, another polishes them; the channel between has no room.
// TRUTH: condition|futex; place=main|cut|polish|closure
// Fixed: a channel with room.
use std::sync::mpsc::sync_channel;
use std::thread;

fn mix(mut seed: u64, rounds: u64) -> u64 {
    for _ in 0..rounds {
        seed ^= seed >> 33;
        seed = seed.wrapping_mul(0xff51afd7ed558ccd).wrapping_add(1);
    }
    seed
}

fn main() {
    let fixed = std::env::args().nth(1).as_deref() == Some("--fixed");
    let (give, take) = sync_channel::<u64>(if fixed { 4096 } else { 0 });
    let cutter = thread::spawn(move || {
        for i in 0..12000u64 {
            give.send(mix(i + 1, if i % 16 < 8 { 28000 } else { 2000 })).unwrap();
        }
    });
    let mut sum = 0u64;
    for piece in take {
        sum ^= mix(piece, if piece % 16 < 8 { 28000 } else { 2000 });
    }
    cutter.join().unwrap();
    println!("{:x}", sum);
}
