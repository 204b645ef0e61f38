"use strict";
// The page: a program, questions about it, and their answers. All texts are set as text; only the markup of a run, whose
// texts the library has escaped, is set as markup.
(function () {
  const $ = (id) => document.getElementById(id);
  const { element } = fencewright;
  let session = null;
  let running = null;
  let repaired = null;
  let pause = null;
  // What the answers shown are about, by tab.
  const answered = {};

  // Asks the server; what it refuses is thrown, with what is said about it.
  async function ask(name, question) {
    const headers = { "Content-Type": "application/json" };
    // Who leaves the page still wants a check to be stopped.
    const options = { method: "POST", headers, body: JSON.stringify(question), keepalive: name === "cancel" };
    const response = await fetch(name, question ? options : {}).catch(() => {
      throw new Error("The server does not answer: is “fencewright explore” still running?");
    });
    const isJson = response.headers.get("Content-Type") === "application/json";
    const answer = isJson ? await response.json() : { error: await response.text() };
    if (response.ok) return answer;
    throw Object.assign(new Error(answer.error), answer);
  }

  const question = () => ({ text: $("text").value, language: $("language").value, model: $("model").value });
  const count = (n) => Number(n).toLocaleString("en");

  function complain(error) {
    showMistakes(error.diagnostics || []);
    const hasPlaces = error.diagnostics && error.diagnostics.length > 0;
    const text = hasPlaces ? "The program has mistakes; they are listed below it." : error.message;
    $("notice").textContent = text + (error.help ? " (" + error.help + ")" : "");
    $("notice").hidden = false;
  }

  // Where something is; with its file, if that is not the one that the page shows.
  const lineOf = (it) => (it.file ? it.file + ":" : "line ") + it.line;

  function showMistakes(mistakes) {
    Array.from($("gutter").children).forEach((row) => row.classList.remove("wrong", "doubtful"));
    const items = mistakes.map((it) => {
      const row = $("gutter").children[it.line - 1];
      if (row && !it.file) row.classList.add(it.severity === "error" ? "wrong" : "doubtful");
      const button = element("button", "", it.severity + ", " + lineOf(it) + ":" + it.column + ": " + it.message);
      button.type = "button";
      if (it.label) button.append(element("small", "", it.label));
      if (it.help) button.append(element("small", "", "help: " + it.help));
      if (!it.file) button.addEventListener("click", () => goTo(it.line, it.column));
      const item = element("li");
      item.append(button);
      return item;
    });
    $("mistakes").replaceChildren(...items);
    if (mistakes.length > 0 && !mistakes[0].file) reveal(mistakes[0].line);
  }

  function reveal(line) {
    const height = 20;
    const [top, box] = [(line - 1) * height, $("text")];
    if (top < box.scrollTop || top + height > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 2;
  }

  function goTo(line, column) {
    const lines = $("text").value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, it) => sum + it.length + 1, 0);
    // Columns count characters, the text area counts UTF-16 units.
    const at = start + Array.from(lines[line - 1] || "").slice(0, column - 1).join("").length;
    $("text").focus();
    $("text").setSelectionRange(at, at);
    reveal(line);
  }

  function drawGutter() {
    const n = $("text").value.split("\n").length;
    const gutter = $("gutter");
    while (gutter.children.length > n) gutter.lastChild.remove();
    for (let i = gutter.children.length; i < n; i++) gutter.append(element("span", "", i + 1));
    gutter.scrollTop = $("text").scrollTop;
  }

  const how = () => ({ engine: $("engine").value, ask: $("ask").value });
  const asking = () => JSON.stringify([question(), how()]);

  // What was answered may be about another program.
  function drawStale() {
    const about = answered[TABS.find((name) => !$(name).hidden)];
    $("stale").hidden = about === undefined || about === asking();
  }

  function edited() {
    const { text, language } = question();
    const draft = { file: session.file, original: session.text, text, language };
    $("reset").hidden = text === session.text && language === session.language;
    if ($("reset").hidden) sessionStorage.removeItem("draft");
    else sessionStorage.setItem("draft", JSON.stringify(draft));
    showMistakes([]);
    $("notice").hidden = true;
    drawGutter();
    // What is being typed is looked at when the typing pauses.
    clearTimeout(pause);
    pause = setTimeout(() => {
      read().catch(complain);
      changed();
    }, 300);
    drawStale();
  }

  // Marks the mistakes of the text, unless it is another by now.
  async function read() {
    const asked = question();
    const { diagnostics } = await ask("read", asked);
    if (JSON.stringify(asked) === JSON.stringify(question())) showMistakes(diagnostics);
  }

  function changed() {
    drawStale();
    if (!$("walk").hidden) walker.open(question());
  }

  function put(text, language) {
    $("text").value = text;
    $("language").value = language;
    edited();
  }

  function busy(job) {
    running = job;
    $("check").disabled = $("fence").disabled = job !== null;
    $("cancel").disabled = job === null;
    if (job === null) $("progress").textContent = "";
  }

  // Starts a check and follows it to its end.
  async function follow(aim, asked) {
    $("notice").hidden = true;
    busy({ id: null });
    $("progress").textContent = "starting…";
    try {
      const { job, warnings } = await ask(aim, asked);
      showMistakes(warnings);
      running.id = job;
      if (running.isCanceled) await ask("cancel", { job });
      for (let wait = 30; ; wait = Math.min(400, wait * 1.5)) {
        const report = await ask("job", { job });
        if (report.state === "done") return { ...report, job };
        const done = count(report.explored) + " looked at, " + count(report.queued) + " to go, ";
        const said = done + report.seconds.toFixed(1) + " s";
        $("progress").textContent = running.isCanceled ? "stopping… " + said : said;
        await new Promise((done) => setTimeout(done, wait));
      }
    } finally {
      busy(null);
    }
  }

  function cancel() {
    if (!running) return;
    running.isCanceled = true;
    if (running.id !== null) ask("cancel", { job: running.id }).catch(complain);
  }

  const MARKS = { safe: "✓ ", correct: "✓ ", fixed: "✓ ", unsafe: "✗ ", unfixable: "✗ ", unknown: "? " };
  const LOOKS = { safe: "safe", correct: "safe", fixed: "safe", unsafe: "unsafe", unfixable: "unsafe" };

  function say(place, finding, rest) {
    const reason = finding.reason ? ": " + finding.reason : "";
    const advice = finding.advice ? " (" + finding.advice + ")" : "";
    const model = finding.model ? " under " + finding.model : "";
    const about = !finding.question || finding.question === "safety" ? "" : " (" + finding.question + ")";
    place.textContent = MARKS[finding.verdict] + finding.verdict + model + about + (rest || reason) + advice;
    place.className = "verdict " + (LOOKS[finding.verdict] || "");
  }

  function stats(finding) {
    const { stats } = finding;
    if (!stats) return "";
    const kept = stats.kept === undefined ? "" : ", " + count(stats.kept) + " kept";
    const checks = stats.checks === undefined ? "" : ", " + count(stats.checks) + " checks";
    const explored = finding.engine + ": " + count(stats.explored) + " looked at";
    return explored + kept + checks + ", " + stats.seconds.toFixed(3) + " s";
  }

  const verdictOf = (finding) => {
    if (finding.verdict === "safe") return ": for every start, interleaving and flush order, buffers and loops unbounded";
    return finding.property ? ": " + finding.property.text + " (" + lineOf(finding.property) + ")" : "";
  };

  function showRun(place, run) {
    const box = element("div", "run");
    box.tabIndex = 0;
    box.setAttribute("aria-label", "The violating run: arrow keys step");
    if (run) {
      box.innerHTML = run.markup;
      fencewright.show(run.data, box);
    }
    place.replaceChildren(...(run ? [box] : []));
    const isIdle = document.activeElement === document.body || document.activeElement === $("check");
    if (run && isIdle) box.focus({ preventScroll: true });
  }

  // Runs what a button asks for; what is refused is shown.
  const guarded = (act) => () => (running ? null : act().catch(complain));

  async function check() {
    const [asked, about] = [question(), asking()];
    select("result");
    const { finding, run } = await follow("check", { ...asked, ...how() });
    answered.result = about;
    say($("verdict"), finding, verdictOf(finding));
    $("stats").textContent = stats(finding);
    showRun($("trace"), run);
    drawStale();
  }

  async function fence() {
    const [asked, searched, about] = [question(), how(), asking()];
    select("fences");
    $("repair").hidden = $("sets").hidden = true;
    const { finding, run, job } = await follow("fence", { ...asked, ...searched });
    answered.fences = about;
    const n = finding.fence_sets ? finding.fence_sets.length : 0;
    const rest = finding.verdict === "fixed" ? (n === 1 ? ": one minimal set" : ": " + n + " minimal sets") : "";
    const isAll = finding.verdict !== "fixed" || finding.complete;
    say($("outcome"), finding, finding.verdict === "correct" ? ": no fence is needed" : rest);
    $("fence-stats").textContent = stats(finding) + (isAll ? "" : "; there may be others");
    if (finding.verdict === "fixed") showSets(finding.fence_sets, { job, model: asked.model, ...searched });
    if (run) {
      answered.result = about;
      say($("verdict"), finding, finding.property ? ": " + finding.property.text : "");
      $("stats").textContent = "";
      showRun($("trace"), run);
    }
    drawStale();
  }

  function showSets(sets, found) {
    const choices = sets.map((set, i) => {
      const label = element("label");
      const input = element("input");
      input.type = "radio";
      input.name = "set";
      input.addEventListener("change", guarded(() => choose(i, found)));
      const fences = set.fences.map((it) =>
        (it.kind === "full" ? "fence" : "store fence") + " " + it.position + " " + lineOf(it) + ", " + it.text);
      label.append(input, " cost " + set.cost + ": " + fences.join("; "));
      return label;
    });
    $("sets").replaceChildren($("sets").querySelector("legend"), ...choices);
    $("sets").hidden = false;
  }

  // Shows the program with a set of fences, and checks it again from its text.
  async function choose(set, { job, model, engine, ask: asked }) {
    $("repair").hidden = true;
    repaired = await ask("repair", { job, set });
    const rows = walker.listing(repaired.text);
    repaired.inserted.forEach((line) => rows[line - 1].classList.add("inserted"));
    $("repaired").replaceChildren(...rows);
    URL.revokeObjectURL($("download").href);
    $("download").href = URL.createObjectURL(new Blob([repaired.text], { type: "text/plain" }));
    $("download").download = session.file.replace(/^.*[\\/]/, "").replace(/\.[^.]*$/, "") + "_fenced.fw";
    $("rechecked").textContent = "Checking the repaired program…";
    $("rechecked").className = "verdict";
    $("repair").hidden = false;
    if (rows[repaired.inserted[0] - 1]) rows[repaired.inserted[0] - 1].scrollIntoView({ block: "nearest" });
    const { text, language } = repaired;
    const { finding } = await follow("check", { text, language, model, engine, ask: asked });
    say($("rechecked"), finding, verdictOf(finding));
    $("rechecked").prepend("The repaired program: ");
  }

  const TABS = ["result", "fences", "walk"];

  function select(chosen) {
    for (const name of TABS) {
      $(name).hidden = name !== chosen;
      $("tab-" + name).setAttribute("aria-selected", String(name === chosen));
      $("tab-" + name).tabIndex = name === chosen ? 0 : -1;
    }
    changed();
  }

  function install() {
    $("check").addEventListener("click", guarded(check));
    $("fence").addEventListener("click", guarded(fence));
    $("cancel").addEventListener("click", cancel);
    $("look-page").addEventListener("click", fencewright.toggleLook);
    $("text").addEventListener("input", edited);
    $("text").addEventListener("scroll", () => ($("gutter").scrollTop = $("text").scrollTop));
    $("text").addEventListener("keydown", (event) => event.ctrlKey && event.key === "Enter" && guarded(check)());
    $("reset").addEventListener("click", () => put(session.text, session.language));
    $("language").addEventListener("change", edited);
    $("model").addEventListener("change", changed);
    $("engine").addEventListener("change", changed);
    $("ask").addEventListener("change", changed);
    $("adopt").addEventListener("click", () => put(repaired.text, repaired.language));
    $("copy").addEventListener("click", () => navigator.clipboard.writeText(repaired.text).catch(complain));
    TABS.forEach((name, i) => {
      $("tab-" + name).addEventListener("click", () => select(name));
      $("tab-" + name).addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = TABS[(i + step + TABS.length) % TABS.length];
        select(next);
        $("tab-" + next).focus();
      });
    });
    // Who leaves does not wait any more.
    addEventListener("pagehide", cancel);
  }

  function fill(list, options, chosen) {
    const made = options.map((it) => {
      const option = element("option", "", it.name || it);
      option.value = it.name || it;
      if (it.about) option.title = it.about;
      return option;
    });
    list.replaceChildren(...made);
    list.value = chosen;
  }

  async function start() {
    session = await ask("session");
    document.title = session.file + " – fencewright explore";
    $("file").textContent = session.file;
    fill($("model"), session.models, session.model);
    fill($("engine"), session.engines, session.engines[0].name);
    fill($("ask"), session.questions, session.questions[0].name);
    fill($("language"), session.languages, session.language);
    walker.install({ ask, complain });
    install();
    const draft = JSON.parse(sessionStorage.getItem("draft") || "null");
    const isOurs = draft && draft.file === session.file && draft.original === session.text;
    put(isOurs ? draft.text : session.text, isOurs ? draft.language : session.language);
    document.documentElement.dataset.ready = "yes";
  }

  start().catch(complain);
})();
