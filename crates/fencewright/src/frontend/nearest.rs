//! The known name a misspelled one was probably meant to be.

/// The known name nearest to `wanted`, unless none is near enough to be a slip of the keyboard.
///
/// Nearness is the number of inserted, dropped, changed or swapped neighboring characters, capitals counting as equal.
/// Of two equally near names the one that comes first wins.
pub fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = wanted.to_lowercase().chars().take(MAX_LENGTH).collect();
    let allowed = wanted.len().div_ceil(3).max(1);
    let distances = known.into_iter().map(|name| (distance(&wanted, name), name));
    let near = distances.filter(|&(distance, name)| distance <= allowed && distance < name.chars().count().max(2));
    near.min_by_key(|&(distance, _)| distance).map(|(_, name)| name)
}

/// Longer names are compared by their first characters, which bounds the work.
const MAX_LENGTH: usize = 64;

fn distance(wanted: &[char], name: &str) -> usize {
    let name: Vec<char> = name.to_lowercase().chars().take(MAX_LENGTH).collect();
    let mut rows = vec![(0..=name.len()).collect::<Vec<_>>()];
    for (i, a) in wanted.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in name.iter().enumerate() {
            let changed = rows[i][j] + usize::from(a != b);
            let mut best = changed.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == name[j - 1] && wanted[i - 1] == *b {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[wanted.len()][name.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let known = ["flag", "turn", "critical"];
        assert_eq!(nearest("flg", known), Some("flag"));
        assert_eq!(nearest("trun", known), Some("turn"));
        assert_eq!(nearest("Critcal", known), Some("critical"));
        assert_eq!(nearest("x", known), None);
        assert_eq!(nearest("zebra", known), None);
    }
}
