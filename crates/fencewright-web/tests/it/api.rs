//! The questions of the page and their answers.

use std::net::TcpStream;

use serde_json::{Value as Json, json};

use crate::common::{about, finished, get, parts, post, serve, serve_within, text_of, wait};

const PETERSON: &str = "examples/peterson.fw";
const LARGE: &str = "crates/fencewright-cli/tests/files/large.fw";

#[test]
fn the_page_and_its_parts_are_there() {
    let server = serve(PETERSON);
    for (name, content_type) in [
        ("", "text/html"),
        ("style.css", "text/css"),
        ("run.css", "text/css"),
        ("run.js", "text/javascript"),
        ("walk.js", "text/javascript"),
        ("explore.js", "text/javascript"),
        ("session", "application/json"),
    ] {
        let answer = get(&server, name);
        assert_eq!(answer.status, 200, "{name}");
        assert!(answer.head.contains(&format!("Content-Type: {content_type}")), "{name}: {}", answer.head);
        for header in ["Cache-Control: no-store", "Referrer-Policy: no-referrer", "X-Content-Type-Options: nosniff"] {
            assert!(answer.head.contains(header), "{name}: {header}");
        }
        assert!(answer.head.contains("Content-Security-Policy: default-src 'none';"), "{name}");
    }
}

#[test]
fn a_session_names_every_choice() {
    let session = get(&serve(PETERSON), "session").json();
    assert_eq!(session["text"], text_of(PETERSON));
    assert_eq!(session["models"], json!(["sc", "tso", "pso"]));
    let engines = session["engines"].as_array().expect("a list");
    let names: Vec<&str> = engines.iter().filter_map(|it| it["name"].as_str()).collect();
    let known: Vec<&str> = fencewright::engine::ALL.iter().map(|it| it.name()).collect();
    assert_eq!((names[0], &names[1..]), ("auto", &known[..]));
    let questions = session["questions"].as_array().expect("a list");
    let names: Vec<&str> = questions.iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["safety", "hang", "dead-wait", "race", "robust", "robust=trace"]);
}

#[test]
fn every_question_can_be_asked() {
    let server = serve(PETERSON);
    for (file, ask, words) in [
        ("examples/hangs/lost_wake_up.fw", "hang", "Nobody is left to write wake."),
        ("examples/hangs/dead_wait.fw", "dead-wait", "Nobody is left to write wake."),
        ("examples/races/message_relaxed.fw", "race", "that tells nobody what it did before"),
        ("examples/robust/store_buffering.fw", "robust", "Not robust is no bug by itself"),
        ("examples/robust/store_buffering.fw", "robust=trace", "No order of all accesses explains that."),
    ] {
        let mut question = about(&text_of(file), "tso");
        question["ask"] = json!(ask);
        let (report, _) = finished(&server, "check", &question);
        let finding = &report["finding"];
        assert_eq!((&finding["verdict"], &finding["question"]), (&json!("unsafe"), &json!(ask)), "{file}");
        assert!(report["run"]["markup"].as_str().is_some_and(|it| it.contains(words)), "{file}: {}", report["run"]);
        let (report, _) = finished(&server, "fence", &question);
        let expected = if ask == "race" { "unknown" } else { "fixed" };
        assert_eq!(report["finding"]["verdict"], expected, "{file}");
    }
}

#[test]
fn a_check_ends_with_a_run() {
    let server = serve(PETERSON);
    let (report, _) = finished(&server, "check", &about(&text_of(PETERSON), "tso"));
    assert_eq!(report["finding"]["verdict"], "unsafe");
    let n_steps = report["finding"]["trace"].as_array().map(Vec::len);
    assert_eq!(report["run"]["data"]["steps"].as_array().map(Vec::len), n_steps);
    assert!(report["run"]["markup"].as_str().is_some_and(|it| it.contains("overtook the store")));
    let (report, _) = finished(&server, "check", &about(&text_of(PETERSON), "sc"));
    assert_eq!((&report["finding"]["verdict"], &report["run"]), (&json!("safe"), &Json::Null));
}

