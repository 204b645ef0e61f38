//! Reports of known programs.
