//! What cannot be seen in a transcript: signals, pipes, time, files that change.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn fencewright(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencewright"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn output(arguments: &[&str]) -> Output {
    fencewright(arguments).output().expect("the command starts")
}

fn file(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name).display().to_string()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A directory of its own with one file in it.
fn workspace(name: &str, contents: &str) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let path = directory.path().join(name);
    fs::write(&path, contents).expect("a file can be written");
    (directory, path)
}

/// What a child says, given a text to read.
fn fed(arguments: &[&str], input: &str) -> Output {
    let mut child = fencewright(arguments).stdin(Stdio::piped()).spawn().expect("the command starts");
    let mut stdin = child.stdin.take().expect("it was asked for");
    stdin.write_all(input.as_bytes()).expect("the child reads");
    drop(stdin);
    child.wait_with_output().expect("the child ends")
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_within_a_second() {
    let child = fencewright(&["check", "--engine", "explicit", "--format", "json", &file("large.fw")])
        .spawn()
        .expect("the command starts");
    std::thread::sleep(Duration::from_millis(700));
    let pressed = Instant::now();
    signal("-INT", &child);
    let output = child.wait_with_output().expect("the child ends");
    assert!(pressed.elapsed() < Duration::from_millis(1_500), "{:?}", pressed.elapsed());
    assert_eq!(output.status.code(), Some(130));
    assert!(text(&output.stdout).contains("\"reason\":\"interrupted\""), "{}", text(&output.stdout));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_what_translates_too() {
    let folder = tempfile::tempdir().expect("a directory can be made");
    let path = folder.path().join("long.fw");
    let thread =
        |name: &str| format!("thread {name} {{ for i in 0..499 {{ for j in 0..99 {{ x = j % 4; y = 1; }} }} }}");
    let program = format!("shared x, y: 0..3; {} {}", thread("A"), thread("B"));
    fs::write(&path, program).expect("a file can be written");
    let child = fencewright(&["translate", &path.display().to_string()]).spawn().expect("the command starts");
    std::thread::sleep(Duration::from_millis(100));
    let pressed = Instant::now();
    signal("-INT", &child);
    let output = child.wait_with_output().expect("the child ends");
    assert!(pressed.elapsed() < Duration::from_millis(1_500), "{:?}", pressed.elapsed());
    assert_eq!(output.status.code(), Some(130));
    assert!(text(&output.stderr).contains("interrupted"), "{}", text(&output.stderr));
}

#[cfg(unix)]
#[test]
fn ctrl_c_skips_the_remaining_files() {
    let large = file("large.fw");
    let child = fencewright(&["check", "--engine", "explicit", &large, &large, &file("sb.fw")])
        .spawn()
        .expect("the command starts");
    std::thread::sleep(Duration::from_millis(500));
    signal("-INT", &child);
    let output = child.wait_with_output().expect("the child ends");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(text(&output.stdout).lines().count(), 1, "{}", text(&output.stdout));
}

#[cfg(unix)]
fn signal(name: &str, child: &Child) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status().expect("`kill` is there");
    assert!(status.success());
}

#[test]
fn the_time_limit_is_kept() {
    let started = Instant::now();
    let output = output(&["check", "--engine", "explicit", "--timeout", "1s", &file("large.fw")]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
}

/// That a number stays even is nothing that zones can say, so the search goes on and on.
#[test]
fn the_time_limit_is_kept_where_data_has_no_end() {
    let started = Instant::now();
    let output = output(&["check", "--engine", "zones", "--timeout", "1s", &file("even.fw")]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("the time limit was reached"), "{}", text(&output.stdout));
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
}

#[test]
fn a_row_without_time_says_so() {
    let output = output(&["tables", "single-buffer", "--timeout", "0s"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    let dekker = table.lines().find(|line| line.starts_with("Simple Dekker")).expect("the row is there");
    assert!(dekker.contains("timeout"), "{dekker}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_row_without_memory_says_so() {
    let output = output(&["tables", "single-buffer", "--memory", "1M"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    let dekker = table.lines().find(|line| line.starts_with("Simple Dekker")).expect("the row is there");
    assert!(dekker.contains("memory limit"), "{dekker}");
}

#[test]
fn a_table_without_an_engine_that_knows_it_is_unknown() {
    let output = output(&["tables", "pso-fences", "--engine", "single-buffer"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stdout));
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_the_rows_that_are_known() {
    // All tables with all engines take seconds, the first row none.
    let engines = "load-buffer,single-buffer,explicit";
    let child = fencewright(&["tables", "--engine", engines, "--format", "json"]).spawn().expect("the command starts");
    std::thread::sleep(Duration::from_millis(500));
    let pressed = Instant::now();
    signal("-INT", &child);
    let output = child.wait_with_output().expect("the child ends");
    assert!(pressed.elapsed() < Duration::from_millis(1_500), "{:?}", pressed.elapsed());
    assert_eq!(output.status.code(), Some(130));
    assert!(text(&output.stdout).contains("\"program\":\"Simple Dekker\""), "{}", text(&output.stdout));
}

#[test]
fn a_table_goes_to_a_file() {
    let (directory, path) = workspace("results.md", "old");
    let output = output(&["tables", "pso-fences", "--format", "markdown", "--output", &path.display().to_string()]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), String::new()));
    let page = fs::read_to_string(&path).expect("the file is there");
    assert!(page.starts_with("# Results\n") && page.contains("| Peterson | load-buffer | no | no |"), "{page}");
    drop(directory);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let sb = file("sb.fw");
    let mut child = fencewright(&["check", &sb, &sb, &sb, &sb]).spawn().expect("the command starts");
    drop(child.stdout.take());
    let mut errors = String::new();
    child.stderr.take().expect("it was asked for").read_to_string(&mut errors).expect("it is text");
    let code = child.wait().expect("the child ends").code();
    assert_eq!(errors, "");
    assert!(code == Some(0) || code == Some(1), "{code:?}");
}

#[test]
fn standard_input_is_read() {
    let program = fs::read_to_string(file("sb.fw")).expect("the file is there");
    let output = fed(&["check", "--quiet", "--input-format", "fw", "-"], &program);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "<stdin>: unsafe under tso: P.a == 0 && Q.b == 0 at end (line 14)\n");
}

#[test]
fn fmt_reads_standard_input_and_writes_standard_output() {
    let output = fed(&["fmt", "-"], "thread T{x=1;}shared x:0..1;");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stdout), "thread T {\n    x = 1;\n}\nshared x: 0..1;\n");
    assert_eq!(fed(&["fmt", "--check", "-"], "thread T{x=1;}").status.code(), Some(1));
}

#[test]
fn fmt_rewrites_a_file_once() {
    let (directory, path) = workspace("t.fw", "shared x:0..1;\nthread T{x=1;}\n");
    let name = path.display().to_string();
    let first = output(&["fmt", &name]);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    assert_eq!(text(&first.stdout), format!("formatted {name}\n"));
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "shared x: 0..1;\nthread T {\n    x = 1;\n}\n");
    let second = output(&["fmt", &name]);
    assert_eq!((second.status.code(), text(&second.stdout)), (Some(0), String::new()));
    let n_files = fs::read_dir(directory.path()).expect("it is there").count();
    assert_eq!(n_files, 1, "nothing else is left behind");
}

#[cfg(unix)]
#[test]
fn fmt_keeps_permissions_and_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let (directory, path) = workspace("t.fw", "shared x:0..1;\nthread T{x=1;}\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("they can be set");
    let link = directory.path().join("link.fw");
    symlink(&path, &link).expect("a link can be made");
    assert_eq!(output(&["fmt", &link.display().to_string()]).status.code(), Some(0));
    assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
    let mode = fs::metadata(&path).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert!(fs::read_to_string(&path).expect("it is there").starts_with("shared x: 0..1;"));
}

#[test]
fn fmt_leaves_a_wrong_file_alone() {
    let (_directory, path) = workspace("t.fw", "thread T{x=1\n");
    assert_eq!(output(&["fmt", &path.display().to_string()]).status.code(), Some(2));
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "thread T{x=1\n");
}

#[test]
fn completions_and_manual_page_name_every_verb() {
    let manual = text(&output(&["man"]).stdout).to_lowercase();
    for verb in ["check", "trace", "import", "fmt", "explore", "schema", "engines"] {
        assert!(manual.contains(&format!(".sh fencewright {verb}")), "{verb}");
        for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
            let output = output(&["completions", shell]);
            assert_eq!(output.status.code(), Some(0));
            assert!(text(&output.stdout).contains(verb), "{verb} in {shell}");
        }
    }
}

