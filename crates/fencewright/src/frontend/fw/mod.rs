//! The `.fw` language.
