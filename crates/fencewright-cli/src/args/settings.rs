//! What engines may be told, as flags that are made from their cards: `--k`, `--domain` and the like.

use clap::builder::PossibleValue;
use clap::error::Error;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use fencewright::engine::{self, Card, Options, Setting, Takes};

/// The settings that were given, by flag.
#[derive(Clone, Debug, Default)]
pub(crate) struct SettingArguments(Vec<(&'static Setting, Given)>);

#[derive(Clone, Copy, Debug)]
enum Given {
    Count(u32),
    Name(&'static str),
}

impl SettingArguments {
    /// Options with these settings.
    pub(crate) fn told(&self, options: Options) -> Options {
        self.0.iter().fold(options, |options, &(setting, given)| match given {
            Given::Count(count) => options.with_count(setting, count),
            Given::Name(name) => options.with_name(setting, name),
        })
    }

    /// The flags that were given.
    pub(crate) fn flags(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.0.iter().map(|(setting, _)| setting.flag)
    }
}

/// Which engines have a flag.
pub(super) fn engines_with(flag: &str) -> Vec<&'static str> {
    engine::ALL.iter().filter(|it| it.card().has(flag)).map(|it| it.name()).collect()
}

/// Every setting of every engine, each flag once, with all engines that have it.
fn all() -> Vec<(&'static Setting, Vec<(&'static Card, &'static Setting)>)> {
    let mut all: Vec<(&'static Setting, Vec<(&'static Card, &'static Setting)>)> = Vec::new();
    for (card, &setting) in engine::ALL.iter().flat_map(|it| it.card().settings.iter().map(|s| (it.card(), s))) {
        match all.iter_mut().find(|known| known.0.flag == setting.flag) {
            Some(known) => known.1.push((card, setting)),
            None => all.push((setting, vec![(card, setting)])),
        }
    }
    all
}

fn argument(setting: &'static Setting, of: &[(&'static Card, &'static Setting)]) -> Option<Arg> {
    let about: Vec<String> = of.iter().map(|(card, setting)| format!("`{}`: {}", card.name, setting.about)).collect();
    let plain = Arg::new(setting.flag)
        .long(setting.flag)
        .value_name(setting.value_name)
        .help(about.join("; "))
        .help_heading("Search: what engines may be told");
    match setting.takes {
        Takes::Count(least, most) => {
            Some(plain.value_parser(value_parser!(u32).range(i64::from(least)..=i64::from(most))))
        }
        Takes::OneOf(names) => {
            let values: Vec<PossibleValue> =
                names.iter().map(|&(name, about)| PossibleValue::new(name).help(about)).collect();
            Some(plain.value_parser(values))
        }
        Takes::Program => None,
    }
}

impl Args for SettingArguments {
    fn augment_args(command: Command) -> Command {
        command.args(all().into_iter().filter_map(|(setting, of)| argument(setting, &of)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SettingArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = |setting: &'static Setting| match setting.takes {
            Takes::Count(..) => matches.get_one::<u32>(setting.flag).map(|&count| Given::Count(count)),
            Takes::OneOf(names) => {
                let chosen = matches.get_one::<String>(setting.flag)?;
                names.iter().find(|(name, _)| name == chosen).map(|&(name, _)| Given::Name(name))
            }
            Takes::Program => None,
        };
        let settings = all().into_iter().map(|it| it.0);
        Ok(Self(settings.filter_map(|setting| Some((setting, given(setting)?))).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
