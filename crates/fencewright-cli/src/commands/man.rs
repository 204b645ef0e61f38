//! `man`: the manual page, with a section for each verb.

use std::io;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::args::Arguments;
use crate::code::Code;
use crate::console::Console;

/// Prints the manual page.
pub(crate) fn run(console: &mut Console) -> Code {
    let mut out = Vec::new();
    page(&mut out).expect("writing to memory does not fail");
    console.say(&String::from_utf8_lossy(&out));
    Code::Good
}

/// One page for all verbs, where clap would have one page for each.
fn page(out: &mut Vec<u8>) -> io::Result<()> {
    let mut command = Arguments::command();
    command.build();
    let man = Man::new(command.clone());
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_description_section(out)?;
    for verb in command.get_subcommands() {
        out.extend(format!(".SH fencewright {}\n", verb.get_name()).to_uppercase().bytes());
        // The options of all verbs are shown once, below.
        let own = verb.clone().mut_args(|arg| {
            let is_common = command.get_arguments().any(|it| it.get_id() == arg.get_id());
            arg.hide(is_common)
        });
        let mut section = Vec::new();
        let man = Man::new(own);
        man.render_description_section(&mut section)?;
        man.render_options_section(&mut section)?;
        out.extend(subsections(&String::from_utf8_lossy(&section)).bytes());
    }
    out.extend(b".SH OPTIONS OF ALL COMMANDS\n");
    let mut options = Vec::new();
    man.render_options_section(&mut options)?;
    out.extend(subsections(&String::from_utf8_lossy(&options)).bytes());
    man.render_extra_section(out)?;
    man.render_version_section(out)
}

/// Sections one level down; the heading of a description says nothing there.
fn subsections(text: &str) -> String {
    text.replace(".SH DESCRIPTION\n", "").replace(".SH ", ".SS ")
}
