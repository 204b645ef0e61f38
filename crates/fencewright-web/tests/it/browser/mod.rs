//! The pages in a real browser: loading, checking, stepping, repairing, canceling, mistakes, reloading.
//!
//! Needs Debian's `chromium`. Where it is missing a test says so and is skipped, unless `FENCEWRIGHT_REQUIRE_TOOLS` is
//! set. With `BLESS=1` the pictures of the guide are taken anew.

mod chromium;

use std::sync::{Mutex, PoisonError};

use chromium::{Browser, installed};
use fencewright::memory::Model;
use fencewright::{Verdict, check, parse};
use fencewright_web::Server;
use serde_json::json;

use crate::common::{root, serve, text_of, wait};

const PETERSON: &str = "examples/peterson.fw";
const SB: &str = "crates/fencewright-cli/tests/files/sb.fw";
const LARGE: &str = "crates/fencewright-cli/tests/files/large.fw";
/// No picture of the guide is larger.
const MAX_PICTURE: usize = 150_000;

/// One browser at a time: two would only wait for each other.
static BROWSERS: Mutex<()> = Mutex::new(());

/// Runs a test in a browser of its own, which must have nothing to complain about in the end.
fn in_browser(test: impl FnOnce(&mut Browser)) {
    let Some(command) = installed() else { return };
    let turn = BROWSERS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut browser = Browser::start(command);
    test(&mut browser);
    assert_eq!(browser.complaints(), [""; 0]);
    drop(browser);
    drop(turn);
}

/// Runs a test on the page of a file.
fn exploring(file: &str, test: impl FnOnce(&mut Browser, &Server)) {
    in_browser(|browser| {
        let server = serve(file);
        browser.open(&server.url());
        browser.wait("document.documentElement.dataset.ready === 'yes'");
        test(browser, &server);
    });
}

fn says(browser: &mut Browser, id: &str, text: &str) {
    let text = json!(text);
    browser.wait(&format!("document.getElementById('{id}').textContent.includes({text})"));
}

/// The picture is one; with `BLESS` it becomes that of the guide, if it is small.
fn picture(browser: &mut Browser, name: &str) {
    let png = browser.screenshot();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.len() > 10_000, "{} bytes", png.len());
    if std::env::var_os("BLESS").is_some() {
        assert!(png.len() < MAX_PICTURE, "{name}: {} bytes", png.len());
        let folder = root().join("docs/images");
        std::fs::create_dir_all(&folder).expect("a directory can be made");
        std::fs::write(folder.join(name), png).expect("a file can be written");
    }
}

#[test]
fn the_page_loads() {
    exploring(PETERSON, |browser, _| {
        assert_eq!(browser.eval("document.getElementById('text').value"), text_of(PETERSON));
        assert_eq!(browser.text("file"), PETERSON);
        let n_lines = text_of(PETERSON).split('\n').count();
        assert_eq!(browser.eval("document.getElementById('gutter').children.length"), n_lines);
        let engines = browser.eval("Array.from(document.getElementById('engine').options, (it) => it.value)");
        assert_eq!(engines.as_array().map(Vec::len), Some(fencewright::engine::ALL.len() + 1));
        browser.click("look-page");
        assert_eq!(browser.eval("document.documentElement.dataset.look"), "dark");
        for width in [1280, 380] {
            browser.resize(width, 800);
            let overflow = browser.eval("document.documentElement.scrollWidth - window.innerWidth");
            assert!(overflow.as_i64() <= Some(0), "{overflow} pixels stick out at {width}");
        }
        let n_unnamed = browser.eval(
            "Array.from(document.querySelectorAll('button, select, input, textarea, [role=tabpanel]'))\
             .filter((it) => !it.getAttribute('aria-label') && !it.labels?.length && !it.textContent.trim()).length",
        );
        assert_eq!(n_unnamed, 0, "everything that can be used has a name");
    });
}

#[test]
fn a_check_shows_a_run_to_step_through() {
    exploring(PETERSON, |browser, _| {
        browser.click("check");
        says(browser, "verdict", "unsafe under tso");
        let last = browser.eval("document.getElementById('steps').children.length").as_u64().expect("a number");
        says(browser, "count", "start");
        // The run has the focus, so its keys work at once.
        browser.press("ArrowRight");
        assert_eq!(browser.text("count"), format!("step 1 of {last}"));
        assert!(browser.text("said").contains("flag["), "{}", browser.text("said"));
        browser.press("End");
        assert_eq!(browser.text("count"), format!("step {last} of {last}"));
        assert!(browser.text("said").contains("critical"));
        browser.press("ArrowLeft");
        assert_eq!(browser.text("count"), format!("step {} of {last}", last - 1));
        browser.press("o");
        let marked = browser.eval("document.querySelector('#steps .now').textContent.includes('overtook it')");
        assert_eq!(marked, true);
        browser.eval("window.scrollTo(0, 0)");
        picture(browser, "explore.png");
        browser.choose("model", "sc");
        assert_eq!(browser.eval("document.getElementById('stale').hidden"), false, "the answer is about another model");
        browser.click("check");
        says(browser, "verdict", "✓ safe under sc");
        assert_eq!(browser.eval("document.getElementById('trace').children.length"), 0, "the run is gone");
    });
}

