//! The tests of the library, in one binary, so that it is linked once: a file for each matter.
//!
//! `cargo test -p fencewright --test it engine_laws::` runs one file, `laws::` all laws. What goes through every
//! example with every engine is `tests/suite.rs`.

#[path = "../common/mod.rs"]
mod common;

mod abstraction_laws;
mod any_crowd;
mod any_index;
mod any_number;
mod any_number_certificates;
mod any_number_laws;
mod any_number_races;
mod bad_inputs;
mod blame;
mod c11;
mod certificate_forgeries;
mod certificate_laws;
mod certificates;
mod coherence_avoid;
mod coherence_laws;
mod coherence_values;
mod each_property;
mod engine_laws;
mod fw_robustness;
mod growth_programs;
mod hang_laws;
mod hangs;
mod integer_laws;
mod invariant_laws;
mod invariants;
mod language_page;
mod layers;
mod machine_laws;
mod numeric_laws;
mod outcome_laws;
mod projection_laws;
mod questions;
mod race_laws;
mod races;
mod rc11_graphs;
mod rc11_laws;
mod rc11_traps;
mod release_acquire;
mod reports;
mod robust;
mod robust_fences;
mod robust_laws;
mod sra_certificates;
mod sra_laws;
mod sra_litmus;
mod sra_orders;
mod sra_questions;
mod sra_traps;
mod synth;
mod synth_laws;
mod tidy;
mod toy_frontend;
mod translate_examples;
mod translate_laws;
mod translate_sizes;
mod translate_tools;
mod unbounded_certificates;
mod vacuous;
mod views_model;
mod walk;
mod walls;
mod wide_ranges;
