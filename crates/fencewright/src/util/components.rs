//! Strongly connected components (Kosaraju's algorithm), without recursion: chains may be long.

/// For each node, the first node of its strongly connected component.
pub fn components(next: &[Vec<usize>]) -> Vec<usize> {
    let mut back = vec![Vec::new(); next.len()];
    for (from, targets) in next.iter().enumerate() {
        targets.iter().for_each(|&to| back[to].push(from));
    }
    let mut is_seen = vec![false; next.len()];
    let mut finished = Vec::new();
    for node in 0..next.len() {
        finish(next, node, &mut is_seen, &mut finished);
    }
    let mut heads: Vec<usize> = (0..next.len()).collect();
    let mut is_seen = vec![false; next.len()];
    let mut component = Vec::new();
    for &node in finished.iter().rev() {
        component.clear();
        finish(&back, node, &mut is_seen, &mut component);
        if let Some(&head) = component.iter().min() {
            component.iter().for_each(|&it| heads[it] = head);
        }
    }
    heads
}

/// Appends the nodes not seen before that can be reached, each after those reached from it.
fn finish(next: &[Vec<usize>], start: usize, is_seen: &mut [bool], order: &mut Vec<usize>) {
    let mut path = if std::mem::replace(&mut is_seen[start], true) { Vec::new() } else { vec![(start, 0)] };
    while let Some((node, n_tried)) = path.last_mut() {
        match next[*node].get(*n_tried) {
            Some(&to) => {
                *n_tried += 1;
                if !std::mem::replace(&mut is_seen[to], true) {
                    path.push((to, 0));
                }
            }
            None => {
                order.push(*node);
                path.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn a_component_is_named_after_its_first_node() {
        // 0 ─▶ 1 ⇄ 2 ─▶ 3 ─▶ 3, 4
        assert_eq!(components(&[vec![1], vec![2], vec![1, 3], vec![3, 4], vec![]]), [0, 1, 1, 3, 4]);
    }
}
