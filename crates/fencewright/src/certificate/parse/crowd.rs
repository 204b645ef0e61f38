//! Views of any two threads, read from their text.

use crate::system::{Control, Member, Part, Waits};

use super::super::{Crowd, CrowdView};
use super::Parsed;
use super::words::{Lines, Word};

/// Members with their threads and what waits, and views.
pub(super) fn crowd(lines: &mut Lines<'_>) -> Parsed<Crowd> {
    let mut crowd = Crowd { members: Vec::new(), views: Vec::new() };
    while let Some(mut line) = lines.next_if("member") {
        let cells = line.rest(Word::number)?;
        let mut parts = Vec::new();
        while let Some(part) = part(lines)? {
            parts.push(part);
        }
        crowd.members.push(Member { parts, cells });
    }
    loop {
        if let Some(mut line) = lines.next_if("two") {
            crowd.views.push(CrowdView { members: line.rest(Word::number)?, witness: None });
        } else if let Some(mut line) = lines.next_if("witness") {
            let witness = Some(line.word("the place of the witness")?.number()?);
            crowd.views.push(CrowdView { members: line.rest(Word::number)?, witness });
        } else {
            return Ok(crowd);
        }
    }
}

fn part(lines: &mut Lines<'_>) -> Parsed<Option<Part>> {
    const EXPECTED: &str = "`at`, `ready` or `done`";
    let Some(mut line) = lines.next_if("part") else { return Ok(None) };
    let kind = line.word(EXPECTED)?;
    let control = match kind.text {
        "at" => Control::At(line.index("a point")?),
        "ready" => Control::Ready(line.index("an edge")?),
        "done" => Control::Done(line.index("an edge")?),
        _ => return Err(Box::new(kind.unexpected(EXPECTED))),
    };
    let registers = line.rest(Word::number)?;
    let mut waiting = Vec::new();
    while let Some(waits) = waits(lines)? {
        waiting.push(waits);
    }
    Ok(Some(Part { control, registers, waiting }))
}

fn waits(lines: &mut Lines<'_>) -> Parsed<Option<Waits>> {
    const EXPECTED: &str = "`own`, `shared` or `marker`";
    let Some(mut line) = lines.next_if("waits") else { return Ok(None) };
    let kind = line.word(EXPECTED)?;
    let waits = match kind.text {
        "marker" => Waits::Marker,
        "own" => Waits::Own(line.word("a cell")?.number()?, line.word("a value")?.number()?),
        "shared" => Waits::Shared(line.word("a location")?.number()?, line.word("a value")?.number()?),
        _ => return Err(Box::new(kind.unexpected(EXPECTED))),
    };
    line.end()?;
    Ok(Some(waits))
}
