#!/usr/bin/env bash
# Writes crates/fencewright-cli/layout.ld anew: which functions runs of the command use, so that the linker puts them
# side by side (crates/fencewright-cli/build.rs). Needs valgrind, and an executable that has its symbols, with their
# names as .cargo/config.toml wants them:
#
#     cargo build --profile profiling -p fencewright-cli && benches/layout.sh
set -euo pipefail
cd "$(dirname "$0")/.."
fencewright="${1:-target/profiling/fencewright}"
runs=$(mktemp -d)
trap 'rm -r "$runs"' EXIT

# Names without what changes from one compiler to the next: numbers of crates, references to them, and what thin LTO
# appends. They are long, so that how they begin has to do.
names() {
    valgrind --tool=callgrind --demangle=no --callgrind-out-file="$runs/out" "$fencewright" "$@" > "$runs/log" 2>&1 ||
        { test $? -le 3 || { cat "$runs/log"; exit 1; }; }
    grep -oE 'fn=\([0-9]+\) _R[^ ]+' "$runs/out" | sed -E "s/.* //; s/'[0-9]+\$//" |
        sed -E 's/\.llvm\..*/*/; s/Cs[0-9A-Za-z]+_/C*_/g; s/B[0-9A-Za-z]*_/B*_/g; s/^(.{100}).+/\1*/; s/\*+/*/g' | sort -u
}

n=0
run() {
    n=$((n + 1))
    names "$@" > "$runs/$n.names"
}
papers=examples/papers
run check --model tso $papers/burns_fenced.fw --format json --quiet --threads 1 --engine load-buffer
run check --model pso $papers/bakery_bounded2.fw --format json --quiet --threads 1 --engine load-buffer
run check --model tso $papers/clh_queue_lock.fw --format json --quiet --threads 1 --engine load-buffer
run fence --model tso $papers/dekker.fw --all --by process --format json --quiet --threads 1 --engine load-buffer
run fence --model pso $papers/peterson.fw --all --by process --format json --quiet --threads 1 --engine load-buffer
run check --model sc,tso,pso $papers/peterson.fw --threads 1
run fence --model tso $papers/peterson.fw --diff --threads 1
run check --model tso examples/c/peterson_fenced.c --threads 1
run check --model tso examples/rust/mutex_counter.rs --threads 1

# What every other run uses comes first, then what some do; among them are functions that the compiler calls unlikely.
pattern() {
    sed 's/^/        .text.*/'
}
sort "$runs"/*.names | uniq -c > "$runs/counts"
{
    echo "/* Functions that runs of the command use, those that most of them do first: written by benches/layout.sh. */"
    echo "SECTIONS {"
    echo "  .text.used : {"
    echo "    *("
    awk -v n="$n" '$1 * 2 >= n { print $2 }' "$runs/counts" | pattern
    echo "    )"
    echo "    *("
    awk -v n="$n" '$1 * 2 < n { print $2 }' "$runs/counts" | pattern
    echo "    )"
    echo "  }"
    echo "}"
    echo "INSERT BEFORE .text;"
} > "${2:-crates/fencewright-cli/layout.ld}"
