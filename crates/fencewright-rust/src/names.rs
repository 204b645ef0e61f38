//! What the items of a text are called, and what a name means at a place.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::ast::{self, Constant, Fields, Function, Item, Path, TypeKind};
use crate::types::{OPTION, RESULT};

/// Everything that is declared.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub functions: BTreeMap<String, Vec<Rc<Function>>>,
    pub structs: Vec<Structure>,
    pub enums: Vec<Enumeration>,
    types: BTreeMap<String, Vec<(Named, Vec<String>)>>,
    pub aliases: Vec<Alias>,
    pub impls: Vec<ast::Impl>,
    /// Functions that traits have for whoever has none.
    pub traits: BTreeMap<String, (Vec<Rc<Function>>, Vec<Rc<Constant>>)>,
    pub statics: BTreeMap<String, Vec<Rc<Constant>>>,
    pub constants: BTreeMap<String, Vec<Rc<Constant>>>,
    uses: BTreeMap<(Vec<String>, String), Vec<String>>,
    pub macros: Vec<String>,
}

/// What a name of a type means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Named {
    Struct(usize),
    Enum(usize),
    Alias(usize),
}

/// Another name for a type.
#[derive(Debug)]
pub(crate) struct Alias {
    pub generics: Vec<String>,
    pub ty: ast::Type,
    /// Where it is declared, and its type is read.
    pub module: Vec<String>,
}

/// A structure.
#[derive(Debug)]
pub(crate) struct Structure {
    pub name: String,
    pub generics: Vec<String>,
    /// What parameters are where nothing is said.
    pub defaults: Vec<Option<ast::Type>>,
    pub fields: Rc<Fields>,
    pub module: Vec<String>,
}

/// An enumeration.
#[derive(Debug)]
pub(crate) struct Enumeration {
    pub name: String,
    pub generics: Vec<String>,
    /// Names, and the names and types of what they have.
    pub variants: Vec<Rc<Fields>>,
    pub module: Vec<String>,
}

impl Names {
    pub(crate) fn new(items: Vec<Item>) -> Self {
        let mut names = Self::default();
        names.standard();
        for item in items {
            names.add(item);
        }
        names
    }

    /// `Option` and `Result`.
    fn standard(&mut self) {
        let span = fencewright::source::Span::default();
        let parameter = |name: &str| {
            let segments = vec![ast::Segment { name: name.to_owned(), arguments: Vec::new() }];
            ast::Type { kind: TypeKind::Path(Path { segments, of: None, span }) }
        };
        let variant = |name: &str, of: Option<&str>| {
            let name = ast::Name { text: name.to_owned(), span };
            let fields = of.iter().map(|it| ("0".to_owned(), parameter(it))).collect();
            Rc::new(Fields { name, fields, number: None })
        };
        let option = vec![variant("None", None), variant("Some", Some("T"))];
        let result = vec![variant("Ok", Some("T")), variant("Err", Some("E"))];
        let known =
            [("Option", vec!["T".to_owned()], option), ("Result", vec!["T".to_owned(), "E".to_owned()], result)];
        for (name, generics, variants) in known {
            self.enums.push(Enumeration { name: name.to_owned(), generics, variants, module: Vec::new() });
        }
        debug_assert_eq!((OPTION, RESULT), (0, 1));
    }

    fn add(&mut self, item: Item) {
        match item {
            Item::Function(it) => self.functions.entry(it.name.text.clone()).or_default().push(it),
            Item::Struct { fields, generics, defaults, module } => {
                let name = fields.name.text.clone();
                self.types.entry(name.clone()).or_default().push((Named::Struct(self.structs.len()), module.clone()));
                self.structs.push(Structure { name, generics, defaults, fields, module });
            }
            Item::Enum { name, generics, variants, module } => {
                let name = name.text;
                self.types.entry(name.clone()).or_default().push((Named::Enum(self.enums.len()), module.clone()));
                self.enums.push(Enumeration { name, generics, variants, module });
            }
            Item::Alias { name, generics, ty, module } => {
                self.types.entry(name.text).or_default().push((Named::Alias(self.aliases.len()), module.clone()));
                self.aliases.push(Alias { generics, ty, module });
            }
            Item::Impl(it) => self.impls.push(it),
            Item::Trait { name, functions, constants } => {
                self.traits.insert(name.text, (functions, constants));
            }
            Item::Static(it) => self.statics.entry(it.name.text.clone()).or_default().push(it),
            Item::Constant(it) => self.constants.entry(it.name.text.clone()).or_default().push(it),
            Item::Use { name, path, module } => {
                self.uses.insert((module, name), path);
            }
            Item::Macro(name) => self.macros.push(name.text),
        }
    }

