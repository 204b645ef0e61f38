//! The files of a program: the one that is asked about, its modules, and the library of its crate.

use fencewright::frontend::Input;
use fencewright::source::{Diagnostic, SourceFile, Span, path_of};

use crate::ast::Item;

use super::{Convert, limits};

/// The library that a test or an example of a crate uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// How the crate is called in paths.
    pub name: String,
    /// Its first file, as seen from the file that is read.
    pub path: String,
}

/// What is known of the crate that a file is part of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Package {
    /// The library that the file uses.
    pub library: Option<Library>,
    /// The features that are on.
    pub features: Vec<String>,
}

impl Package {
    /// A file by itself.
    pub const NONE: Self = Self { library: None, features: Vec::new() };
}

/// What was read.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    pub items: Vec<Item>,
    pub diagnostics: Vec<Diagnostic>,
}

/// No more files are read.
const MAX_FILES: usize = 256;

/// Reads a text with its modules.
pub(crate) fn parse(input: &mut Input<'_>, package: &Package) -> Parsed {
    let mut parsed = Parsed::default();
    let main = input.source.main().clone();
    let stem = stem_of(main.name());
    let mut open = vec![(main.clone(), Vec::new(), if is_root(&stem) { String::new() } else { stem })];
    if let Some(library) = &package.library {
        match input.open(&library.path, &main) {
            Ok(file) => open.insert(0, (file, vec![library.name.clone()], String::new())),
            Err(why) => parsed.diagnostics.push(Diagnostic::error(Span::new(0, 0), why)),
        }
    }
    let mut n_files = 0;
    while let Some((file, module, folder)) = open.pop() {
        n_files += 1;
        if n_files > MAX_FILES {
            let message = format!("the program has more than {MAX_FILES} files");
            parsed.diagnostics.push(Diagnostic::error(Span::new(0, 0), message).with_help("check a part of it"));
            break;
        }
        let mut convert = Convert::new(&file, module.clone(), &package.features);
        let mut modules = Vec::new();
        parsed.items.extend(convert.file(&file, &mut modules));
        parsed.diagnostics.append(&mut convert.diagnostics);
        for (path, span) in modules {
            // A crate's root may have no folder of its own: `tests/it.rs` has `mod a;` in `tests/a.rs`.
            match module_file(input, &file, &folder, &path[module.len()..]) {
                Ok((opened, folder)) => open.push((opened, path, folder)),
                Err(_) => {
                    let message = format!("the module `{}` was not found", path.join("::"));
                    let base = base(&folder, &path[module.len()..]);
                    let help = format!("it is read from `{base}.rs` or `{base}/mod.rs`, beside this file");
                    parsed.diagnostics.push(Diagnostic::error(span, message).with_help(help));
                }
            }
        }
    }
    parsed.diagnostics.sort_by_key(|it| it.span.start);
    parsed
}

/// `a.rs` or `a/mod.rs` below a folder, and the folder of what is below that.
fn module_file(
    input: &mut Input<'_>,
    file: &SourceFile,
    folder: &str,
    path: &[String],
) -> Result<(SourceFile, String), String> {
    let base = base(folder, path);
    let last = path.last().cloned().unwrap_or_default();
    let first = input.open(&format!("{base}.rs"), file).map(|it| (it, last));
    first.or_else(|why| input.open(&format!("{base}/mod.rs"), file).map(|it| (it, String::new())).map_err(|_| why))
}

fn base(folder: &str, path: &[String]) -> String {
    let below = path.join("/");
    if folder.is_empty() { below } else { format!("{folder}/{below}") }
}

fn stem_of(name: &str) -> String {
    let name = path_of(name);
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    file.strip_suffix(".rs").unwrap_or(file).to_owned()
}

/// Whether the modules of a file stand beside it.
fn is_root(stem: &str) -> bool {
    matches!(stem, "main" | "lib" | "mod")
}

impl Convert {
    fn new(file: &SourceFile, module: Vec<String>, features: &[String]) -> Self {
        let is_mark = |line: &str| {
            let comment = line.trim_start().strip_prefix("//").map(str::trim_start);
            comment.and_then(|it| it.strip_prefix("fencewright:")).is_some_and(|it| it.trim() == "check")
        };
        let lines = file.text().lines().enumerate();
        let marked = lines.filter(|(_, line)| is_mark(line)).map(|(at, _)| at + 1).collect();
        Self {
            start: file.start(),
            module,
            features: features.to_vec(),
            marked,
            diagnostics: Vec::new(),
            inner: Vec::new(),
        }
    }

    /// The items of a file, and the modules that stand in files of their own.
    fn file(&mut self, file: &SourceFile, modules: &mut Vec<(Vec<String>, Span)>) -> Vec<Item> {
        let text = without_shebang(file.text());
        let tokens: proc_macro2::TokenStream = match text.parse() {
            Ok(tokens) => tokens,
            Err(error) => {
                let span = self.place(error.span());
                self.diagnostics.push(Diagnostic::error(span, "this is no text of Rust").with_help(
                    "look for a quote, a comment or a parenthesis that is not closed, or a character that has no place",
                ));
                return Vec::new();
            }
        };
        if let Some((place, what)) = limits::excess(tokens.clone()) {
            let span = self.place(place);
            self.diagnostics.push(Diagnostic::error(span, what).with_help("split it"));
            return Vec::new();
        }
        match syn::parse2::<syn::File>(tokens) {
            Ok(parsed) => {
                let mut items = Vec::new();
                self.items(&parsed.items, &mut items, modules);
                items.append(&mut self.inner);
                items
            }
            Err(error) => {
                let span = self.place(error.span());
                let help = "`rustc` says more about it";
                self.diagnostics.push(Diagnostic::error(span, error.to_string()).with_help(help));
                Vec::new()
            }
        }
    }
}

/// The text with the first line blanked if that is for a shell, and so a mark of the byte order.
fn without_shebang(text: &str) -> String {
    let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let blank = text.len() - rest.len();
    let line = rest.lines().next().unwrap_or_default();
    let is_shebang = line.starts_with("#!") && !line[2..].trim_start().starts_with('[');
    let skipped = blank + if is_shebang { line.len() } else { 0 };
    format!("{}{}", " ".repeat(skipped), &text[skipped..])
}
