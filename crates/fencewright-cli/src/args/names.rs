//! Names that an argument may have: of models, engines, reductions, front ends, tables, forms.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fencewright::engine;
use fencewright::frontend::Frontend;
use fencewright::memory::Model;
use fencewright::program::FenceKind;
use fencewright::report::{self, Report};
use fencewright::translate::print::{self, Printer};
use fencewright::translate::{Method, Overflow};

use fencewright_tables::{self as tables, Form};

use crate::frontends;

/// One memory model, or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Models {
    One(Model),
    All,
}

impl Models {
    /// Each that is meant.
    pub(crate) fn each(self) -> Vec<Model> {
        match self {
            Self::One(model) => vec![model],
            Self::All => Model::ALL.to_vec(),
        }
    }
}

/// What else a model is called.
const ALIASES: [(&str, Model); 2] = [("x86", Model::Tso), ("c11", Model::LANGUAGES[0])];

fn model_values() -> impl Iterator<Item = PossibleValue> {
    values_of(Model::every())
}

fn values_of(models: impl Iterator<Item = Model>) -> impl Iterator<Item = PossibleValue> {
    models.map(|model| {
        let others = ALIASES.iter().filter(move |it| it.1 == model).map(|it| it.0);
        PossibleValue::new(model.name()).aliases(others)
    })
}

/// The model with a name that the parsers below admit.
fn model_called(name: &str) -> Option<Model> {
    let name = name.to_lowercase();
    Model::named(&name).or_else(|| ALIASES.iter().find(|it| it.0 == name).map(|it| it.1))
}

/// A model; `ignore_case` stands beside it.
pub(super) fn model() -> impl TypedValueParser<Value = Model> {
    PossibleValuesParser::new(model_values())
        .map(|name| model_called(&name).expect("the parser admits these names only"))
}

/// A model with store buffers, or without need of them; `ignore_case` stands beside it.
pub(super) fn buffered_model() -> impl TypedValueParser<Value = Model> {
    PossibleValuesParser::new(values_of(Model::ALL.into_iter()))
        .map(|name| model_called(&name).expect("the parser admits these names only"))
}

/// A model, or `all`; `ignore_case` stands beside it.
pub(super) fn models() -> impl TypedValueParser<Value = Models> {
    let all = PossibleValue::new("all");
    PossibleValuesParser::new(model_values().chain([all]))
        .map(|name| model_called(&name).map_or(Models::All, Models::One))
}

pub(super) fn kinds() -> impl TypedValueParser<Value = FenceKind> {
    PossibleValuesParser::new(FenceKind::ALL.map(FenceKind::name))
        .map(|name| FenceKind::by_name(&name).expect("the parser admits these names only"))
}

pub(super) fn engines() -> PossibleValuesParser {
    let auto = PossibleValue::new(engine::AUTO).help("the one that fits");
    let all = engine::ALL.iter().map(|it| PossibleValue::new(it.name()).help(it.card().about));
    PossibleValuesParser::new(std::iter::once(auto).chain(all))
}

pub(super) fn reductions() -> PossibleValuesParser {
    let mut names: Vec<&str> = engine::ALL.iter().flat_map(|it| it.card().reductions).map(|it| it.name).collect();
    names.sort_unstable();
    names.dedup();
    PossibleValuesParser::new(names)
}

pub(super) fn frontends() -> PossibleValuesParser {
    let value = |it: &&'static dyn Frontend| PossibleValue::new(it.name()).help(it.about());
    PossibleValuesParser::new(frontends::ALL.iter().map(value))
}

pub(super) fn tables() -> PossibleValuesParser {
    PossibleValuesParser::new(tables::ALL.iter().map(|it| PossibleValue::new(it.name).help(it.about)))
}

pub(super) fn forms() -> PossibleValuesParser {
    PossibleValuesParser::new(Form::ALL.map(|it| PossibleValue::new(it.name()).help(it.about())))
}

pub(super) fn reports() -> PossibleValuesParser {
    let value = |it: &&'static dyn Report| PossibleValue::new(it.name()).help(it.about());
    PossibleValuesParser::new(report::ALL.iter().map(value))
}

pub(super) fn languages() -> PossibleValuesParser {
    let value = |it: &&'static dyn Printer| PossibleValue::new(it.name()).help(it.about());
    PossibleValuesParser::new(print::ALL.iter().map(value))
}

pub(super) fn methods() -> impl TypedValueParser<Value = Method> {
    let values = Method::ALL.map(|it| PossibleValue::new(it.name()).help(it.about()));
    PossibleValuesParser::new(values).map(|name| {
        let method = Method::ALL.into_iter().find(|it| it.name() == name);
        method.expect("the parser admits these names only")
    })
}

pub(super) fn overflows() -> impl TypedValueParser<Value = Overflow> {
    let values = Overflow::ALL.map(|it| PossibleValue::new(it.name()).help(it.about()));
    PossibleValuesParser::new(values).map(|name| {
        let overflow = Overflow::ALL.into_iter().find(|it| it.name() == name);
        overflow.expect("the parser admits these names only")
    })
}
