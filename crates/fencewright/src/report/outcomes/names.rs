//! What is seen of a final state, and what it is called.

use crate::frontend::asked::{Asked, Place};
use crate::frontend::nearest::nearest;
use crate::program::{Domain, ProcessId, Program, StateVar};
use crate::util::Idx;

/// A variable that is seen of a final state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Which.
    pub variable: StateVar,
    /// Its name: `P0:EAX`, `x`.
    pub name: String,
    /// Its name as herd writes it: `0:EAX`, `[x]`.
    pub herd: String,
    /// What it may hold.
    pub domain: Domain,
}

/// What is seen if nobody chooses: what a test asks for, or else all registers that have a name, and memory.
pub fn shown(program: &Program, asked: Option<&Asked>) -> Vec<Shown> {
    match asked {
        Some(asked) => asked.places.iter().filter_map(|it| named_by(program, it)).collect(),
        None => all(program),
    }
}

/// The variable with this name: `P0:EAX`, `P(0).r`, `x`, or as herd writes it.
///
/// # Errors
/// What is wrong with the name, and what to do.
pub fn variable(program: &Program, asked: Option<&Asked>, name: &str) -> Result<Shown, (String, String)> {
    let mut known = asked.map_or(Vec::new(), |asked| shown(program, Some(asked)));
    known.extend(all(program));
    let plain = |text: &str| text.replace('.', ":").replace(' ', "");
    let wanted = plain(name);
    let is_wanted = |it: &&Shown| plain(&it.name) == wanted || it.herd == wanted;
    let is_nearly =
        |it: &&Shown| plain(&it.name).eq_ignore_ascii_case(&wanted) || it.herd.eq_ignore_ascii_case(&wanted);
    match known.iter().find(is_wanted).or_else(|| known.iter().find(is_nearly)) {
        Some(found) => Ok(found.clone()),
        None => {
            let help = match nearest(name, known.iter().map(|it| it.name.as_str())) {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    let names: Vec<&str> = known.iter().map(|it| it.name.as_str()).take(8).collect();
                    format!("there are `{}`", names.join("`, `"))
                }
            };
            Err((format!("unknown name `{name}`"), help))
        }
    }
}

/// The parts of a list: `P(0, 1):r, x` are two. A semicolon parts like a comma.
pub fn parts(list: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let at_comma = move |c: char| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c == ',' || c == ';')
    };
    list.split(at_comma).map(str::trim).filter(|it| !it.is_empty()).collect()
}

/// All registers that have a name, by process, and memory.
fn all(program: &Program) -> Vec<Shown> {
    let mut out: Vec<Shown> = Vec::new();
    for (id, process) in program.processes().iter_enumerated() {
        let mut names: Vec<String> = Vec::new();
        for (register, it) in process.registers.iter_enumerated().filter(|(_, it)| !it.name.starts_with('$')) {
            let plain = process.scoped_name(register);
            // Blocks may have registers of one name each.
            let mut name = plain.clone();
            let mut n = 1;
            while names.contains(&name) {
                n += 1;
                name = format!("{plain}#{n}");
            }
            out.push(Shown {
                variable: StateVar::Register(id, register),
                name: format!("{}:{name}", process.name),
                herd: format!("{}:{name}", id.index()),
                domain: it.domain,
            });
            names.push(name);
        }
    }
    out.extend(program.locations().iter_enumerated().map(|(id, it)| Shown {
        variable: StateVar::Memory(id),
        name: it.name.clone(),
        herd: format!("[{}]", it.name),
        domain: it.domain,
    }));
    out
}

/// What a test names.
fn named_by(program: &Program, place: &Place) -> Option<Shown> {
    match place.thread {
        None => {
            let (id, it) = program.locations().iter_enumerated().find(|(_, it)| it.name == place.name)?;
            let (name, herd) = (place.plain.clone(), place.herd.clone());
            Some(Shown { variable: StateVar::Memory(id), name, herd, domain: it.domain })
        }
        Some(thread) => {
            let id = ProcessId::from_usize(thread);
            let process = program.processes().get(id)?;
            let (register, it) = process.registers.iter_enumerated().find(|(_, it)| it.name == place.name)?;
            let name = format!("P{thread}:{}", place.plain);
            let variable = StateVar::Register(id, register);
            Some(Shown { variable, name, herd: place.herd.clone(), domain: it.domain })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn lists_are_parted_outside_parentheses() {
        assert_eq!(parts("P(0, 1):r=1, a[2]=3; x=1;"), ["P(0, 1):r=1", "a[2]=3", "x=1"]);
        assert_eq!(parts(" "), [""; 0]);
    }
}