#[test]
fn every_engine_can_be_chosen() {
    let server = serve(PETERSON);
    for engine in fencewright::engine::ALL {
        let mut question = about(&text_of("examples/peterson_fenced.fw"), "tso");
        question["engine"] = json!(engine.name());
        let (report, _) = finished(&server, "check", &question);
        let verdict = report["finding"]["verdict"].as_str().expect("a verdict");
        assert!(verdict == "safe" || verdict == "unknown", "{}: {verdict}", engine.name());
        assert_eq!(report["finding"]["engine"], engine.name());
    }
}

#[test]
fn a_set_is_written_and_is_safe() {
    let server = serve(PETERSON);
    let (report, job) = finished(&server, "fence", &about(&text_of(PETERSON), "tso"));
    assert_eq!(report["finding"]["verdict"], "fixed");
    assert_eq!(report["finding"]["fence_sets"].as_array().map(Vec::len), Some(1));
    let repaired = post(&server, "repair", &json!({"job": job, "set": 0})).json();
    let text = repaired["text"].as_str().expect("a text");
    let lines: Vec<&str> = text.lines().collect();
    for line in repaired["inserted"].as_array().expect("lines") {
        assert_eq!(lines[line.as_u64().expect("a number") as usize - 1].trim(), "fence;");
    }
    let (report, _) = finished(&server, "check", &about(text, "tso"));
    assert_eq!(report["finding"]["verdict"], "safe");
    assert_eq!(post(&server, "repair", &json!({"job": job, "set": 7})).status, 404);
    assert_eq!(post(&server, "repair", &json!({"job": 99, "set": 0})).status, 404);
}

#[test]
fn an_imported_program_is_repaired_in_its_language() {
    let path = "crates/fencewright-cli/tests/files/sb.litmus";
    let server = serve(path);
    assert_eq!(get(&server, "session").json()["language"], "litmus");
    let question = json!({"text": text_of(path), "language": "litmus", "model": "tso"});
    let (_, job) = finished(&server, "fence", &question);
    let repaired = post(&server, "repair", &json!({"job": job, "set": 0})).json();
    assert_eq!(repaired["language"], "litmus");
    let question = json!({"text": repaired["text"], "language": "litmus", "model": "tso"});
    let (report, _) = finished(&server, "check", &question);
    assert_eq!(report["finding"]["verdict"], "safe");
}

#[test]
fn a_check_shows_progress_and_can_be_canceled() {
    let server = serve(LARGE);
    let mut question = about(&text_of(LARGE), "tso");
    question["engine"] = json!("explicit");
    let job = post(&server, "check", &question).json()["job"].clone();
    let explored = loop {
        let report = post(&server, "job", &json!({"job": job})).json();
        assert_eq!(report["state"], "running", "it takes long");
        match report["explored"].as_u64() {
            Some(explored) if explored > 0 => break explored,
            _ => std::thread::sleep(std::time::Duration::from_millis(5)),
        }
    };
    assert_eq!(post(&server, "cancel", &json!({"job": job})).status, 200);
    let report = wait(&server, &job);
    assert_eq!(report["finding"]["verdict"], "unknown");
    assert_eq!(report["finding"]["reason"], "interrupted");
    assert!(report["finding"]["stats"]["explored"].as_u64() >= Some(explored));
    assert_eq!(post(&server, "cancel", &json!({"job": 1_000})).status, 404);
}

#[test]
fn no_more_than_a_few_checks_run_at_once() {
    let server = serve(LARGE);
    let mut question = about(&text_of(LARGE), "tso");
    question["engine"] = json!("explicit");
    let begun: Vec<_> = (0..5).map(|_| post(&server, "check", &question)).collect();
    assert_eq!(begun.iter().map(|it| it.status).collect::<Vec<_>>(), [200, 200, 200, 200, 429]);
    let job = begun[0].json()["job"].clone();
    post(&server, "cancel", &json!({"job": job}));
    wait(&server, &job);
    assert_eq!(post(&server, "check", &question).status, 200, "one is done, so there is room");
}

/// Copies of two threads in one block each: what is made of them before a search begins takes minutes.
fn slow_to_begin() -> String {
    let block: String = (0..40).map(|_| "choose { x += 1; } or { x += 0; }").collect();
    let bakery = text_of("benches/programs/growth/bakery.fw").replace("const N = 2;", "const N = 6;");
    format!("{bakery}\nshared x: 0..100 = 0;\nthread A {{ atomic {{ {block} }} }}\n")
}

