//! The registers of x86: the names of all widths of one register are one register.

use super::header::Architecture;

/// Each register: 64, 32, 16 and 8 bits.
const FAMILIES: [[&str; 4]; 16] = [
    ["RAX", "EAX", "AX", "AL"],
    ["RBX", "EBX", "BX", "BL"],
    ["RCX", "ECX", "CX", "CL"],
    ["RDX", "EDX", "DX", "DL"],
    ["RSI", "ESI", "SI", "SIL"],
    ["RDI", "EDI", "DI", "DIL"],
    ["RSP", "ESP", "SP", "SPL"],
    ["RBP", "EBP", "BP", "BPL"],
    ["R8", "R8D", "R8W", "R8B"],
    ["R9", "R9D", "R9W", "R9B"],
    ["R10", "R10D", "R10W", "R10B"],
    ["R11", "R11D", "R11W", "R11B"],
    ["R12", "R12D", "R12W", "R12B"],
    ["R13", "R13D", "R13W", "R13B"],
    ["R14", "R14D", "R14W", "R14B"],
    ["R15", "R15D", "R15W", "R15B"],
];

/// The register that `CMPXCHG` compares with.
pub(super) const ACCUMULATOR: usize = 0;

/// The register with this name, whatever its case.
pub(super) fn family(text: &str) -> Option<usize> {
    FAMILIES.iter().position(|names| names.iter().any(|name| name.eq_ignore_ascii_case(text)))
}

/// The name of a register in the tree.
pub(super) fn name(family: usize, architecture: Architecture) -> &'static str {
    match architecture {
        Architecture::X86 if family < 8 => FAMILIES[family][1],
        Architecture::X86 | Architecture::X86_64 => FAMILIES[family][0],
    }
}
