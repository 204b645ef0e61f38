//! Final states as they are told.

use super::schema;
use fencewright::engine::portfolio::Auto;
use fencewright::engine::{
    Asked, Engine, Options, Outcomes, StopReason, Task, Unsupported, explicit, outcomes, witness,
};
use fencewright::frontend::{Frontend, fw::Fw, litmus::Litmus, parse};
use fencewright::memory::Model;
use fencewright::program::{Program, StateVar, Value};
use fencewright::report::{
    Detail, Human, Json, Look, OutcomeFinding, Refusal, Report, Shown, WitnessFinding, herd_log, shown, variable,
    without_outcome,
};
use fencewright::source::{Source, Style};
use fencewright::watch::Unlimited;

const LOOK: Look = Look { style: Style::Plain, detail: Detail::Normal, width: Look::WIDTH };

const SB_64: &str = r"X86_64 SB
{ uint64_t x; uint64_t y; }
 P0             | P1             ;
 movq $1,(x)    | movq $1,(y)    ;
 movq (y),%RAX  | movq (x),%RAX  ;
exists (0:RAX=0 /\ 1:RAX=0)
";

/// A test or program, and what is told of it.
struct Told {
    program: Program,
    asked: Option<fencewright::frontend::asked::Asked>,
    shown: Vec<Shown>,
}

impl Told {
    fn new(frontend: &dyn Frontend, text: &str) -> Self {
        let source = Source::new("t", text);
        let lowered = parse(frontend, &source, &[]);
        let program = lowered.program.unwrap_or_else(|| panic!("{:?}", lowered.diagnostics));
        let asked = frontend.asked(&source);
        let shown = shown(&program, asked.as_ref());
        Self { program, asked, shown }
    }

    fn found(&self, engine: &dyn Engine, model: Model) -> Outcomes {
        let options = Options::default();
        let variables: Vec<StateVar> = self.shown.iter().map(|it| it.variable).collect();
        let task = Task::new(&self.program, model, &options);
        outcomes(engine, &task, &variables, &Unlimited).expect("the engine takes the program")
    }