#[test]
fn json_is_the_same_each_time_but_for_time_and_memory() {
    let run = |threads: &str| {
        let arguments = ["check", "--format", "json", "--model", "sc,tso,pso", "--threads", threads, &file("sb.fw")];
        let lines = text(&output(&arguments).stdout);
        let objects = lines.lines().map(|line| {
            let mut object: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
            object["stats"]["seconds"].take();
            object["stats"]["peak_rss_bytes"].take();
            object
        });
        objects.collect::<Vec<_>>()
    };
    let first = run("1");
    assert_eq!(first.len(), 3);
    assert_eq!(first, run("1"));
    assert_eq!(first, run("2"));
}

#[test]
fn the_schema_is_json() {
    let schema: serde_json::Value = serde_json::from_slice(&output(&["schema"]).stdout).expect("it is JSON");
    assert_eq!(schema["$id"], "fencewright/1");
}

#[test]
fn nothing_but_results_goes_to_standard_output() {
    let output = output(&["check", &file("wrong.fw")]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stdout), "");
    assert!(text(&output.stderr).starts_with("error: "), "{}", text(&output.stderr));
}

#[test]
fn colors_are_for_terminals() {
    let is_colored = |arguments: &[&str]| text(&output(arguments).stdout).contains('\x1b');
    let sb = file("sb.fw");
    assert!(!is_colored(&["check", &sb]));
    assert!(is_colored(&["check", "--color", "always", &sb]));
    assert!(!is_colored(&["check", "--color", "never", &sb]));
}

