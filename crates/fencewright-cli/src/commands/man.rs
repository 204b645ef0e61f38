//! `man`: the manual page, with a section for each verb.

use clap::CommandFactory;
use clap_mangen::Man;

use crate::args::Arguments;
use crate::code::Code;
use crate::console::Console;

/// Prints the manual page.
pub fn run(console: &mut Console) -> Code {
    let mut command = Arguments::command();
    command.build();
    let mut out = Vec::new();
    let page = Man::new(command.clone()).render(&mut out);
    page.expect("writing to memory does not fail");
    for verb in command.get_subcommands() {
        let name = format!("fencewright {}", verb.get_name());
        out.extend(format!(".SH {}\n", name.to_uppercase()).bytes());
        let man = Man::new(verb.clone().display_name(name));
        let section = man.render_description_section(&mut out).and_then(|()| man.render_options_section(&mut out));
        section.expect("writing to memory does not fail");
    }
    console.say(&String::from_utf8_lossy(&out));
    Code::Good
}
