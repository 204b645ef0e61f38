//! Which states of a key are described apart: those in which numbers are ordered differently.
//!
//! Joining descriptions forgets who came first: `n₀ < n₁` in one and `n₁ < n₀` in the other leaves nothing. So each key
//! has a description for every *order*: for pairs of numbers, and for each number and zero, what its description says
//! about which is less. Descriptions of the same order are joined, and the join has that order too, so that there are
//! finitely many for each key. (Rival and Mauborgne, _The trace partitioning abstract domain_, 2007, with orders in the
//! place of traces.)
//!
//! Only numbers that have to do with each other are compared: those that are copied from one to the other, or occur in
//! one comparison or sum, directly or over others.

use crate::engine::numeric::layout::{Kind, Layout, Variable};
use crate::numeric::{Domain, Range};
use crate::program::{BinaryOp, Expr, Micro, Op, Place, ProcessId, Program, UnaryOp};

/// What is told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Apart {
    /// Nothing: a key has one description.
    Nothing,
    /// Orders.
    Orders,
}

/// Which of two numbers is less, as far as is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Order {
    Less,
    Equal,
    Greater,
    NotGreater,
    NotLess,
    Open,
}

impl Order {
    /// What the range of a difference says.
    fn of(difference: Range) -> Self {
        match (difference.least, difference.most) {
            (_, Some(most)) if most < 0 => Self::Less,
            (Some(least), _) if least > 0 => Self::Greater,
            (Some(0), Some(0)) => Self::Equal,
            (_, Some(0)) => Self::NotGreater,
            (Some(0), _) => Self::NotLess,
            _ => Self::Open,
        }
    }
}

/// The pairs of variables of the domain that are compared.
#[derive(Clone, Debug)]
pub(super) struct Pairs(Vec<(usize, usize)>);

impl Pairs {
    pub(super) fn new(program: &Program, layout: &Layout, apart: Apart) -> Self {
        match apart {
            Apart::Nothing => Self(Vec::new()),
            Apart::Orders => Self(Kin::new(program, layout).pairs()),
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The order of the numbers that a description is about.
    pub(super) fn order<D: Domain>(&self, numbers: &D) -> Box<[Order]> {
        self.0.iter().map(|&(a, b)| Order::of(numbers.difference(a, b))).collect()
    }
}

/// Which numbers have to do with each other.
struct Kin<'a> {
    program: &'a Program,
    layout: &'a Layout,
    /// For each variable of the domain one of its kin; itself if it is the first. Variable 0 has none.
    parent: Vec<usize>,
}

impl<'a> Kin<'a> {
    fn new(program: &'a Program, layout: &'a Layout) -> Self {
        let mut kin = Self { program, layout, parent: (0..=layout.n_numbers).collect() };
        for edge in program.edges() {
            kin.op(edge.process, &edge.op);
        }
        for situation in program.properties().iter().flat_map(|it| &it.situations) {
            kin.condition(&situation.condition, &|variable| layout.state_variable(*variable));
        }
        kin
    }

    /// All pairs of kin, and each number with zero.
    fn pairs(&self) -> Vec<(usize, usize)> {
        let numbers = 1..=self.layout.n_numbers;
        let pairs = numbers.clone().flat_map(|a| (a + 1..=self.layout.n_numbers).map(move |b| (a, b)));
        let kin = pairs.filter(|&(a, b)| self.first(a) == self.first(b));
        numbers.map(|number| (number, 0)).chain(kin).collect()
    }

    fn first(&self, mut number: usize) -> usize {
        while self.parent[number] != number {
            number = self.parent[number];
        }
        number
    }

    /// All these have to do with each other, as far as they are numbers.
    fn relate(&mut self, variables: &[Variable]) {
        let numbers: Vec<usize> = variables
            .iter()
            .filter_map(|&variable| match self.layout.variables[variable].kind {
                Kind::Exact => None,
                Kind::Number(number) => Some(self.first(number)),
            })
            .collect();
        if let Some(&first) = numbers.iter().min() {
            numbers.iter().for_each(|&number| self.parent[number] = first);
        }
    }

    fn op(&mut self, process: ProcessId, op: &Op) {
        let layout = self.layout;
        let place = |register: &_| layout.register(process, *register);
        match op {
            Op::Assume(condition) | Op::Assert(condition) => self.condition(condition, &place),
            Op::Assign(register, value) => self.copy(vec![place(register)], value, &place),
            Op::Havoc(..) => {}
            Op::Load(register, from) => self.load(place(register), from),
            Op::Store(to, value) => self.copy(self.locations(to), value, &place),
            Op::Locked(body) => body.iter().for_each(|micro| self.micro(process, micro)),
            Op::Rmw { .. } | Op::Fence(_) => unreachable!("updates and fences of a translated program are blocks"),
        }
    }

    fn micro(&mut self, process: ProcessId, micro: &Micro) {
        let layout = self.layout;
        let place = |register: &_| layout.register(process, *register);
        match micro {
            Micro::Assume(condition) | Micro::Assert(condition) => self.condition(condition, &place),
            Micro::Assign(register, value) => self.copy(vec![place(register)], value, &place),
            Micro::Havoc(..) => {}
            Micro::Load(register, from) => self.load(place(register), from),
            Micro::Store(to, value) => self.copy(self.locations(to), value, &place),
            Micro::Choose(branches) => branches.iter().flatten().for_each(|micro| self.micro(process, micro)),
        }
    }

    fn locations(&self, place: &Place) -> Vec<Variable> {
        self.program.locations_of(place).into_iter().map(|x| self.layout.location(x)).collect()
    }

    fn load(&mut self, register: Variable, from: &Place) {
        let mut variables = self.locations(from);
        variables.push(register);
        self.relate(&variables);
    }

    fn copy<V>(&mut self, mut to: Vec<Variable>, value: &Expr<V>, place: &impl Fn(&V) -> Variable) {
        value.for_each_var(&mut |variable| to.push(place(variable)));
        self.relate(&to);
    }

    /// Relates what occurs in one comparison.
    fn condition<V>(&mut self, condition: &Expr<V>, place: &impl Fn(&V) -> Variable) {
        match condition {
            Expr::Unary(UnaryOp::Not, inner) => self.condition(inner, place),
            Expr::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
                self.condition(left, place);
                self.condition(right, place);
            }
            Expr::Const(_) | Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) => {
                self.copy(Vec::new(), condition, place);
            }
        }
    }
}
