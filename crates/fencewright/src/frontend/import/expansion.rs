//! Where tokens come from in a language with macros.
//!
//! A token keeps its place in the text: in the body of a macro or in an argument of a call. A [`Frame`] is one use of
//! such a piece of text, and says what stands for it where it is used. So what begins and ends in different pieces has
//! one place all the same: in the innermost piece that has both of its ends, or what stands for them.

use crate::source::Span;

use super::lexer::Token;

/// The frame of what is no use of a macro.
pub(crate) const OUTERMOST: u32 = 0;

/// One use of a piece of text.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Where it is used.
    parent: u32,
    /// What stands for it there: a call, or the name of a parameter.
    stands_for: Span,
    depth: u32,
}

/// All uses of pieces of text.
#[derive(Debug)]
pub(crate) struct Frames(Vec<Frame>);

impl Default for Frames {
    fn default() -> Self {
        Self(vec![Frame { parent: OUTERMOST, stands_for: Span::default(), depth: 0 }])
    }
}

impl Frames {
    /// A use of a piece of text, for which `stands_for` stands in `parent`.
    pub(crate) fn add(&mut self, parent: u32, stands_for: Span) -> u32 {
        let depth = self.0[parent as usize].depth + 1;
        self.0.push(Frame { parent, stands_for, depth });
        self.0.len() as u32 - 1
    }

    /// Whether there is no use of a macro.
    pub(crate) fn is_plain(&self) -> bool {
        self.0.len() == 1
    }

    /// The call in the text itself that a token comes from, if it comes from one.
    pub(crate) fn call(&self, token: Token) -> Option<Span> {
        (token.frame != OUTERMOST).then(|| self.lifted((token.frame, token.span), 0).1)
    }

    /// From one token to another.
    pub(crate) fn between(&self, first: Token, last: Token) -> Span {
        let depth = |place: (u32, Span)| self.0[place.0 as usize].depth;
        let (mut a, mut b) = ((first.frame, first.span), (last.frame, last.span));
        let least = depth(a).min(depth(b));
        a = self.lifted(a, least);
        b = self.lifted(b, least);
        while a.0 != b.0 {
            a = self.parent(a);
            b = self.parent(b);
        }
        Span::new(a.1.start, b.1.end.max(a.1.start))
    }

    fn parent(&self, place: (u32, Span)) -> (u32, Span) {
        let frame = self.0[place.0 as usize];
        (frame.parent, frame.stands_for)
    }

    /// What stands for a place at a lesser depth.
    fn lifted(&self, mut place: (u32, Span), depth: u32) -> (u32, Span) {
        while self.0[place.0 as usize].depth > depth {
            place = self.parent(place);
        }
        place
    }
}
