fn main() { let x = ; }