#[test]
fn the_keys_of_a_run_leave_the_editor_alone() {
    exploring(PETERSON, |browser, _| {
        browser.click("check");
        says(browser, "verdict", "unsafe under tso");
        browser
            .eval("(() => { const it = document.getElementById('text'); it.focus(); it.setSelectionRange(0, 0); })()");
        for key in ["ArrowRight", "d", "o", " "] {
            browser.press(key);
        }
        assert_eq!(browser.text("count"), "start");
        assert_eq!(browser.eval("document.getElementById('text').value.slice(0, 4)"), "/do ", "they were typed");
    });
}

#[test]
fn a_set_of_fences_is_shown_and_checked_again() {
    exploring(PETERSON, |browser, _| {
        browser.click("fence");
        says(browser, "outcome", "fixed under tso: one minimal set");
        browser.click_on("document.querySelector('#sets input')");
        says(browser, "rechecked", "✓ safe under tso");
        let inserted = browser
            .eval("Array.from(document.querySelectorAll('#repaired .inserted code'), (it) => it.textContent.trim())");
        assert_eq!(inserted, json!(["fence;"]));
        assert_eq!(browser.eval("document.getElementById('download').download"), "peterson_fenced.fw");
        browser.click("adopt");
        assert_eq!(browser.eval("document.getElementById('text').value.includes('fence;')"), true);
        browser.click("check");
        says(browser, "verdict", "✓ safe under tso");
        browser.click("fence");
        says(browser, "outcome", "correct under tso: no fence is needed");
    });
}

#[test]
fn a_long_check_shows_progress_and_can_be_canceled() {
    exploring(LARGE, |browser, _| {
        browser.choose("engine", "explicit");
        browser.click("check");
        browser.wait("/^[1-9][0-9,]* looked at/.test(document.getElementById('progress').textContent)");
        assert_eq!(browser.eval("document.getElementById('check').disabled"), true);
        browser.click("cancel");
        says(browser, "verdict", "unknown under tso: interrupted");
        assert_eq!(browser.eval("document.getElementById('check').disabled"), false);
        assert_eq!(browser.eval("document.getElementById('cancel').disabled"), true);
        assert_eq!(browser.text("progress"), "");
        browser.write("text", &text_of(SB));
        browser.click("check");
        says(browser, "verdict", "unsafe under tso");
    });
}

#[test]
fn mistakes_are_shown_where_they_are() {
    exploring(SB, |browser, _| {
        browser.write("text", "shared x: 0..1;\nthread P {\n    y = <b>1</b>;\n}\n");
        // They are marked once the typing pauses, and a check refuses them.
        browser.wait("document.querySelectorAll('#mistakes button').length > 0");
        browser.click("check");
        browser.wait("!document.getElementById('notice').hidden");
        assert_eq!(browser.eval("document.querySelector('#gutter .wrong').textContent"), "3");
        assert_eq!(browser.eval("document.querySelectorAll('#mistakes b').length"), 0, "no text is markup");
        browser.click_on("document.querySelector('#mistakes button')");
        let before = browser.eval(
            "(() => { const it = document.getElementById('text'); return it.value.slice(0, it.selectionStart); })()",
        );
        assert_eq!(before.as_str().map(|it| it.matches('\n').count()), Some(2), "the caret is in line 3");
        browser.write("text", &text_of(SB));
        assert_eq!(browser.eval("document.querySelectorAll('#mistakes button, #gutter .wrong').length"), 0);
        browser.click("check");
        says(browser, "verdict", "unsafe under tso");
    });
}