#[cfg(unix)]
#[test]
fn a_diff_can_be_applied() {
    let (directory, path) = workspace("sb.fw", &fs::read_to_string(file("sb.fw")).expect("the file is there"));
    let diff = fencewright(&["fence", "--diff", "sb.fw"]).current_dir(directory.path()).output();
    let diff = text(&diff.expect("the command starts").stdout);
    let mut patch = Command::new("patch");
    patch.args(["-p1", "--quiet"]).current_dir(directory.path()).stdin(Stdio::piped()).stdout(Stdio::null());
    // Where `patch` is not installed there is nothing to say.
    let Ok(mut patch) = patch.spawn() else { return };
    patch.stdin.take().expect("it was asked for").write_all(diff.as_bytes()).expect("`patch` reads");
    assert!(patch.wait().expect("`patch` ends").success(), "{diff}");
    let checked = output(&["check", &path.display().to_string()]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stdout));
}

#[test]
fn the_repaired_program_is_written() {
    let (directory, path) = workspace(
        "mp.fw",
        "shared x, y: 0..1;\nthread P { x = 1; y = 1; /* go */ }\n\
        thread Q { let a = y; let b = x; }\nforbid Q.a == 1 && Q.b == 0 at end;\n",
    );
    let out = directory.path().join("out.fw").display().to_string();
    let found = output(&["fence", "--model", "pso", "--write", &out, &path.display().to_string()]);
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    let written = fs::read_to_string(&out).expect("it was written");
    assert!(written.contains("    x = 1;\n    fence(store);\n    y = 1; /* go */\n"), "{written}");
    assert_eq!(output(&["check", "--model", "pso", &out]).status.code(), Some(0));
    assert_eq!(output(&["fmt", "--check", &out]).status.code(), Some(0));
}

