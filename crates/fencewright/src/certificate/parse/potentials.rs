//! A proof for release/acquire: classes of local states, and elements with lists of messages.

use crate::certificate::potentials::{Element, Letter, List, Message, Potentials, Strength, Which, Writer};
use crate::program::ProcessId;
use crate::util::{Idx, IndexVec};

use super::words::{Line, Lines, Word};
use super::{Parsed, classes};

pub(super) fn potentials(lines: &mut Lines<'_>, strength: Strength) -> Parsed<Potentials> {
    let mut values = IndexVec::new();
    while let Some(mut line) = lines.next_if("values") {
        values.push(line.rest(Word::number)?);
    }
    let mut processes = IndexVec::new();
    while let Some(line) = lines.next_if("process") {
        line.end()?;
        processes.push(classes(lines)?);
    }
    let mut elements = Vec::new();
    while let Some(line) = lines.next_if("element") {
        elements.push(element(line)?);
    }
    Ok(Potentials { strength, values, classes: processes, elements })
}

/// `element 3 * ; 0 see 1:0=1 last any:2=0 ; 2 take 1 0:0=1 new 0 …`: classes, and lists of processes.
fn element(mut line: Line<'_>) -> Parsed<Element> {
    let class = |word: Word<'_>| if word.text == "*" { Ok(None) } else { word.number().map(Some) };
    let classes: IndexVec<ProcessId, Option<u32>> = line.until_or_end(";", class)?;
    let mut lists = vec![Vec::new(); classes.len() + 1];
    while let Some(who) = line.next() {
        let reader: ProcessId = who.index()?;
        let Some(lists) = lists.get_mut(reader.index()) else {
            return Err(Box::new(who.wrong("there is no such process")));
        };
        lists.push(list(&mut line)?);
    }
    Ok(Element { classes, lists })
}

fn list(line: &mut Line<'_>) -> Parsed<List> {
    let mut list = List::new();
    while let Some(kind) = line.next().filter(|it| it.text != ";") {
        let which = match kind.text {
            "see" => Which::Any,
            "last" => Which::Last,
            "take" => Which::UpdatedBy(line.word("a process")?.index()?),
            "new" => {
                list.push(Letter::Marker(line.word("a location")?.number()?));
                continue;
            }
            _ => return Err(Box::new(kind.wrong("expected `see`, `last`, `take` or `new`"))),
        };
        let (writer, message) = line.word("a message")?.split(':', "who wrote it, `:` and a message")?;
        let (place, value) = message.split('=', "a location, `=` and a value")?;
        let writer = match writer.text {
            "start" => Writer::Start,
            "any" => Writer::Any,
            _ => Writer::Process(writer.index()?),
        };
        list.push(Letter::Message(Message { writer, place: place.number()?, value: value.number()?, which }));
    }
    Ok(list)
}
