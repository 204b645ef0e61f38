fn main() { let x = "abc; }