#[test]
fn a_check_that_is_canceled_frees_its_place_within_a_second() {
    let server = serve(PETERSON);
    let mut question = about(&slow_to_begin(), "pso");
    for engine in ["load-buffer", "coherence"] {
        question["engine"] = json!(engine);
        let begun: Vec<_> = (0..4).map(|_| post(&server, "check", &question)).collect();
        assert_eq!(begun.iter().map(|it| it.status).collect::<Vec<_>>(), [200; 4], "{engine}: {}", begun[0].body);
        for job in begun.iter().map(|it| it.json()["job"].clone()) {
            assert_eq!(post(&server, "cancel", &json!({"job": job})).status, 200);
        }
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
    let report = finished(&server, "check", &about("thread P {}", "sc")).0;
    assert_eq!(report["finding"]["verdict"], "safe");
}

#[test]
fn memory_is_bounded() {
    let server = serve_within("examples/classic/dekker.fw", || Some(1 << 40));
    let (report, _) = finished(&server, "check", &about(&text_of(LARGE), "tso"));
    assert_eq!(report["finding"]["reason"], "the memory limit was reached");
}

#[test]
fn old_answers_are_forgotten() {
    let server = serve(PETERSON);
    let jobs: Vec<Json> = (0..20).map(|_| finished(&server, "check", &about("thread P {}", "sc")).1).collect();
    let statuses = jobs.iter().map(|job| post(&server, "job", &json!({"job": job})).status);
    let n_known = statuses.skip_while(|&status| status == 404).inspect(|&status| assert_eq!(status, 200)).count();
    assert_eq!(n_known, 16);
}

#[test]
fn mistakes_have_places() {
    let server = serve(PETERSON);
    for (name, status) in [("check", 422), ("fence", 422), ("read", 200)] {
        let answer = post(&server, name, &about("shared x: 0..1;\nthread P { y = 1; }\n", "tso"));
        assert_eq!(answer.status, status);
        let mistake = &answer.json()["diagnostics"][0];
        assert_eq!((&mistake["line"], &mistake["column"]), (&json!(2), &json!(12)));
        assert!(mistake["message"].as_str().is_some_and(|it| it.contains("unknown name `y`")), "{mistake}");
    }
    assert_eq!(post(&server, "read", &about(&text_of(PETERSON), "tso")).json(), json!({"diagnostics": []}));
}

#[test]
fn a_walk_is_taken_step_by_step() {
    let server = serve(PETERSON);
    let walk = |values: &[i64], choices: &[usize]| {
        let program = about(&text_of(PETERSON), "tso");
        post(&server, "walk", &json!({"program": program, "values": values, "choices": choices}))
    };
    let start = walk(&[], &[]).json();
    assert_eq!(start["variables"], json!([{"name": "turn", "range": [0, 1], "value": 0}]));
    assert_eq!(start["walk"]["next"][0]["text"], "flag[0] = 1 → buffer");
    let after = walk(&[1], &[0]).json();
    assert_eq!(after["walk"]["steps"].as_array().map(Vec::len), Some(1));
    assert_eq!(after["walk"]["states"][1]["buffers"], json!([["flag[0]=1"], []]));
    assert_eq!(walk(&[2], &[]).status, 422, "there is no such start");
    assert_eq!(walk(&[], &[99]).status, 422, "there is no such step");
    assert_eq!(walk(&[], &vec![0; 5_000]).status, 422, "that is too long");
}

#[test]
fn names_that_are_not_known_are_refused() {
    let server = serve(PETERSON);
    for (field, name) in [("model", "arm"), ("language", "c"), ("engine", "magic")] {
        let mut question = about("thread P {}", "tso");
        question[field] = json!(name);
        let answer = post(&server, "check", &question);
        assert_eq!(answer.status, 400, "{field}");
        assert!(answer.json()["error"].as_str().is_some_and(|it| it.contains(name)), "{}", answer.body);
    }
}

#[test]
fn a_dropped_server_is_gone() {
    let server = serve(PETERSON);
    let (host, _) = parts(&server);
    drop(server);
    assert!(TcpStream::connect(host).is_err());
}
