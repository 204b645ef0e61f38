//! `certify`: is the program correct, and why?

use std::path::PathBuf;
use std::sync::Arc;

use fencewright::certificate::{Certificate, write};
use fencewright::engine::data_race::RACE;
use fencewright::engine::hang::{HANG, Hang, Others};
use fencewright::engine::robust::{ROBUST, ROBUST_TRACE};
use fencewright::engine::{Answer, Judged, SAFETY, Stats, StopReason, Task, Unsupported, Verdict, each};
use fencewright::frontend::rewrite::Spelling;
use fencewright::memory::Model;
use fencewright::program::{Candidate, CandidateId, Program};
use fencewright::prove::{
    Proved, certify, certify_fences, certify_hang, certify_language, certify_race, certify_robust, certify_robust_trace,
};
use fencewright::report::{Command, FenceFinding, Finding, Note, Refusal};
use fencewright::synth::{self, Outcome, Request, Synthesis};
use fencewright::util::IndexVec;
use fencewright::watch::Limits;

use crate::args::{AskArgument, Asked, CertifyArguments};
use crate::code::{Code, REPORT};
use crate::commands::fence::candidates;
use crate::console::Console;
use crate::input::Unread;
use crate::monitor::{Turns, Watch};
use crate::{input, interrupt, output, rss};

/// Certifies a file under every model asked.
pub(crate) fn run(arguments: &CertifyArguments, console: &mut Console) -> Code {
    let models = arguments.search.models();
    if arguments.fences && models.iter().any(|model| model.language().is_some()) {
        let help = "leave out `--fences`; `orders` finds the orders that a program needs";
        console.error("fences are those of machines, and C11 is a language", Some(help));
        return Code::Wrong;
    }
    if arguments.output.is_some() && models.len() > 1 {
        console.error("`--output` takes one model", Some("run it once for each, or leave it out"));
        return Code::Wrong;
    }
    if arguments.output.is_none() && input::is_stdin(&arguments.file) {
        console.error("standard input has no place beside it", Some("say where the certificate goes with `--output`"));
        return Code::Wrong;
    }
    if arguments.fences && models.len() > 1 && !arguments.each {
        let help = "add `--each` for one certificate per model";
        console.error("a certificate of fences is about one model", Some(help));
        return Code::Wrong;
    }
    if !arguments.search.predicate.is_empty() || arguments.search.predicates.is_some() {
        let help = "write them into the program: `predicate x <= y;`";
        console.error("a certificate is about a program without predicates from elsewhere", Some(help));
        return Code::Wrong;
    }
    if arguments.fences && arguments.search.ask.iter().any(|it| *it != AskArgument::Safety) {
        let help =
            "leave out `--ask`; `certify --ask hang` is about the program as it is, and `fence --ask hang` answers";
        console.error("certificates of fences are about safety", Some(help));
        return Code::Wrong;
    }
    let name = input::name(&arguments.file);
    let mut limits = arguments.search.limits();
    let (program, input) = match input::program_and_text(&arguments.file, &arguments.input, &mut limits, console) {
        Ok((program, input)) => (Arc::new(program), input),
        Err(unread) => return console.refuse(&name, unread),
    };
    let notes = console.take_notes();
    let asked = if arguments.fences { vec![Asked::Safety] } else { arguments.search.asked(&program) };
    let mut questions = Vec::new();
    for asked in asked {
        match asked {
            Asked::Safety => questions.push(About::Safety),
            Asked::Hang(hang) if hang.others == Others::GoOn => {
                console.error("certificates are not about dead waits", Some("`check --ask dead-wait` answers"));
                return Code::Wrong;
            }
            Asked::Hang(hang) => questions.push(About::Hang(hang)),
            // Nobody asked.
            Asked::Race if arguments.search.ask.is_empty() => {}
            Asked::Race => questions.push(About::Race),
            Asked::Robust => questions.push(About::Robust),
            Asked::RobustTrace => questions.push(About::RobustTrace),
        }
    }
    if arguments.output.is_some() && questions.len() > 1 {
        console.error("`--output` takes one question", Some("say which: `--ask safety` or `--ask hang`"));
        return Code::Wrong;
    }
    let mut code = Code::Good;
    'all: for &model in &models {
        let mut turns = Turns::new(limits, questions.len());
        for asked in &questions {
            let (limits, spelling) = (turns.next(), input.spelling());
            let job = Job { arguments, limits, program: &program, notes: &notes, spelling, model, asked };
            code = code.max(if arguments.fences { job.fences(console) } else { job.check(console) });
            if console.is_closed() || interrupt::is_asked() {
                break 'all;
            }
        }
    }
    if code == Code::Defect {
        console.error("the tool contradicts itself", Some(REPORT));
    }
    code
}