    fn tell(&self, answer: Result<&Outcomes, &Refusal>, tell: &dyn Fn(&OutcomeFinding<'_>) -> String) -> String {
        tell(&OutcomeFinding {
            file: "t",
            program: &self.program,
            model: Model::Tso,
            shown: &self.shown,
            asked: self.asked.as_ref(),
            answer,
            seconds: 0.25,
            peak_rss: None,
            notes: &[],
        })
    }

    /// For people, as JSON, and as a log, under TSO.
    fn all(&self) -> [String; 3] {
        let found = self.found(&Auto, Model::Tso);
        let json = self.tell(Ok(&found), &|it| Json.outcomes(it, LOOK));
        schema::check(&json);
        let log = |it: &OutcomeFinding<'_>| herd_log(it).expect("there are outcomes");
        [self.tell(Ok(&found), &|it| Human.outcomes(it, LOOK)), json, self.tell(Ok(&found), &log)]
    }
}

#[test]
fn a_litmus_test_is_told_as_herd_tells_it() {
    let [text, json, log] = Told::new(&Litmus, SB_64).all();
    let states = "\
* P0:RAX=0; P1:RAX=0;
  P0:RAX=0; P1:RAX=1;
  P0:RAX=1; P1:RAX=0;
  P0:RAX=1; P1:RAX=1;
";
    assert_eq!(text, format!("t: 4 outcomes under tso\n{states}  * exists (0:rax=0 /\\ 1:rax=0): 1 of 4\n"));
    assert!(json.contains(r#""question":"outcomes""#), "{json}");
    assert!(json.contains(r#""outcomes":[{"values":{"P0:RAX":0,"P1:RAX":0},"count":null},"#), "{json}");
    assert!(json.contains(r#""complete":true"#), "{json}");
    assert_eq!(
        log,
        "\
Test SB Allowed
States 4
0:rax=0; 1:rax=0;
0:rax=0; 1:rax=1;
0:rax=1; 1:rax=0;
0:rax=1; 1:rax=1;
Ok
Witnesses
Positive: 1 Negative: 3
Condition exists (0:rax=0 /\\ 1:rax=0)
Observation SB Sometimes 1 3

"
    );
}

#[test]
fn quantifiers_and_locations_are_honored() {
    let test = |end: &str| {
        let table = " P0 | P1 ;\n MOV [x],$1 | MOV EAX,[x] ;\n MOV [if],$2 | MOV EBX,$7 ;\n";
        Told::new(&Litmus, &format!("X86 T\n{{ x=0; }}\n{table}{end}\n")).all()
    };
    let tail = |log: &str| log.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    let [_, _, log] = test(r"locations [if; 1:EBX;] forall (1:EAX=0 \/ 1:EAX=1)");
    let states = ["States 2", "1:EAX=0; 1:EBX=7; [if]=2;", "1:EAX=1; 1:EBX=7; [if]=2;", "Ok", "Witnesses"];
    let rest = ["Positive: 2 Negative: 0", "Condition forall (1:EAX=0 \\/ 1:EAX=1)", "Observation T Always 2 0", ""];
    assert_eq!(tail(&log), [&states[..], &rest[..]].concat());
    let [text, _, log] = test(r"~exists (x=1 /\ (1:EAX=1 \/ not (1:EAX=0)))");
    assert!(text.ends_with("  * ~exists ([x]=1 /\\ (1:EAX=1 \\/ not (1:EAX=0))): 1 of 2\n"), "{text}");
    let rest = ["No", "Witnesses", "Positive: 1 Negative: 1"];
    assert_eq!(tail(&log)[3..6], rest);
    assert!(log.starts_with("Test T Forbidden\n"), "{log}");
    let [_, json, log] = test("exists (x=3)");
    assert_eq!(tail(&log)[2..4], ["No", "Witnesses"]);
    assert!(log.contains("Observation T Never 0 1\n"), "{log}");
    assert!(json.contains(r#""condition":{"quantifier":"exists","text":"[x]=3","holds":false,"#), "{json}");
}

#[test]
fn programs_show_all_that_has_a_name() {
    let told = Told::new(&Fw, super::SB);
    let [text, _, log] = told.all();
    assert!(text.contains("* P:a=0; Q:b=0; x=1; y=1;\n"), "{text}");
    assert!(text.ends_with("  * forbidden: P.a == 0 && Q.b == 0 at end (line 10)\n"), "{text}");
    assert!(log.contains("Condition forall (true)\nObservation t Always 4 0\n"), "{log}");
    for name in ["P.a", "P:a", "0:a", "p:A"] {
        assert_eq!(variable(&told.program, None, name).map(|it| it.name), Ok("P:a".to_owned()));
    }
    assert!(variable(&told.program, None, "P.q").is_err());
}

#[test]
fn what_is_not_listed_is_told() {
    let grows = "shared x, s: 0..1; thread P { while (s == 0) { x = 1; } } thread Q { let a = x; s = 1; }";
    let told = Told::new(&Fw, grows);
    let found = told.found(&explicit::Explicit::DEFAULT, Model::Tso);
    assert!(matches!(found.stopped, Some(StopReason::BufferBound(_))), "{found:?}");
    let text = told.tell(Ok(&found), &|it| Human.outcomes(it, LOOK));
    assert!(text.starts_with("t: at least 3 outcomes under tso: with more than "), "{text}");
    let json = told.tell(Ok(&found), &|it| Json.outcomes(it, LOOK));
    schema::check(&json);
    assert!(json.contains(r#""verdict":"unknown""#) && json.contains(r#""complete":false"#), "{json}");
    let log = told.tell(Ok(&found), &|it| herd_log(it).expect("there are outcomes"));
    assert!(log.contains("\nLoop Ok\n"), "{log}");
    assert_eq!(told.found(&Auto, Model::Tso).stopped, None);
    let unsupported = Unsupported { reason: "it is too large".to_owned(), help: "make it smaller".to_owned() };
    let refusal = Refusal { engine: "explicit", unsupported };
    schema::check(&told.tell(Err(&refusal), &|it| Json.outcomes(it, LOOK)));
    let text = told.tell(Err(&refusal), &|it| Human.outcomes(it, LOOK));
    assert_eq!(text, "t: unknown under tso: it is too large\n  = help: make it smaller\n");
}

/// Runs that go wrong have no outcome, and threads that never end let nobody have one.
#[test]
fn runs_that_do_not_end_have_no_outcome() {
    let told = Told::new(&Fw, "shared x: 0..1 = any; thread P { let a = x; assert(a == 0); x = a + 1; }");
    let found = told.found(&Auto, Model::Tso);
    assert_eq!(found.values.into_iter().collect::<Vec<_>>(), [[0, 1]]);
    assert_eq!(found.faults.len(), 1);
    assert_eq!(without_outcome(&told.program, &told.found(&Auto, Model::Tso)).len(), 1);
    let told = Told::new(&Fw, "shared x: 0..1; thread P { loop { x = 1; } } thread Q { let a = x; }");
    let [text, _, _] = told.all();
    assert_eq!(text, "t: no outcome under tso: in no run do all threads end\n");
}

/// What has infinitely many outcomes is not asked for ever.
#[test]
fn unbounded_data_may_have_no_end_of_outcomes() {
    let told = Told::new(&Fw, "shared x: int = 0; thread P { while (any) { x = x + 1; } }");
    let found = told.found(&Auto, Model::Tso);
    assert!(matches!(found.stopped, Some(StopReason::UnboundedData(_))), "{:?}", found.stopped);
}

#[test]
fn a_witness_is_a_run_that_ends_so() {
    let told = Told::new(&Fw, super::SB);
    let wanted: Vec<(Shown, Value)> = told.shown.iter().cloned().zip([0, 0, 1, 1]).collect();
    let values: Vec<(StateVar, Value)> = wanted.iter().map(|(it, value)| (it.variable, *value)).collect();
    let tell = |model: Model| {
        let options = Options::default();
        let task = Task::new(&told.program, model, &options);
        let Asked { answer, program } = witness(&Auto, &task, &values, &Unlimited).expect("it is taken");
        let finding = WitnessFinding {
            file: "t",
            program: &program,
            model,
            wanted: &wanted,
            answer: Ok(&answer),
            seconds: 0.25,
            peak_rss: None,
            notes: &[],
        };
        schema::check(&Json.witness(&finding, LOOK));
        (finding.verdict(), Human.witness(&finding, LOOK))
    };
    let (verdict, text) = tell(Model::Tso);
    assert_eq!(verdict, "possible");
    assert!(text.starts_with("t: possible under tso: P:a=0; Q:b=0; x=1; y=1;\n"), "{text}");
    assert!(text.contains("✓ P:a=0; Q:b=0; x=1; y=1;\n") && text.contains("overtook"), "{text}");
    let (verdict, text) = tell(Model::Sc);
    assert_eq!((verdict, text.as_str()), ("impossible", "t: impossible under sc: P:a=0; Q:b=0; x=1; y=1;\n"));
}
