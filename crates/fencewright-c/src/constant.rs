//! What numbers, characters and strings stand for.
//!
//! ```text
//!   42  int      0xFFFFFFFF  unsigned int      4294967296  long      1u  unsigned int      'a'  int
//! ```
//!
//! C11 6.4.4: the type of an integer is the first of a list that holds its value; the list depends on the base and the
//! suffix. `long` has 64 bits, as on all 64-bit systems but Windows.

/// A number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Integer(Integer),
    /// As it is written.
    Float(String),
}

/// An integer with its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Integer {
    pub(crate) value: u64,
    pub(crate) bits: u8,
    pub(crate) is_signed: bool,
}

/// What a number stands for.
///
/// # Errors
/// What is wrong with it, as the end of a sentence.
pub(crate) fn number(text: &str) -> Result<Number, String> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'b', ..] => (&lower[2..], 2),
        [b'0', _, ..] => (&lower[1..], 8),
        _ => (&lower[..], 10),
    };
    let exponent = if radix == 16 { 'p' } else { 'e' };
    if radix != 2 && (digits.contains('.') || digits.contains(exponent)) {
        return float(text, &lower);
    }
    let length = digits.find(|it: char| !it.is_digit(radix.max(10))).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(length);
    let (is_unsigned, is_long) = suffixes(suffix).ok_or_else(|| format!("`{suffix}` is no suffix of an integer"))?;
    if let Some(odd) = digits.chars().find(|it| !it.is_digit(radix)) {
        let name = if radix == 8 { "an octal number, which begins with `0`" } else { "a binary number" };
        return Err(format!("`{odd}` is no digit of {name}"));
    }
    // `0` alone, and `0u`, have no digits behind the sign of their base.
    if digits.is_empty() && radix != 8 {
        return Err("it has no digits".to_owned());
    }
    let value = if digits.is_empty() { Ok(0) } else { u64::from_str_radix(digits, radix) };
    let value = value.map_err(|_| "it does not fit into 64 bits".to_owned())?;
    Ok(Number::Integer(typed(value, radix == 10, is_unsigned, is_long)))
}

/// Whether a suffix says `unsigned`, and whether it says `long`.
fn suffixes(suffix: &str) -> Option<(bool, bool)> {
    match suffix {
        "" => Some((false, false)),
        "u" => Some((true, false)),
        "l" | "ll" | "z" => Some((false, true)),
        "ul" | "lu" | "ull" | "llu" | "uz" | "zu" => Some((true, true)),
        _ => None,
    }
}

/// The first type that holds the value.
fn typed(value: u64, is_decimal: bool, is_unsigned: bool, is_long: bool) -> Integer {
    let fits = |bits: u8, is_signed: bool| value >> (bits - u8::from(is_signed)).min(63) == 0;
    let integer = |bits, is_signed| Integer { value, bits, is_signed };
    if !is_unsigned && !is_long && fits(32, true) {
        return integer(32, true);
    }
    if !is_long && (is_unsigned || !is_decimal) && fits(32, false) {
        return integer(32, false);
    }
    // A decimal number that no signed type holds is unsigned here, as for other compilers.
    integer(64, !is_unsigned && fits(64, true))
}

fn float(text: &str, lower: &str) -> Result<Number, String> {
    let is_hex = lower.starts_with("0x");
    let body = lower.strip_prefix("0x").unwrap_or(lower);
    let body = body.strip_suffix(|it: char| it == 'l' || it == 'f' && (!is_hex || body.contains('p'))).unwrap_or(body);
    let (mantissa, exponent) = body.split_once(if is_hex { 'p' } else { 'e' }).unwrap_or((body, "0"));
    let radix = if is_hex { 16 } else { 10 };
    let is_mantissa = mantissa.chars().all(|it| it == '.' || it.is_digit(radix))
        && mantissa.matches('.').count() <= 1
        && mantissa.len() > mantissa.matches('.').count();
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if !is_mantissa || exponent.is_empty() || !exponent.bytes().all(|it| it.is_ascii_digit()) {
        return Err("it is written wrong".to_owned());
    }
    Ok(Number::Float(text.to_owned()))
}

/// What a character between quotes stands for: its number.
///
/// # Errors
/// What is wrong with it, as the end of a sentence.
pub(crate) fn character(text: &str) -> Result<Integer, String> {
    let (prefix, inside) = unquoted(text);
    let codes = codes(inside)?;
    if codes.is_empty() {
        return Err("there is nothing between the quotes".to_owned());
    }
    if !prefix.is_empty() {
        let value = u64::from(codes[codes.len() - 1].number);
        return Ok(Integer { value, bits: 32, is_signed: prefix == "L" });
    }
    let mut bytes: Vec<u8> = Vec::new();
    codes.iter().for_each(|code| code.put(&mut bytes));
    if bytes.len() > 4 {
        return Err("it is longer than four bytes".to_owned());
    }
    // One byte is a `char`, which is signed; several are put together, as other compilers do.
    let value = match bytes[..] {
        [byte] => i32::from(byte as i8),
        _ => bytes.iter().fold(0_i32, |value, &byte| value << 8 | i32::from(byte)),
    };
    Ok(Integer { value: i64::from(value) as u64, bits: 32, is_signed: true })
}