/// What certificates are about.
#[derive(Clone)]
enum About {
    Safety,
    Hang(Hang),
    Race,
    Robust,
    RobustTrace,
}

impl About {
    fn name(&self) -> &'static str {
        match self {
            Self::Safety => SAFETY,
            Self::Hang(_) => HANG,
            Self::Race => RACE,
            Self::Robust => ROBUST,
            Self::RobustTrace => ROBUST_TRACE,
        }
    }
}

/// A file under one model.
struct Job<'a> {
    arguments: &'a CertifyArguments,
    limits: Limits,
    program: &'a Arc<Program>,
    notes: &'a [Note],
    spelling: Spelling,
    model: Model,
    asked: &'a About,
}

impl Job<'_> {
    fn watch(&self, console: &Console) -> Arc<Watch> {
        Watch::start(self.limits, format!("{} under {}", self.program.source().name(), self.model), console)
    }

    fn check(&self, console: &mut Console) -> Code {
        let (engine, options) = (self.arguments.search.engine(), self.arguments.search.options());
        let (program, model, asked) = (Arc::clone(self.program), self.model, self.asked.clone());
        let watch = self.watch(console);
        let done = watch.over(move |watch| {
            let task = Task::new(&program, model, &options);
            match &asked {
                About::Safety if model.language().is_some() => {
                    Answered::of_question(certify_language(engine, &task, watch))
                }
                About::Safety => {
                    let proved = certify(engine, &task, watch);
                    let properties = proved.as_ref().map_or(Vec::new(), |it| each(engine, &task, &it.answer, watch));
                    Answered { proved, program: None, properties }
                }
                About::Hang(hang) => Answered::of_question(certify_hang(engine, hang, &task, watch)),
                About::Race => Answered::of_question(certify_race(engine, &task, watch)),
                About::Robust => Answered::of_question(certify_robust(engine, &task, watch)),
                About::RobustTrace => Answered::of_question(certify_robust_trace(engine, &task, watch)),
            }
        });
        let answered = done.unwrap_or_else(|stop| {
            let answer =
                Answer { engine: engine.name(), verdict: Verdict::Unknown(stop.into()), stats: Stats::default() };
            Answered { proved: Ok(Proved { answer, certificate: None }), program: None, properties: Vec::new() }
        });
        self.tell_check(answered, watch.elapsed().as_secs_f64(), console)
    }

    fn tell_check(
        &self,
        Answered { proved, program, properties }: Answered,
        seconds: f64,
        console: &mut Console,
    ) -> Code {
        let (answer, certificate) = match proved {
            Ok(Proved { answer, certificate }) => (Ok(answer), certificate),
            Err(unsupported) => (Err(Refusal { engine: self.arguments.search.engine().name(), unsupported }), None),
        };
        let program = program.as_ref().unwrap_or(self.program);
        let (path, written) = self.write(certificate.as_ref(), console);
        let finding = Finding {
            command: Command::Certify,
            file: self.program.source().name(),
            program,
            model: self.model,
            question: self.asked.name(),
            answer: answer.as_ref(),
            seconds,
            peak_rss: rss::peak(),
            certificate: path.as_deref(),
            notes: self.notes,
            properties: &properties,
        };
        if !self.is_piped(certificate.as_ref()) {
            console.tell(&console.report().finding(&finding, console.look()));
        }
        Code::of(answer.as_ref()).max(written)
    }

    fn fences(&self, console: &mut Console) -> Code {
        let which = &self.arguments.which;
        let Some(candidates) = candidates(self.program, which, console) else {
            return console.refuse(self.program.source().name(), Unread::Wrong);
        };
        let candidates = Arc::new(candidates);
        let (engine, options) = (self.arguments.search.engine(), self.arguments.search.options());
        let (program, model) = (Arc::clone(self.program), self.model);
        let (kinds, place, by) = (which.kinds(), which.place(), which.by());
        let watch = self.watch(console);
        let theirs = Arc::clone(&candidates);
        let done = watch.over(move |watch| {
            let task = Task::new(&program, model, &options);
            let request = Request { kinds: &kinds, ..Request::all(&theirs) };
            match synth::synthesize(engine, &task, &request, watch) {
                Ok(found) => match certify_fences(&task, (&place, by), &request, &found, watch) {
                    Ok(certificate) => (Ok(found), Some(certificate)),
                    Err(reason) => (Ok(unproved(found, reason)), None),
                },
                Err(unsupported) => (Err(Refusal { engine: engine.name(), unsupported }), None),
            }
        });
        let found = done.unwrap_or_else(|stop| (Ok(Synthesis::stopped(engine.name(), stop)), None));
        self.tell_fences(&candidates, found, watch.elapsed().as_secs_f64(), console)
    }

    fn tell_fences(
        &self,
        candidates: &IndexVec<CandidateId, Candidate>,
        (answer, certificate): (Result<Synthesis, Refusal>, Option<Certificate>),
        seconds: f64,
        console: &mut Console,
    ) -> Code {
        let (path, written) = self.write(certificate.as_ref(), console);
        let finding = FenceFinding {
            command: Command::Certify,
            file: self.program.source().name(),
            program: self.program,
            models: &[self.model],
            question: SAFETY,
            candidates,
            answer: answer.as_ref(),
            diff: None,
            repairs: &[],
            orders: &[],
            spelling: self.spelling,
            seconds,
            peak_rss: rss::peak(),
            certificate: path.as_deref(),
            notes: self.notes,
        };
        if !self.is_piped(certificate.as_ref()) {
            console.tell(&console.report().fences(&finding, console.look()));
        }
        Code::of_synthesis(answer.as_ref()).max(written)
    }

    /// Whether standard output holds nothing but the certificate.
    fn is_piped(&self, certificate: Option<&Certificate>) -> bool {
        certificate.is_some() && self.arguments.output.as_deref().is_some_and(input::is_stdin)
    }

    /// Writes a certificate, and tells where.
    fn write(&self, certificate: Option<&Certificate>, console: &mut Console) -> (Option<String>, Code) {
        let Some(certificate) = certificate else { return (None, Code::Good) };
        let path = self.arguments.output.clone().unwrap_or_else(|| self.beside());
        let code = output::write(&path, &write(certificate), console);
        ((code == Code::Good).then(|| console.name_of(&path)), code)
    }

    /// `NAME.MODEL.cert`, `NAME.MODEL.hang.cert` or `NAME.MODEL.fences.cert`.
    fn beside(&self) -> PathBuf {
        let what = match self.asked {
            About::Safety if self.arguments.fences => ".fences",
            About::Safety => "",
            About::Hang(_) => ".hang",
            About::Race => ".race",
            About::Robust => ".robust",
            About::RobustTrace => ".robust-trace",
        };
        self.arguments.file.with_extension(format!("{}{what}.cert", self.model))
    }
}

/// What came of a question.
struct Answered {
    proved: Result<Proved, Unsupported>,
    /// The program with the question as a property, where that is another.
    program: Option<Program>,
    properties: Vec<Judged>,
}

impl Answered {
    /// Of a question that makes another program.
    fn of_question(found: Result<(Proved, Program), Unsupported>) -> Self {
        let (proved, program) = match found {
            Ok((proved, program)) => (Ok(proved), Some(program)),
            Err(unsupported) => (Err(unsupported), None),
        };
        Self { proved, program, properties: Vec::new() }
    }
}

/// What was found, without what could not be proved.
fn unproved(found: Synthesis, reason: StopReason) -> Synthesis {
    Synthesis { outcome: Outcome::Unknown(reason.clone()), is_complete: false, stopped: Some(reason), ..found }
}
