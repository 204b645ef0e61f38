//! The known name that a wrong one was probably meant to be.

/// Longer names are not compared, so that a search stays cheap whatever the input is.
const MAX_LENGTH: usize = 64;

/// The name nearest to `wanted` by number of typing errors, if it is near enough to be worth suggesting.
pub fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted_chars: Vec<char> = wanted.chars().take(MAX_LENGTH + 1).collect();
    if wanted_chars.len() > MAX_LENGTH {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for name in known {
        let chars: Vec<char> = name.chars().take(MAX_LENGTH + 1).collect();
        let longest = chars.len().max(wanted_chars.len());
        let allowed = if longest < 2 { 0 } else { (longest / 3).max(1) };
        if name == wanted || chars.len().abs_diff(wanted_chars.len()) > allowed {
            continue;
        }
        let distance = if name.eq_ignore_ascii_case(wanted) { 0 } else { distance(&wanted_chars, &chars) };
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| name)
}

/// How many insertions, deletions, replacements and swaps of neighbors lead from one word to the other.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let replaced = last[j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut least = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                least = least.min(before_last[j - 2] + 1);
            }
            row.push(least);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    fn check(wanted: &str, known: &[&str], expected: Option<&str>) {
        assert_eq!(nearest(wanted, known.iter().copied()), expected, "{wanted}");
    }

    #[test]
    fn the_nearest_name_is_suggested_if_it_is_near() {
        check("tread", &["fn", "thread", "shared"], Some("thread"));
        check("whlie", &["if", "while"], Some("while"));
        check("flg", &["turn", "flag"], Some("flag"));
        check("Flag", &["flat", "flag"], Some("flag"));
        check("x", &["y", "z"], None);
        check("critical", &["flag", "turn"], None);
        check("flag", &["flag"], None);
        check(&"a".repeat(1000), &["a"], None);
        check("", &["a"], None);
    }
}