#[test]
fn costs_choose_the_place() {
    let (_directory, path) = workspace("costs", "# the first place is dear\n27 full 1000\n");
    let bakery = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/papers/bakery_bounded2.fw");
    let bakery = bakery.display().to_string();
    let found = output(&["fence", "--cheapest", "--cost", &path.display().to_string(), &bakery]);
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    let found = text(&found.stdout);
    assert!(found.contains("    28 |         c[i] = 0;\n     + |         fence;\n"), "{found}");
}

#[test]
fn a_certificate_goes_beside_the_program() {
    let (directory, path) = workspace("sb.fw", &fs::read_to_string(file("sb_fenced.fw")).expect("the file is there"));
    let program = path.display().to_string();
    let written = output(&["certify", "--model", "sc,tso", &program]);
    assert_eq!(written.status.code(), Some(0), "{}", text(&written.stderr));
    for model in ["sc", "tso"] {
        let certificate = directory.path().join(format!("sb.{model}.cert")).display().to_string();
        let verified = output(&["verify", &program, &certificate]);
        assert_eq!(verified.status.code(), Some(0), "{}", text(&verified.stdout));
        let other = output(&["verify", &file("sb.fw"), &certificate]);
        assert_eq!(other.status.code(), Some(1), "{}", text(&other.stdout));
    }
}

#[test]
fn comments_do_not_matter_to_a_certificate() {
    let original = fs::read_to_string(file("sb_fenced.fw")).expect("the file is there");
    let (directory, path) = workspace("sb.fw", &original);
    let program = path.display().to_string();
    assert_eq!(output(&["certify", &program]).status.code(), Some(0));
    fs::write(&path, format!("// A comment.\n\n{original}")).expect("a file can be written");
    let certificate = directory.path().join("sb.tso.cert").display().to_string();
    assert_eq!(output(&["verify", &program, &certificate]).status.code(), Some(0));
}