    /// The path that a name stands for, where `use` says so.
    pub(crate) fn used(&self, name: &str, module: &[String]) -> Option<&[String]> {
        // What stands in a function is used in its module.
        (0..=module.len())
            .rev()
            .find_map(|n| self.uses.get(&(module[..n].to_vec(), name.to_owned())))
            .map(Vec::as_slice)
    }

    /// Whether a name means something of std, or of loom.
    pub(crate) fn is_foreign(&self, path: &Path, module: &[String]) -> bool {
        let is_std = |name: &str| matches!(name, "std" | "core" | "alloc" | "loom" | "crossbeam_utils" | "atomic_wait");
        let Some(first) = path.segments.first() else { return false };
        if is_std(&first.name) {
            return true;
        }
        self.used(&first.name, module).and_then(<[String]>::first).is_some_and(|it| is_std(it))
    }

    /// What a path means as a type.
    pub(crate) fn ty(&self, path: &Path, module: &[String]) -> Option<Named> {
        if self.is_foreign(path, module) {
            return None;
        }
        let name = self.real_name(path, module);
        let all = self.types.get(&name)?;
        nearest(all.iter().map(|it| (it.0, it.1.as_slice())), &self.said(path, module), module)
    }

    /// The last name of a path, or what `use` renames it from.
    pub(crate) fn real_name(&self, path: &Path, module: &[String]) -> String {
        let renamed = path.single().and_then(|it| self.used(it, module)).and_then(<[String]>::last);
        renamed.cloned().unwrap_or_else(|| path.last().to_owned())
    }

    /// What stands before the last name of a path, in full where `use` says what its first name is.
    fn said<'n>(&'n self, path: &'n Path, module: &[String]) -> Vec<&'n str> {
        let own = path.segments.iter().map(|it| it.name.as_str());
        let used = path.segments.first().and_then(|it| self.used(&it.name, module));
        let mut said: Vec<&str> = match used {
            Some(used) => used.iter().map(String::as_str).chain(own.skip(1)).collect(),
            None => own.collect(),
        };
        said.pop();
        said
    }

    /// What a path means as a function.
    pub(crate) fn function(&self, path: &Path, module: &[String]) -> Option<Rc<Function>> {
        if self.is_foreign(path, module) {
            return None;
        }
        let all = self.functions.get(&self.real_name(path, module))?;
        nearest(all.iter().map(|it| (it, it.module.as_slice())), &self.said(path, module), module).cloned()
    }

    /// What a path means as a `static`, or as a constant.
    pub(crate) fn constant(&self, path: &Path, module: &[String], is_static: bool) -> Option<Rc<Constant>> {
        if self.is_foreign(path, module) {
            return None;
        }
        let table = if is_static { &self.statics } else { &self.constants };
        let all = table.get(&self.real_name(path, module))?;
        nearest(all.iter().map(|it| (it, it.module.as_slice())), &self.said(path, module), module).cloned()
    }
}

/// Of things with the same name, the one whose module is said, or is nearest.
fn nearest<'n, T>(all: impl Iterator<Item = (T, &'n [String])>, said: &[&str], module: &[String]) -> Option<T> {
    let is_root = said == ["crate"];
    let said = said.iter().rev().find(|it| !matches!(**it, "self" | "super" | "crate"));
    let score = |at: &[String]| {
        let is_said = said.is_some_and(|it| at.last().is_some_and(|last| last == it)) || is_root && at.is_empty();
        let common = at.iter().zip(module).take_while(|(a, b)| a == b).count();
        (is_said, at == module, common, std::cmp::Reverse(at.len()))
    };
    // What a function declares is known in that function only.
    let is_known = |at: &[String]| !at.iter().any(|it| it.starts_with("fn ")) || module.starts_with(at);
    all.filter(|it| is_known(it.1)).max_by_key(|it| score(it.1)).map(|it| it.0)
}
