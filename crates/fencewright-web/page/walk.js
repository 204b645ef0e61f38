"use strict";
// Steps by hand. A place in the state space is the list of choices that leads there, so undoing drops the last one.
const walker = (function () {
  const $ = (id) => document.getElementById(id);
  const { element } = fencewright;
  let place = null;
  let n_asked = 0;
  let ask, complain;

  function listing(text) {
    return text.split("\n").map((line, i) => {
      const row = element("li");
      row.append(element("span", "", i + 1), element("code", "", line));
      return row;
    });
  }

  function step(number, thread, line, text) {
    const button = element("button");
    button.type = "button";
    button.append(element("span", "", number), element("b", "", thread), element("span", "", text));
    if (line) button.append(element("small", "none", "line " + line));
    return button;
  }

  function item(button) {
    const made = element("li");
    made.append(button);
    return made;
  }

  function drawSteps(walk) {
    const line = (it) => it.line && fencewright.name(walk, it.line);
    const next = walk.next.map((it, i) => {
      const button = step(i + 1, walk.threads[it.thread], line(it), it.text);
      button.disabled = !it.is_possible;
      button.classList.toggle("flush", it.is_flush);
      button.addEventListener("click", () => take(i));
      return item(button);
    });
    if (walk.left_out > 0) next.push(element("li", "none", "and " + walk.left_out + " more"));
    const taken = walk.steps.map((it, i) => {
      const button = step(i + 1, walk.threads[it.thread], line(it), it.text);
      button.title = "Back to after this step";
      button.addEventListener("click", () => go({ ...place, choices: place.choices.slice(0, i + 1) }));
      return item(button);
    });
    const hadFocus = $("walk-next").contains(document.activeElement) || $("walk-taken").contains(document.activeElement);
    $("walk-next").replaceChildren(...next);
    $("walk-taken").replaceChildren(...taken);
    $("walk-taken").scrollTop = $("walk-taken").scrollHeight;
    if (hadFocus) ($("walk-next").querySelector("button:enabled") || $("walk")).focus({ preventScroll: true });
  }

  function drawValues(variables) {
    const inputs = variables.map((it, i) => {
      const label = element("label", "mono", it.name + " = ");
      const input = element("input");
      input.type = "number";
      input.value = it.value;
      if (it.range) [input.min, input.max] = it.range;
      input.addEventListener("change", () => {
        const values = variables.map((other) => other.value);
        values[i] = Number(input.value);
        go({ ...place, values, choices: [] });
      });
      label.append(input);
      return label;
    });
    $("walk-values").replaceChildren(...(inputs.length ? ["starts with "] : []), ...inputs);
  }

  function draw({ walk, variables }) {
    const at = walk.steps.length;
    const now = walk.states[walk.states.length - 1];
    const before = walk.states.length > 1 ? walk.states[0] : null;
    $("walk-lanes").replaceChildren(...walk.threads.map((_, number) => fencewright.lane(walk, at, now, number)));
    $("walk-memory").replaceChildren(...fencewright.memory(walk, at, now, before));
    $("walk-source").replaceChildren(...listing(place.program.text));
    fencewright.mark($("walk-program"), Array.from($("walk-source").children), walk, at, now);
    drawSteps(walk);
    drawValues(variables);
    const isOver = walk.next.length === 0 ? "No step is possible: every thread has ended or waits for ever." : "";
    const count = at === 0 ? "At the start." : at === 1 ? "After 1 step." : "After " + at + " steps.";
    $("walk-said").textContent = walk.violated ? "✗ Violated here: " + walk.violated : count + " " + isOver;
    $("walk-said").className = walk.violated ? "verdict unsafe" : "verdict";
    $("walk-undo").disabled = at === 0;
  }

  // Goes to a place; if there is no such place, stays.
  async function go(to) {
    n_asked += 1;
    const mine = n_asked;
    try {
      const found = await ask("walk", to);
      if (mine !== n_asked) return;
      place = to;
      draw(found);
    } catch (error) {
      if (mine === n_asked) complain(error);
    }
  }

  function take(choice) {
    return go({ ...place, choices: [...place.choices, choice] });
  }

  function undo() {
    if (place && place.choices.length > 0) go({ ...place, choices: place.choices.slice(0, -1) });
  }

  function press(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.tagName === "INPUT" || !place) return;
    const button = /^[1-9]$/.test(event.key) ? $("walk-next").querySelectorAll("button")[event.key - 1] : null;
    if (button) button.click();
    else if (event.key === "u" || event.key === "Backspace") undo();
    else if (event.key === "r") go({ ...place, choices: [] });
    else return;
    event.preventDefault();
  }

  // Begins at the start of a program, unless the walk is in it already.
  function open(program) {
    const isSame = place && ["text", "language", "model"].every((it) => place.program[it] === program[it]);
    return isSame ? Promise.resolve() : go({ program, values: [], choices: [] });
  }

  function install(theirs) {
    ({ ask, complain } = theirs);
    $("walk-undo").addEventListener("click", undo);
    $("walk-reset").addEventListener("click", () => place && go({ ...place, choices: [] }));
    $("walk").addEventListener("keydown", press);
  }

  return { install, open, listing };
})();
