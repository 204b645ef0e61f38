"use strict";
// Draws the state after each step of the run; all texts are set as text, never as markup.
(function () {
  const run = JSON.parse(document.getElementById("run").textContent);
  const $ = (id) => document.getElementById(id);
  const last = run.states.length - 1;
  const rows = Array.from($("steps").children);
  const lines = Array.from($("source").children);
  let at = 0;
  let timer = null;

  function element(tag, name, text) {
    const made = document.createElement(tag);
    if (name) made.className = name;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function drawLane(thread, state, number) {
    const acts = at > 0 && run.steps[at - 1].thread === number;
    const lane = element("div", acts ? "lane acts" : "lane");
    const head = element("h3", "", thread + " ");
    const line = state.lines[number];
    head.append(element("small", "", line ? "line " + line : "not started"));
    lane.append(head);
    if (run.buffers) {
      const queue = element("div", "queue mono");
      queue.setAttribute("aria-label", "Store buffer of " + thread + ", newest first");
      const entries = state.buffers[number];
      if (entries.length === 0) queue.append(element("span", "none", "store buffer empty"));
      for (let i = entries.length - 1; i >= 0; i--) {
        const isDelayed = run.delayed && run.delayed.thread === number && run.delayed.text === entries[i] &&
          at > run.delayed.store && at <= run.delayed.until;
        const name = entries[i] === "|" ? "entry marker" : isDelayed ? "entry delayed" : "entry";
        queue.append(element("span", name, entries[i] === "|" ? "store fence" : entries[i]));
      }
      lane.append(queue);
    }
    if (state.registers[number]) lane.append(element("div", "registers mono", state.registers[number]));
    return lane;
  }

  function drawMemory(state, before) {
    const cells = run.locations.map((name, x) => {
      const isChanged = before && before.memory[x] !== state.memory[x];
      const cell = element("span", isChanged ? "cell changed" : "cell", name + " = " + state.memory[x]);
      if (at > 0 && run.steps[at - 1].flushed === x) {
        cell.append(element("span", "from", " ⇠ buffer of " + run.threads[run.steps[at - 1].thread]));
      }
      return cell;
    });
    $("memory").replaceChildren(...cells);
  }

  // Moves what is inside a box, never the page under the reader's hands.
  function reveal(box, row) {
    const isSeen = row.offsetTop >= box.scrollTop && row.offsetTop + row.offsetHeight <= box.scrollTop + box.clientHeight;
    if (!isSeen) box.scrollTop = row.offsetTop - box.clientHeight / 2;
  }

  function drawSource(state) {
    lines.forEach((line) => {
      line.classList.remove("at");
      line.querySelectorAll(".here").forEach((mark) => mark.remove());
    });
    state.lines.forEach((line, thread) => {
      const row = line ? lines[line - 1] : undefined;
      if (!row) return;
      row.classList.add("at");
      row.append(element("span", "here", "◂ " + run.threads[thread]));
    });
    const acting = at > 0 ? state.lines[run.steps[at - 1].thread] : 0;
    if (acting && lines[acting - 1]) reveal($("program"), lines[acting - 1]);
  }

  function show(step) {
    at = Math.max(0, Math.min(last, step));
    const state = run.states[at];
    $("lanes").replaceChildren(...run.threads.map((thread, number) => drawLane(thread, state, number)));
    drawMemory(state, at > 0 ? run.states[at - 1] : null);
    drawSource(state);
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
    if (at === last) show(0);
    $("play").textContent = "⏸ pause";
    timer = setInterval(() => {
      show(at + 1);
      if (at === last) stop();
    }, 900);
  }

  function jump(step) {
    stop();
    show(step);
  }

  $("slider").max = last;
  $("slider").addEventListener("input", (event) => jump(Number(event.target.value)));
  $("first").addEventListener("click", () => jump(0));
  $("back").addEventListener("click", () => jump(at - 1));
  $("next").addEventListener("click", () => jump(at + 1));
  $("last").addEventListener("click", () => jump(last));
  $("play").addEventListener("click", play);
  $("look").addEventListener("click", () => {
    const root = document.documentElement;
    const isDark = root.dataset.look ? root.dataset.look === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.look = isDark ? "light" : "dark";
  });
  rows.forEach((row, i) => row.addEventListener("click", () => jump(i + 1)));
  if (run.delayed) {
    const toStore = element("button", "", "to the delayed store");
    const toAccess = element("button", "", "to what overtook it");
    toStore.type = toAccess.type = "button";
    toStore.addEventListener("click", () => jump(run.delayed.store + 1));
    toAccess.addEventListener("click", () => jump(run.delayed.access + 1));
    $("blame").append(element("br"), toStore, toAccess);
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const keys = {
      ArrowRight: () => jump(at + 1), ArrowLeft: () => jump(at - 1), Home: () => jump(0), End: () => jump(last),
      " ": () => (event.target.tagName === "BUTTON" ? null : play()),
      d: () => run.delayed && jump(run.delayed.store + 1), o: () => run.delayed && jump(run.delayed.access + 1),
    };
    const act = keys[event.key];
    if (!act || (event.target.tagName === "INPUT" && event.key.startsWith("Arrow"))) return;
    if (!(event.key === " " && event.target.tagName === "BUTTON")) event.preventDefault();
    act();
  });
  show(0);
})();