#[test]
fn a_reload_keeps_what_was_written() {
    exploring(LARGE, |browser, server| {
        browser.write("text", &text_of(SB));
        browser.reload();
        browser.wait("document.documentElement.dataset.ready === 'yes'");
        assert_eq!(browser.eval("document.getElementById('text').value"), text_of(SB));
        browser.click("reset");
        assert_eq!(browser.eval("document.getElementById('text').value"), text_of(LARGE));
        browser.choose("engine", "explicit");
        browser.click("check");
        browser.wait("/looked at/.test(document.getElementById('progress').textContent)");
        browser.reload();
        browser.wait("document.documentElement.dataset.ready === 'yes'");
        let first = wait(server, &json!(1));
        assert_eq!(first["finding"]["reason"], "interrupted", "nobody waits for it any more");
        browser.write("text", &text_of(SB));
        browser.click("check");
        says(browser, "verdict", "unsafe under tso");
    });
}

#[test]
fn the_state_space_is_walked_by_hand() {
    exploring(SB, |browser, _| {
        browser.click("tab-walk");
        let take = |browser: &mut Browser, text: &str| {
            let all = "Array.from(document.querySelectorAll('#walk-next button'))";
            let found = format!("{all}.find((it) => it.textContent.includes('{text}'))");
            browser.wait(&format!("!!{found}"));
            browser.click_on(&found);
        };
        for (i, step) in ["x = 1 → buffer", "reads y = 0", "y = 1 → buffer", "reads x = 0"].into_iter().enumerate()
        {
            take(browser, step);
            browser.wait(&format!("document.querySelectorAll('#walk-taken button').length === {}", i + 1));
        }
        let queues =
            browser.eval("Array.from(document.querySelectorAll('#walk-lanes .entry'), (it) => it.textContent)");
        assert_eq!(queues, json!(["x=1", "y=1"]));
        take(browser, "⇣ x = 1 reaches memory");
        says(browser, "walk-memory", "x = 1 ⇠ buffer of P");
        take(browser, "⇣ y = 1 reaches memory");
        says(browser, "walk-said", "Violated here: P.a == 0 && Q.b == 0 at end");
        browser.press("u");
        says(browser, "walk-said", "After 5 steps.");
        browser.press("1");
        says(browser, "walk-said", "Violated here");
        browser.press("r");
        says(browser, "walk-said", "At the start.");
        browser.choose("model", "sc");
        browser.wait("document.querySelectorAll('#walk-lanes .queue').length === 0");
        take(browser, "x = 1 → memory");
        says(browser, "walk-memory", "x = 1");
    });
}

#[test]
fn a_walk_starts_with_chosen_values() {
    exploring(PETERSON, |browser, _| {
        browser.click("tab-walk");
        says(browser, "walk-memory", "turn = 0");
        let input = "document.querySelector('#walk-values input')";
        browser.eval(&format!("{input}.value = 1; {input}.dispatchEvent(new Event('change'))"));
        says(browser, "walk-memory", "turn = 1");
        browser.click("tab-result");
        browser.press("ArrowRight");
        assert_eq!(browser.eval("document.activeElement.id"), "tab-fences", "arrow keys go from tab to tab");
    });
}

#[test]
fn a_server_that_has_gone_is_noticed() {
    let Some(command) = installed() else { return };
    let turn = BROWSERS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut browser = Browser::start(command);
    let server = serve(SB);
    browser.open(&server.url());
    browser.wait("document.documentElement.dataset.ready === 'yes'");
    drop(server);
    browser.click("check");
    says(&mut browser, "notice", "is “fencewright explore” still running?");
    assert_eq!(browser.eval("document.getElementById('check').disabled"), false);
    drop(browser);
    drop(turn);
}

/// The page of `trace --html`, opened as a file.
#[test]
fn the_page_of_a_run_needs_no_server() {
    in_browser(|browser| {
        let program = parse(PETERSON, &text_of(PETERSON)).expect("it is a program");
        let Verdict::Unsafe(run) = check(&program, Model::Tso).expect("an engine takes it").verdict else {
            panic!("it is unsafe under TSO");
        };
        let folder = tempfile::tempdir().expect("a directory can be made");
        let path = folder.path().join("peterson.html");
        std::fs::write(&path, fencewright::report::trace_page(PETERSON, &program, &run, &[]))
            .expect("it can be written");
        browser.open(&format!("file://{}", path.display()));
        says(browser, "count", "start");
        for _ in 0..4 {
            browser.press("ArrowRight");
        }
        assert_eq!(browser.text("count"), format!("step 4 of {}", run.events.len()));
        browser.press("o");
        assert_eq!(
            browser.eval("document.querySelectorAll('.entry.delayed').length"),
            1,
            "the delayed store is marked"
        );
        picture(browser, "trace.png");
        browser.press("Home");
        assert_eq!(browser.text("count"), "start");
        browser.click("next");
        assert_eq!(browser.text("count"), format!("step 1 of {}", run.events.len()));
    });
}
