"use strict";
// Draws runs: the lanes of the threads with their store buffers, memory, the lines of the program. All texts are set as
// text, never as markup.
const fencewright = (function () {
  function element(tag, name, text) {
    const made = document.createElement(tag);
    if (name) made.className = name;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  // What a row of the program is called.
  function name(run, row) {
    return run.names ? run.names[row - 1] : row;
  }

  // A thread in a state that the run is in after so many steps.
  function lane(run, at, state, number) {
    const thread = run.threads[number];
    const acts = at > 0 && run.steps[at - 1].thread === number;
    const made = element("div", acts ? "lane acts" : "lane");
    const head = element("h3", "", thread + " ");
    const line = state.lines[number];
    const place = state.places ? state.places[number] : line ? "line " + name(run, line) : "not started";
    head.append(element("small", "", place));
    made.append(head);
    if (run.buffers) made.append(queue(run, at, state.buffers[number], number));
    if (state.registers[number]) made.append(element("div", "registers mono", state.registers[number]));
    return made;
  }

  function queue(run, at, entries, number) {
    const made = element("div", "queue mono");
    made.setAttribute("role", "group");
    made.setAttribute("aria-label", run.buffers + " of " + run.threads[number] + ", newest first");
    if (entries.length === 0) made.append(element("span", "none", run.buffers.toLowerCase() + " empty"));
    for (let i = entries.length - 1; i >= 0; i--) {
      const isDelayed = run.delayed && run.delayed.thread === number && run.delayed.text === entries[i] &&
        at > run.delayed.store && at <= run.delayed.until;
      const name = entries[i] === "|" ? "entry marker" : isDelayed ? "entry delayed" : "entry";
      made.append(element("span", name, entries[i] === "|" ? "store fence" : entries[i]));
    }
    return made;
  }

  function memory(run, at, state, before) {
    return run.locations.map((name, x) => {
      const isChanged = before && before.memory[x] !== state.memory[x];
      const cell = element("span", isChanged ? "cell changed" : "cell", name + " = " + state.memory[x]);
      if (at > 0 && run.steps[at - 1].flushed === x) {
        cell.append(element("span", "from", " ⇠ buffer of " + run.threads[run.steps[at - 1].thread]));
      }
      return cell;
    });
  }

  // Moves what is inside a box, never the page under the reader's hands.
  function reveal(box, row) {
    const isSeen = row.offsetTop >= box.scrollTop && row.offsetTop + row.offsetHeight <= box.scrollTop + box.clientHeight;
    if (!isSeen) box.scrollTop = row.offsetTop - box.clientHeight / 2;
  }

  // Marks the lines of a program, inside a box, where the threads are.
  function mark(box, lines, run, at, state) {
    lines.forEach((line) => {
      line.classList.remove("at");
      line.querySelectorAll(".here").forEach((it) => it.remove());
    });
    state.lines.forEach((line, thread) => {
      const row = line ? lines[line - 1] : undefined;
      if (!row) return;
      row.classList.add("at");
      row.append(element("span", "here", "◂ " + run.threads[thread]));
    });
    const acting = at > 0 ? state.lines[run.steps[at - 1].thread] : 0;
    if (acting && lines[acting - 1]) reveal(box, lines[acting - 1]);
  }

  function toggleLook() {
    const root = document.documentElement;
    const isDark = root.dataset.look ? root.dataset.look === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.look = isDark ? "light" : "dark";
  }

  // Makes the markup of a run below `root` live.
  function show(run, root) {
    const $ = (id) => root.querySelector("#" + id);
    const last = run.states.length - 1;
    const rows = Array.from($("steps").children);
    const lines = Array.from($("source").children);
    let at = 0;
    let timer = null;

    function draw(step) {
      at = Math.max(0, Math.min(last, step));
      const state = run.states[at];
      $("lanes").replaceChildren(...run.threads.map((_, number) => lane(run, at, state, number)));
      $("memory").replaceChildren(...memory(run, at, state, at > 0 ? run.states[at - 1] : null));
      mark($("program"), lines, run, at, state);
      rows.forEach((row, i) => row.classList.toggle("now", i === at - 1));
      if (at > 0) reveal($("all"), rows[at - 1]);
      $("slider").value = at;
      $("count").textContent = at === 0 ? "start" : "step " + at + " of " + last;
      const said = at === 0 ? "Before the first step." : run.threads[run.steps[at - 1].thread] + ": " + run.steps[at - 1].text;
      $("said").textContent = said + (at === last ? " — " + run.violated : "");
    }

    function stop() {
      clearInterval(timer);
      timer = null;
      $("play").textContent = "▶ play";
    }

    function play() {
      if (timer) return stop();
      if (at === last) draw(0);
      $("play").textContent = "⏸ pause";
      timer = setInterval(() => {
        if (!root.isConnected) return clearInterval(timer);
        draw(at + 1);
        if (at === last) stop();
      }, 900);
    }

    function jump(step) {
      stop();
      draw(step);
    }

    function press(event) {
      const { tagName } = event.target;
      if (event.ctrlKey || event.altKey || event.metaKey || tagName === "TEXTAREA" || tagName === "SELECT") return;
      const keys = {
        ArrowRight: () => jump(at + 1), ArrowLeft: () => jump(at - 1), Home: () => jump(0), End: () => jump(last),
        " ": () => (tagName === "BUTTON" ? null : play()),
        d: () => run.delayed && jump(run.delayed.store + 1), o: () => run.delayed && jump(run.delayed.access + 1),
      };
      const act = keys[event.key];
      if (!act || (tagName === "INPUT" && event.key.startsWith("Arrow"))) return;
      if (!(event.key === " " && tagName === "BUTTON")) event.preventDefault();
      act();
    }

    $("slider").max = last;
    $("slider").addEventListener("input", (event) => jump(Number(event.target.value)));
    $("first").addEventListener("click", () => jump(0));
    $("back").addEventListener("click", () => jump(at - 1));
    $("next").addEventListener("click", () => jump(at + 1));
    $("last").addEventListener("click", () => jump(last));
    $("play").addEventListener("click", play);
    $("look").addEventListener("click", toggleLook);
    rows.forEach((row, i) => row.addEventListener("click", () => jump(i + 1)));
    if (run.delayed) {
      const toStore = element("button", "", "to the delayed store");
      const toAccess = element("button", "", "to what overtook it");
      toStore.type = toAccess.type = "button";
      toStore.addEventListener("click", () => jump(run.delayed.store + 1));
      toAccess.addEventListener("click", () => jump(run.delayed.access + 1));
      $("blame").append(element("br"), toStore, toAccess);
    }
    root.addEventListener("keydown", press);
    draw(0);
  }

  return { element, name, lane, memory, mark, toggleLook, show };
})();
