//! The options of a verb, put together only for the verb that is given: there are many verbs with many options, and
//! most programs are checked in less time than all of them take to describe.

use std::ops::Deref;

use clap::builder::Resettable;
use clap::error::Error;
use clap::{ArgMatches, Args, Command, FromArgMatches};

/// Arguments that are described when they are needed.
#[derive(Clone, Debug)]
pub(crate) struct Deferred<T>(T);

impl<T> Deref for Deferred<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: FromArgMatches> FromArgMatches for Deferred<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches_mut(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<T: Args> Args for Deferred<T> {
    fn augment_args(verb: Command) -> Command {
        verb.defer(|verb| keeping_about(verb, T::augment_args))
    }

    fn augment_args_for_update(verb: Command) -> Command {
        verb.defer(|verb| keeping_about(verb, T::augment_args_for_update))
    }
}

/// What is said of a verb, not of its arguments, is shown.
fn keeping_about(verb: Command, augment: fn(Command) -> Command) -> Command {
    let (about, long_about) = (verb.get_about().cloned(), verb.get_long_about().cloned());
    augment(verb).about(Resettable::from(about)).long_about(Resettable::from(long_about))
}
