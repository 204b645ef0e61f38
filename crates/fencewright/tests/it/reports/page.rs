//! The page of a run.

use super::{PETERSON, SB, program, unsafe_run};
use fencewright::memory::Model;
use fencewright::report::trace_page;

fn page(text: &str, model: Model) -> String {
    let program = program(text);
    trace_page("t.fw", &program, &unsafe_run(&program, model), &[])
}

/// The data of a page.
fn data(page: &str) -> serde_json::Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"run\">").expect("there is data");
    let (json, _) = rest.split_once("</script>").expect("it ends");
    serde_json::from_str(json).expect("it is JSON")
}

#[test]
fn a_page_has_every_state_and_names_the_culprits() {
    let page = page(SB, Model::Tso);
    let data = data(&page);
    let steps = data["steps"].as_array().expect("steps");
    assert_eq!(data["states"].as_array().map(Vec::len), Some(steps.len() + 1), "a state before and after each step");
    assert_eq!(page.matches("<tr").count(), steps.len() + 1, "a row for each step, and the heading");
    let store = data["delayed"]["store"].as_u64().expect("a store was delayed") as usize;
    let access = data["delayed"]["access"].as_u64().expect("a load overtook it") as usize;
    let buffer = &data["states"][store + 1]["buffers"][data["delayed"]["thread"].as_u64().unwrap_or(9) as usize];
    assert_eq!(buffer[0], data["delayed"]["text"], "the delayed store is in the buffer");
    assert!(store < access, "{data}");
    assert!(page.contains("the load overtook the store"));
    assert!(!page.contains("{{"), "every place is filled");
}

#[test]
fn a_flush_names_its_location_and_memory_follows() {
    let data = data(&page(SB, Model::Tso));
    let flushed =
        data["steps"].as_array().into_iter().flatten().enumerate().find(|(_, step)| !step["flushed"].is_null());
    let (i, step) = flushed.expect("a store reaches memory");
    let x = step["flushed"].as_u64().expect("a number") as usize;
    assert_ne!(data["states"][i]["memory"][x], data["states"][i + 1]["memory"][x]);
}

#[test]
fn under_sc_there_are_no_buffers() {
    let text = "shared x: 0..1 = 0;\nthread P { x = 1; }\nforbid x == 1 at end;\n";
    assert!(data(&page(text, Model::Sc))["buffers"].is_null());
}

#[test]
fn no_text_of_the_program_is_taken_for_markup() {
    let text = format!("// </script><script>alert('&')</script> {{{{run}}}}\n{PETERSON}");
    let page = page(&text, Model::Tso);
    assert_eq!(page.matches("<script").count(), 2, "the data and the script");
    assert!(page.contains("&lt;script&gt;alert("), "the comment is shown");
    data(&page);
}

#[test]
fn a_page_needs_nothing_from_elsewhere() {
    let page = page(PETERSON, Model::Tso);
    for reference in ["http:", "https:", "src=", "href=", "url(", "@import", "fetch("] {
        assert!(!page.contains(reference), "{reference}");
    }
}