/// What a string stands for; a byte that is no character is replaced.
///
/// # Errors
/// What is wrong with it, as the end of a sentence.
pub(crate) fn string(text: &str) -> Result<String, String> {
    let (_, inside) = unquoted(text);
    let mut bytes = Vec::new();
    codes(inside)?.iter().for_each(|code| code.put(&mut bytes));
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The prefix, and what is between the quotes.
fn unquoted(text: &str) -> (&str, &str) {
    let open = text.find(['"', '\'']).unwrap_or(0);
    let inside = text.get(open + 1..text.len().saturating_sub(1)).unwrap_or_default();
    (&text[..open], inside)
}

/// A character of a string.
#[derive(Clone, Copy)]
struct Code {
    number: u32,
    /// Whether it was given as the number of a byte.
    is_byte: bool,
}

impl Code {
    fn put(&self, bytes: &mut Vec<u8>) {
        match char::from_u32(self.number) {
            Some(it) if !self.is_byte => bytes.extend(it.encode_utf8(&mut [0; 4]).as_bytes()),
            _ => bytes.push(self.number as u8),
        }
    }
}

fn codes(inside: &str) -> Result<Vec<Code>, String> {
    let mut codes = Vec::new();
    let mut rest = inside.chars();
    while let Some(next) = rest.next() {
        let code = if next == '\\' { escape(&mut rest)? } else { Code { number: u32::from(next), is_byte: false } };
        codes.push(code);
    }
    Ok(codes)
}

/// What follows a backslash.
fn escape(rest: &mut std::str::Chars<'_>) -> Result<Code, String> {
    let byte = |number| Ok(Code { number, is_byte: true });
    let Some(sign) = rest.next() else { return Err("nothing follows its `\\`".to_owned()) };
    match sign {
        'n' => byte(10),
        't' => byte(9),
        'r' => byte(13),
        'a' => byte(7),
        'b' => byte(8),
        'f' => byte(12),
        'v' => byte(11),
        'e' => byte(27),
        '\\' | '\'' | '"' | '?' => byte(u32::from(sign)),
        'x' => byte(digits(rest, 16, usize::MAX, 0)? & 0xff),
        '0'..='7' => byte(digits(rest, 8, 2, sign.to_digit(8).unwrap_or(0))? & 0xff),
        'u' => Ok(Code { number: digits(rest, 16, 4, 0)?, is_byte: false }),
        'U' => Ok(Code { number: digits(rest, 16, 8, 0)?, is_byte: false }),
        _ => Err(format!("`\\{sign}` is no escape")),
    }
}

/// Takes at most so many digits, and puts them behind those of a value.
fn digits(rest: &mut std::str::Chars<'_>, radix: u32, most: usize, first: u32) -> Result<u32, String> {
    let (mut value, mut n_taken) = (first, 0);
    while let Some(digit) = rest.clone().next().and_then(|it| it.to_digit(radix)).filter(|_| n_taken < most) {
        rest.next();
        n_taken += 1;
        value = value.wrapping_mul(radix).wrapping_add(digit);
    }
    if n_taken == 0 && radix == 16 { Err("its escape has no digits".to_owned()) } else { Ok(value) }
}

#[cfg(test)]
mod tests {
    use super::{Integer, Number, character, number, string};

    #[track_caller]
    fn check(text: &str, value: u64, bits: u8, is_signed: bool) {
        assert_eq!(number(text), Ok(Number::Integer(Integer { value, bits, is_signed })), "{text}");
    }

    #[test]
    fn integers_have_the_first_type_that_holds_them() {
        check("0", 0, 32, true);
        check("42", 42, 32, true);
        check("2147483648", 1 << 31, 64, true);
        check("0x80000000", 1 << 31, 32, false);
        check("0xFFFFFFFFFFFFFFFF", u64::MAX, 64, false);
        check("017", 15, 32, true);
        check("0b101", 5, 32, true);
        check("1u", 1, 32, false);
        check("1UL", 1, 64, false);
        check("1ll", 1, 64, true);
        check("0u", 0, 32, false);
        check("4294967296u", 1 << 32, 64, false);
        check("9223372036854775808", 1 << 63, 64, false);
    }

    #[test]
    fn floats_are_kept_as_they_are() {
        for text in ["1.5", ".5", "1.", "1e3", "1.5e-3f", "0x1p-3", "2.0L", "0x1.8p1f", "09.5"] {
            assert_eq!(number(text), Ok(Number::Float(text.to_owned())));
        }
    }

    #[test]
    fn other_numbers_are_wrong() {
        for text in
            ["08", "0xg", "0x", "1q", "99999999999999999999", "1..2", "1e", "0b2", "1.2.3", "0b", "1ulu", "1e+-1"]
        {
            assert!(number(text).is_err(), "{text}");
        }
    }

    #[test]
    fn characters_are_numbers() {
        let value = |text: &str| character(text).map(|it| it.value as i64);
        assert_eq!(value("'a'"), Ok(97));
        assert_eq!(value(r"'\n'"), Ok(10));
        assert_eq!(value(r"'\0'"), Ok(0));
        assert_eq!(value(r"'\xff'"), Ok(-1));
        assert_eq!(value(r"'\377'"), Ok(-1));
        assert_eq!(value("'ab'"), Ok(0x6162));
        assert_eq!(value("L'é'"), Ok(0xe9));
        assert!(value("''").is_err() && value(r"'\q'").is_err() && value("'abcde'").is_err());
    }

    #[test]
    fn strings_are_read() {
        assert_eq!(string(r#""a\tb\\\"\x41\101\u00e9""#), Ok("a\tb\\\"AAé".to_owned()));
        assert_eq!(string("L\"w\""), Ok("w".to_owned()));
        assert!(string(r#""\x""#).is_err());
    }
}
