//! Times, sizes and definitions as people write them.

use std::time::Duration;

/// A limit that may be `none`. (A type of its own, since clap gives `Option` another meaning.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit<T>(pub Option<T>);

/// `60s`, `5m`, `1h`, `500ms`, `none`; a bare number counts seconds.
pub(crate) fn time(text: &str) -> Result<Limit<Duration>, String> {
    let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("", 1.0)];
    let seconds = quantity(text, &units).ok_or("write a time such as `60s`, `5m` or `none`")?;
    let limit = seconds.map(|it| Duration::try_from_secs_f64(it).map_err(|_| "the time is too long")).transpose()?;
    Ok(Limit(limit))
}

/// `2G`, `512M`, `none`; a bare number counts bytes.
pub(crate) fn size(text: &str) -> Result<Limit<u64>, String> {
    let (k, m, g, t) = (1024.0, 1_048_576.0, 1_073_741_824.0, 1_099_511_627_776.0);
    let units = [
        ("KiB", k),
        ("MiB", m),
        ("GiB", g),
        ("TiB", t),
        ("KB", k),
        ("MB", m),
        ("GB", g),
        ("TB", t),
        ("K", k),
        ("M", m),
        ("G", g),
        ("T", t),
        ("B", 1.0),
        ("", 1.0),
    ];
    let bytes = quantity(text, &units).ok_or("write a size such as `2G`, `512M` or `none`")?;
    Ok(Limit(bytes.map(|it| it as u64)))
}

/// `NAME=VALUE`
pub(crate) fn define(text: &str) -> Result<(String, i64), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let value = value.trim().parse().map_err(|_| format!("`{}` is not an integer", value.trim()))?;
    let is_name = |it: &str| !it.is_empty() && it.chars().all(|c| c.is_alphanumeric() || c == '_');
    match name.trim() {
        name if is_name(name) => Ok((name.to_owned(), value)),
        name => Err(format!("`{name}` is not a name")),
    }
}

/// A number with the first unit that fits; `Some(None)` for `none`.
fn quantity(text: &str, units: &[(&str, f64)]) -> Option<Option<f64>> {
    if text == "none" {
        return Some(None);
    }
    let number_of = |unit: &str| {
        let head = text.len().checked_sub(unit.len())?;
        let (number, tail) = (text.get(..head)?, text.get(head..)?);
        tail.eq_ignore_ascii_case(unit).then_some(number)?.trim().parse::<f64>().ok()
    };
    let found = units.iter().find_map(|(unit, size)| Some(number_of(unit)? * size));
    found.filter(|it| it.is_finite() && *it >= 0.0).map(Some)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Limit, define, size, time};

    #[test]
    fn times_are_read() {
        let check = |text: &str, millis: Option<u64>| {
            assert_eq!(time(text), Ok(Limit(millis.map(Duration::from_millis))), "{text}");
        };
        check("60s", Some(60_000));
        check("5m", Some(300_000));
        check("250ms", Some(250));
        check("1.5h", Some(5_400_000));
        check("2", Some(2_000));
        check("none", None);
        for wrong in ["", "s", "-1s", "5 minutes", "inf", "nan", "1e300h", "5µ"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_read() {
        let check = |text: &str, bytes: Option<u64>| assert_eq!(size(text), Ok(Limit(bytes)), "{text}");
        check("2G", Some(2 << 30));
        check("512m", Some(512 << 20));
        check("1GiB", Some(1 << 30));
        check("100", Some(100));
        check("none", None);
        for wrong in ["", "G", "-2G", "two", "2X"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn definitions_are_read() {
        assert_eq!(define("N=3"), Ok(("N".to_owned(), 3)));
        assert_eq!(define("N=-3"), Ok(("N".to_owned(), -3)));
        assert_eq!(define("N"), Ok(("N".to_owned(), 1)), "as compilers of C have it");
        for wrong in ["", "=3", "N=", "N=x", "N+1=2"] {
            assert!(define(wrong).is_err(), "{wrong}");
        }
    }
}
