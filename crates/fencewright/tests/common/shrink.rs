//! A failing program made as small as it stays failing.

use super::random::{Sample, Stmt};

/// The smallest sample found that still fails.
pub(crate) fn shrink(sample: &Sample, fails: impl Fn(&Sample) -> bool) -> Sample {
    let mut best = sample.clone();
    loop {
        let smaller = candidates(&best).into_iter().find(|candidate| fails(candidate));
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

fn candidates(sample: &Sample) -> Vec<Sample> {
    let mut out = Vec::new();
    for t in 0..sample.threads.len() {
        if sample.threads.len() > 1 {
            let mut smaller = sample.clone();
            smaller.threads.remove(t);
            smaller.bad.retain(|bad| bad.0 != t);
            smaller.bad.iter_mut().filter(|bad| bad.0 > t).for_each(|bad| bad.0 -= 1);
            if !smaller.bad.is_empty() || !smaller.bad_memory.is_empty() {
                out.push(smaller);
            }
        }
        for body in smaller_bodies(&sample.threads[t]) {
            let mut smaller = sample.clone();
            smaller.threads[t] = body;
            out.push(smaller);
        }
    }
    if sample.bad.len() + sample.bad_memory.len() > 1 {
        for i in 0..sample.bad.len() {
            let mut smaller = sample.clone();
            smaller.bad.remove(i);
            out.push(smaller);
        }
        for i in 0..sample.bad_memory.len() {
            let mut smaller = sample.clone();
            smaller.bad_memory.remove(i);
            out.push(smaller);
        }
    }
    out
}

fn smaller_bodies(body: &[Stmt]) -> Vec<Vec<Stmt>> {
    let mut out = Vec::new();
    for (i, statement) in body.iter().enumerate() {
        let mut without = body.to_vec();
        without.remove(i);
        out.push(without);
        let branches = match statement {
            Stmt::Load(_, branches) | Stmt::Swap(_, _, branches) => branches,
            Stmt::Cas(.., branches) | Stmt::Choose(branches) => branches,
            Stmt::Store(..) | Stmt::Fence | Stmt::StoreFence => continue,
            Stmt::Wait(..) | Stmt::Await(..) | Stmt::Atomic(_) | Stmt::Spin(..) => continue,
        };
        for (b, branch) in branches.iter().enumerate() {
            out.push([&body[..i], branch].concat());
            for smaller in smaller_bodies(branch) {
                let mut changed = body.to_vec();
                match &mut changed[i] {
                    Stmt::Load(_, branches) | Stmt::Swap(_, _, branches) => branches[b] = smaller,
                    Stmt::Cas(.., branches) | Stmt::Choose(branches) => branches[b] = smaller,
                    Stmt::Store(..) | Stmt::Fence | Stmt::StoreFence => {}
                    Stmt::Wait(..) | Stmt::Await(..) | Stmt::Atomic(_) | Stmt::Spin(..) => {}
                }
                out.push(changed);
            }
        }
    }
    out
}