#[test]
fn the_checker_keeps_to_its_limits() {
    let program = file("large.fw");
    let digest = digest_of(&program);
    let head = format!("fencewright certificate 1\ntool 0.1.0\nprogram sha256 {digest}\nmodel sc\npso-rmw location\n");
    let (_directory, path) = workspace("c.cert", &format!("{head}claim safe\nproof exploration 2000000000\nend\n"));
    let started = Instant::now();
    let verified = output(&["verify", "--timeout", "100ms", &program, &path.display().to_string()]);
    assert_eq!(verified.status.code(), Some(3), "{}{}", text(&verified.stdout), text(&verified.stderr));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

/// The digest that the checker expects, from its refusal of another.
fn digest_of(program: &str) -> String {
    let head = "fencewright certificate 1\ntool 0.1.0\nprogram sha256 0\nmodel sc\npso-rmw location\n";
    let (_directory, path) = workspace("c.cert", &format!("{head}claim safe\nproof exploration 7\nend\n"));
    let said = text(&output(&["verify", program, &path.display().to_string()]).stdout);
    said.trim().rsplit(' ').next().expect("it says the digest").to_owned()
}

/// Four threads take turns, and each has nine stores to make.
const CHAIN: &str = "shared a: 0..8 = 0;
shared turn: 0..4 = 0;
thread T(i: 0..3) {
    while (turn != i) {}
    for k in 1..8 { a = k; }
    turn = i + 1;
}
forbid turn == 4 at end;
";

#[test]
fn the_page_of_a_long_run_is_small() {
    let (directory, path) = workspace("chain.fw", CHAIN);
    let page = directory.path().join("chain.html");
    let found =
        output(&["trace", "--format", "json", "--html", &page.display().to_string(), &path.display().to_string()]);
    let n_steps = text(&found.stdout).matches("\"step\":").count();
    assert!(n_steps >= 60, "{n_steps} steps");
    let size = fs::metadata(&page).expect("the page was written").len();
    assert!(size < 500_000, "{size} bytes");
}

/// A child that is killed with the test.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Serves a page, and its address.
fn exploring(arguments: &[&str]) -> (Serving, String) {
    let mut child = fencewright(arguments).spawn().expect("the command starts");
    let mut said = BufReader::new(child.stdout.take().expect("it was asked for"));
    let mut url = String::new();
    said.read_line(&mut url).expect("it says where");
    (Serving(child), url.trim_end().to_owned())
}

/// What a server answers to a plain request for an address.
fn got(url: &str) -> String {
    let (host, path) = url.strip_prefix("http://").and_then(|it| it.split_once('/')).expect("it is an address");
    let mut stream = TcpStream::connect(host).expect("it listens");
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

#[cfg(unix)]
#[test]
fn a_page_is_served_until_ctrl_c() {
    let (mut serving, url) = exploring(&["explore", &file("sb.fw"), "--model", "pso"]);
    assert!(got(&url).starts_with("HTTP/1.1 200 "), "{url}");
    let session = got(&format!("{url}session"));
    assert!(session.contains("forbid P.a == 0") && session.contains("\"model\":\"pso\""), "{session}");
    signal("-INT", &serving.0);
    assert_eq!(serving.0.wait().expect("the child ends").code(), Some(130));
}

#[test]
fn a_port_that_is_taken_is_told() {
    let (_serving, url) = exploring(&["explore", "--quiet", &file("sb.fw")]);
    let port = url.split(':').nth(2).and_then(|it| it.split('/').next()).expect("it has a port");
    let second = output(&["explore", "--port", port, &file("sb.fw")]);
    assert_eq!(second.status.code(), Some(2));
    let said = text(&second.stderr);
    assert!(said.starts_with(&format!("error: cannot listen on port {port}: ")), "{said}");
    assert_eq!(text(&second.stdout), "");
}

#[test]
fn a_file_that_cannot_be_explored_is_told() {
    for (name, expected) in [("nowhere.fw", "cannot read"), ("program.fww", "unknown ending")] {
        let told = output(&["explore", &file(name)]);
        assert_eq!(told.status.code(), Some(2), "{name}");
        assert!(text(&told.stderr).contains(expected), "{}", text(&told.stderr));
    }
    let (_directory, path) = workspace("long.fw", &"// long\n".repeat(100_000));
    let told = output(&["explore", &path.display().to_string()]);
    assert_eq!(told.status.code(), Some(2));
    assert!(text(&told.stderr).contains("is longer than 512 KiB"), "{}", text(&told.stderr));
}

/// It can be mended in the page.
#[test]
fn a_program_with_mistakes_can_be_explored() {
    let (_serving, url) = exploring(&["explore", "--quiet", &file("wrong.fw")]);
    assert!(got(&url).starts_with("HTTP/1.1 200 "));
}

/// Escape characters, a bell, a carriage return: nothing of a name but what can be seen gets to a terminal.
#[cfg(unix)]
#[test]
fn the_names_of_files_do_nothing_to_a_terminal() {
    let good = "shared x: 0..1; thread T { x = 1; } forbid x == 1 at end;";
    let name = "a\x1b[2J\x1b]0;b\x07\rc.fw";
    for contents in [good, "thread {"] {
        let (_directory, path) = workspace(name, contents);
        let path = path.display().to_string();
        for arguments in
            [&["check"][..], &["fence", "--diff"], &["fmt", "--check"], &["trace"], &["test"], &["certify"]]
        {
            let output = output(&[arguments, &[&path]].concat());
            let said = text(&output.stdout) + &text(&output.stderr);
            assert!(!said.contains(['\x1b', '\x07', '\r']), "{arguments:?}: {said:?}");
        }
    }
    let output = output(&["check", "no\x1b[2Jsuch.fw"]);
    assert!(!text(&output.stderr).contains('\x1b'), "{:?}", text(&output.stderr));
}
