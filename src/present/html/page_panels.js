/* What stands around the timeline; then all of it is put together. */

/* ---- first: the verdict, figures, findings ---------------------------------------------------- */

function state_bar(times, all) {
  return canvas({ role: "img", "aria-label": "the shares below as a bar" }, 16, (pen, width, height) => {
    let x = 0;
    for (const key of order) {
      const wide = (times[key] || 0) / all * width;
      pen.fillStyle = look(key);
      pen.fillRect(x, 0, wide, height);
      x += wide;
    }
  });
}
function state_legend(times, all) {
  return el("div", { class: "legend" }, order.filter(key => (times[key] || 0) >= all * 0.005)
    .map(key => el("span", { "data-state": key }, swatch(key), words_of[key] || key, " ", share(times[key] / all))));
}
const by_key = list => Object.fromEntries(keys.map((key, i) => [key, list[i]]));
function add_times(list) {
  const all = new Array(keys.length).fill(0);
  for (const times of list) times.forEach((t, i) => { all[i] += t; });
  return all;
}
const bare = text => text.replace(/[\s\-_:/#]*\d+$/, "") || text;
/* Threads of one name, numbers at its end aside, as one. */
function roles(of) {
  const groups = new Map();
  for (const lane of of) {
    const key = lane.process + bare(lane.label) + lane.had_work;
    groups.set(key, [...(groups.get(key) || []), lane]);
  }
  return [...groups.values()];
}
function role_name(role) {
  const label = role.length > 1 ? bare(role[0].label) : role[0].label;
  return (role.length > 1 ? count(role.length) + " × " : "") + cut(clean(label), 60);
}

function put_head() {
  const cpus = report.cpu_ns == null ? null : report.cpu_ns / report.wall_ns;
  const cost = /\[(.*)\]$/.exec(data.head);
  const figure = (title, value) => value && el("div", {}, el("span", {}, title), el("b", {}, value));
  const command = data.command.replace(/^[^ ]*\//, "");
  document.title = "heurt: " + cut(clean(command), 80);
  page.append(el("header", { id: "head" }, el("h1", {}, name(command)),
    el("p", { class: "verdict", id: "verdict" }, data.verdict ||
      "Nothing was recorded: this trace has no events."),
    el("div", { class: "figures", id: "figures" },
      figure("took", duration(report.wall_ns)),
      figure("CPUs of the machine", report.machine && report.machine.cpus && count(report.machine.cpus)),
      figure("CPUs used", cpus == null ? null : cpus.toFixed(cpus < 0.095 ? 2 : 1)),
      figure("threads", count(report.threads_of)),
      figure("that had work", line && count(lanes.filter(l => l.had_work).length)),
      figure("events recorded", count(report.events)),
      report.exit_status ? figure("exit status", report.exit_status) : null),
    el("p", { class: "dim" }, cost ? cost[1][0].toUpperCase() + cost[1].slice(1) + ". " : "",
      report.machine && [report.machine.processor, report.machine.kernel].filter(Boolean).map(clean).join(", "))));
}

const class_objects = card => {
  const ranks = report.findings[card.index].classes || NONE;
  return new Set(ranks.map(r => report.classes[r - 1]).filter(c => c && c.object).map(c => c.object));
};
/* What of a finding lies in the selection; null: its times are not kept. */
function finding_within(card) {
  const finding = report.findings[card.index], own = class_objects(card);
  if (!line) return null;
  if (finding.category === "cpu")
    return sum(selected_lanes().filter(l => l.had_work).map(l => lane_times(l, state.range)[keys.indexOf("runnable")]));
  return own.size ? sum(waits.filter(w => w.object && own.has(w.object.address)).map(within)) : null;
}
const doubt = finding => finding.confidence === "measured" ? "" : "~";
function card_of(card) {
  const finding = report.findings[card.index], here = el("p", { class: "dim here", hidden: true });
  panels.push(() => {
    const ns = is_selected() ? finding_within(card) : null;
    here.hidden = !is_selected();
    here.textContent = ns == null ? "In the selection: not known, single times of it are not kept."
      : "In the selection: " + duration(ns) + (finding.category === "cpu" ? "" : " of waits");
  });
  const most = 6, rest = card.parts.slice(most);
  const parts = card.parts.length < 2 ? NONE : card.parts.slice(0, most).map(p =>
    [exact(p.lost_ns), name(p.where), name(p.because_of)])
    .concat(rest.length ? [[exact(sum(rest.map(p => p.lost_ns))), "in " + count(rest.length) + " more", ""]] : []);
  const tries = (finding.try || NONE).map(t => el("li", {}, t));
  return el("article", { class: "card", "data-finding": finding.rank },
    el("header", {}, el("h3", {}, finding.rank + "  ", name(card.subject)),
      el("span", { class: "lost" }, "lost ", doubt(finding), exact(finding.lost_ns), " (", share(finding.share), ")"),
      el("span", { class: "gain" }, "gain ", card.gain)),
    el("p", { class: "cause" }, name(card.cause, 1000)), here,
    parts.length ? table(null, [number("lost"), words("where"), words("because of")], parts) : null,
    picture_of(card.picture),
    tries.length ? el("p", {}, "To try:") : null, tries.length ? el("ul", {}, tries) : null,
    card.command && el("p", {}, el("code", {}, name(card.command, 400))),
    finding.confidence !== "measured" &&
      el("p", { class: "dim" }, "The time lost is an estimate", finding.confidence === "weak" ? " from few occurrences." : "."));
}
function put_findings() {
  const cards = data.cards || NONE;
  cards.forEach((card, i) => { card.index = i; });
  const ranked = cards.filter(c => report.findings[c.index].ranked), noted = cards.filter(c => c.noted);
  const body = section("findings", "What costs time");
  if (!ranked.length) body.append(el("p", {}, "No finding costs enough to be ranked."));
  ranked.forEach(card => body.append(card_of(card)));
  if (noted.length)
    body.append(table("Also lost, but not ranked:", [number("lost"), number("share"), words("gain"), words("what")],
      noted.map(c => {
        const f = report.findings[c.index];
        return [[doubt(f), exact(f.lost_ns)], share(f.share), c.gain, name(c.subject)];
      })));
}

/* ---- what threads did, in figures ------------------------------------------------------------- */

/* Without a timeline: of the whole run. */
function put_thread_sums(body) {
  const shown = order.filter(key => report.threads.some(t => t.components_ns[key] > 0));
  body.append(report.threads.length ? table("Of the whole run:", [words("thread"), words("name"), number("life")].concat(shown.map(k => number(k.replace("_", " ")))),
    report.threads.slice(0, 100).map(t => [String(t.tid), name(t.name, 40), exact(t.lifetime_ns)].concat(shown.map(k => exact(t.components_ns[k])))))
    : el("p", {}, "No thread was recorded."));
}
function put_threads() {
  if (!line) {
    put_thread_sums(section("threads", "What threads did"));
    return;
  }
  const bars = el("div", { id: "roles" }), body = section("threads", "What threads did"), list = el("div", { id: "thread-times" });
  body.append(bars, list);
  panels.push(() => {
    const of = selected_lanes(), busy = of.filter(l => l.had_work), times = new Map(of.map(l => [l, lane_times(l, state.range)]));
    bars.replaceChildren(...roles(busy).slice(0, 8).map(role => {
      const all = by_key(add_times(role.map(l => times.get(l)))), life = sum(Object.values(all));
      return el("div", { class: "role" }, el("b", {}, role_name(role)), ", ", duration(life), " of thread time",
        life > 0 ? [state_bar(all, life), state_legend(all, life)] : null);
    }));
    const shown = order.filter(key => of.some(l => times.get(l)[keys.indexOf(key)] > 0));
    const most = 100, left_out = lanes.length - busy.length;
    list.replaceChildren(table(is_selected() ? "In the selection:" : "Of the whole run:",
      [words("thread"), words("name"), number("life")].concat(shown.map(k => number(words_of[k]))),
      of.slice(0, most).map(l => [String(l.tid), name(l.label, 40), exact(sum(times.get(l)))].concat(shown.map(k =>
        exact(times.get(l)[keys.indexOf(k)]))))),
    el("p", { class: "dim" }, of.length > most ? count(of.length - most) + " more threads are not in this table. " : "",
      !is_selected() && left_out ? count(left_out) + " of these threads had no work; they are not in the bars. " : "",
      "The cost of recording is in what threads worked."));
    bars.querySelectorAll("canvas").forEach(c => c.paint());
  });
}

/* ---- locks ------------------------------------------------------------------------------------ */

const is_of = lock => w => w.object && w.object.address === lock.address && w.object.process === lock.process;
function lock_name(lock) {
  return lock.name || (lock.initialised && lock.initialised.function
    ? lock.kind + " made at " + place(lock.initialised) : lock.kind + " " + lock.address);
}
function matrix(lock) {
  const of = waits.filter(is_of(lock)).map(w => [w, within(w)]).filter(([, ns]) => ns > 0);
  const who = w => state.by === "places" ? w.place : w.lane.label + " " + w.lane.tid;
  const by = w => !w.by ? "not known" : state.by === "places" ? w.by_place : w.by.label + " " + w.by.tid;
  const all = sum(of.map(([, ns]) => ns)), cells = new Map(), most = 12;
  const sums = pick => {
    const totals = new Map();
    of.forEach(([w, ns]) => totals.set(pick(w), (totals.get(pick(w)) || 0) + ns));
    return [...totals].sort((a, b) => b[1] - a[1]).map(([text]) => text);
  };
  of.forEach(([w, ns]) => { const key = who(w) + "\n" + by(w); cells.set(key, (cells.get(key) || 0) + ns); });
  const lines = sums(who), columns = sums(by), kept = sum(waits.filter(is_of(lock)).map(w => w.ns));
  if (!all) return el("p", {}, "No wait for it is kept", is_selected() ? " in the selection." : ".");
  const cell = (a, b) => {
    const ns = cells.get(a + "\n" + b), shown = el("td", {}, ns ? exact(ns) : "");
    if (ns) shown.style.background = "rgba(213,94,0," + (0.08 + 0.6 * ns / all).toFixed(3) + ")";
    return shown;
  };
  return el("div", { class: "wide" }, el("p", { class: "dim" }, "Who waited (rows) for whom (columns): ", duration(all), " of waits",
      kept < lock.wait_ns * 0.995 && !is_selected() ? "; the longest waits are kept, " + share(kept / lock.wait_ns) + " of the time" : "", "."),
    el("table", { class: "matrix" }, el("thead", {}, el("tr", {}, el("th", {}, ""), columns.slice(0, most).map(c => el("th", {}, name(c, 60))))),
    el("tbody", {}, lines.slice(0, most).map(l => el("tr", {}, el("th", {}, name(l, 60)), columns.slice(0, most).map(c => cell(l, c)))))));
}
function put_locks() {
  const body = section("locks", "Locks, conditions and barriers"), document_ = data.locks;
  if (!document_ || !document_.locks.length) {
    body.append(el("p", {}, report.aggregated ? "Single locks are not kept by --aggregate."
      : document_ ? "The program took no lock and waited at nothing that heurt knows." : "Locks were not looked at."));
    return;
  }
  const list = el("div", { id: "lock-list" }), grid = el("div", { id: "matrix" }), most = 15;
  body.append(list, el("div", { class: "tools" }, ["places", "threads"].map(by => el("button", { type: "button", "data-by": by,
    onclick: () => { state.by = by; changed(); } }, "by " + by))), grid);
  const named = new Map();
  document_.locks.forEach(lock => named.set(lock_name(lock), [...(named.get(lock_name(lock)) || []), lock]));
  const name_of = lock => {
    const alike = named.get(lock_name(lock)).length;
    return [name(lock_name(lock), 80), alike > 1 ? " (one of " + count(alike) + ")" : ""];
  };
  panels.push(() => {
    const known = document_.locks, firsts = [...named.values()].map(alike => alike[0]), shown = firsts.slice(0, most), chosen = known[state.lock] || known[0];
    const here = lock => exact(sum(waits.filter(is_of(lock)).map(within)));
    list.replaceChildren(table(count(document_.locks_of) + " in all" + (document_.locks_of > shown.length ? ", the first " + shown.length + " by the time waited" : "") + ".",
      [words("name"), words("kind"), number("taken"), number("had to wait"), number("waited"), number("longest"), number("held")]
        .concat(is_selected() ? [number("waited in the selection")] : []),
      shown.map(lock => [el("button", { type: "button", class: "plain", "aria-pressed": lock === chosen ? "true" : "false",
        onclick: () => { state.lock = known.indexOf(lock); changed(); } }, name_of(lock)), lock.kind + (lock.idle ? ", idle" : ""),
      count(lock.acquisitions), count(lock.contended), exact(lock.wait_ns),
      exact(Math.max(...[lock.exclusive, lock.shared].filter(Boolean).map(s => s.wait.max_ns), 0)),
      exact(sum([lock.exclusive, lock.shared].filter(Boolean).map(s => s.hold.sum_ns)))].concat(is_selected() ? [here(lock)] : []))));
    grid.replaceChildren(el("h3", {}, "Who blocked whom: ", name(lock_name(chosen), 80)), matrix(chosen));
    body.querySelectorAll("[data-by]").forEach(b => b.setAttribute("aria-pressed", String(b.dataset.by === state.by)));
  });
}

/* ---- call stacks ------------------------------------------------------------------------------ */

const is_call = c => ["call", "function", "region", "iteration", "loop"].includes(c.kind);
const weights = {
  waiting: c => is_call(c) || c.idle || c.kind === "page fault" ? 0 : c.sum_ns,
  working: c => is_call(c) ? c.sum_ns - c.excess_ns : 0,
  lost: c => c.idle || c.ignored ? 0 : c.exclusive_excess_ns,
};
const flame_words = {
  waiting: "Where threads waited; what was waiting for work is left out.",
  working: "Recorded functions and loops, each as long as it takes undisturbed. One inside of another counts in both.",
  lost: "Where time was lost, each moment once.",
};
function frames_of(c, stack) {
  const frames = stack ? stack.frames.map(f => f.function || f.address).reverse()
    : [c.caller && c.caller.function].filter(Boolean);
  return frames.at(-1) === c.function ? frames : frames.concat(c.function || c.kind);
}
function flame_tree(mode) {
  const root = { text: "all", ns: 0, inside: new Map() }, nested = mode === "working";
  for (const c of report.classes) {
    const weight = weights[mode](c), stacks = c.stacks && c.stacks.length ? c.stacks : [null];
    const shares = sum(stacks.map(s => s ? s.share : 1)) || 1;
    if (weight > 0) for (const stack of stacks) {
      let node = root;
      const ns = weight * (stack ? stack.share : 1) / shares, path = frames_of(c, stack);
      path.forEach((text, depth) => {
        if (!node.inside.has(text)) node.inside.set(text, { text, ns: 0, inside: new Map() });
        node = node.inside.get(text);
        if (!nested || depth === path.length - 1) node.ns += ns;
      });
    }
  }
  const total = node => {
    const inner = sum([...node.inside.values()].map(total));
    return node.ns = nested || node === root ? Math.max(node.ns, inner) : node.ns;
  };
  total(root);
  return root;
}
function put_flames() {
  const body = section("stacks", "Call stacks"), host = el("div", { class: "flame", id: "flame" }), note = el("p", { class: "dim" });
  let top = null;
  const ROW = 19, LEAST = 0.002;
  const fill = (node, left, wide, depth) => {
    if (wide < LEAST || depth > 60) return depth;
    let deepest = depth + 1, x = left;
    const box = el("button", { type: "button", title: cut(clean(node.text), 500) + ": " + duration(node.ns) + ", " + share(node.ns / top.all),
      "data-ns": Math.round(node.ns), onclick: () => { top.node = node; paint(); } }, cut(clean(node.text), 120) + " " + duration(node.ns));
    const key = state.flame === "working" ? "running" : state.flame === "lost" ? "lock" : "condition";
    box.style.cssText = "left:" + 100 * left + "%;width:" + 100 * wide + "%;top:" + depth * ROW + "px";
    box.style.background = looks[key][0] + ["cc", "aa", "88"][depth % 3];
    host.append(box);
    for (const child of [...node.inside.values()].sort((a, b) => b.ns - a.ns)) {
      const part = wide * child.ns / (node.ns || 1);
      deepest = Math.max(deepest, fill(child, x, part, depth + 1));
      x += part;
    }
    return deepest;
  };
  function paint() {
    host.replaceChildren();
    note.textContent = top.all ? flame_words[state.flame] + " Stacks are drawn from samples of the calls, of the whole run: single times are not kept, so " +
      "a selection does not change them." + (report.classes_of > report.classes.length ? " Of " + count(report.classes_of) + " classes the first " + report.classes.length + "." : "")
      : state.flame === "working" ? "No function or loop of the program was recorded." : "There is none.";
    host.style.height = (top.all ? fill(top.node, 0, 1, 0) : 0) * ROW + "px";
  }
  body.append(el("div", { class: "tools" }, ["waiting", "lost", "working"].map(mode => el("button", { type: "button", "data-mode": mode,
    onclick: () => { state.flame = mode; changed(); } }, mode)), el("button", { type: "button", onclick: () => { top.node = top.whole; paint(); } }, "whole")), note, host);
  panels.push(() => {
    body.querySelectorAll("[data-mode]").forEach(b => b.setAttribute("aria-pressed", String(b.dataset.mode === state.flame)));
    if (top && top.mode === state.flame) return;
    const node = flame_tree(state.flame);
    top = { mode: state.flame, node, whole: node, all: node.ns };
    paint();
  });
}

/* ---- iterations -------------------------------------------------------------------------------- */

function phase_strip(phase) {
  return canvas({ class: "strip", role: "img", "aria-label": "the longest iteration at each time" }, 34, (pen, width, height) => {
    const from = phase.start_ns - zero, cell = (phase.end_ns - phase.start_ns) / phase.strip_ns.length, most = Math.max(...phase.strip_ns, 1);
    phase.strip_ns.forEach((ns, i) => {
      const a_ns = (width - LABEL) / whole, x = LABEL + (from + i * cell) * a_ns, tall = ns / most * height;
      pen.fillStyle = ns > phase.threshold_ns ? looks.lock[0] : looks.running[0];
      pen.fillRect(x, height - tall, Math.max(cell * a_ns - 0.5, 0.5), tall);
    });
  });
}
function phase_of(phase, number_) {
  const outliers = el("div", { class: "outliers" }), most = 12, body = (phase.body || NONE).map(place).join(", ");
  panels.push(() => {
    const tids = new Set(selected_lanes().map(l => l.tid)), [from, to] = state.range || [-Infinity, Infinity];
    const of = phase.outliers.filter(o => tids.has(o.tid) && o.start_ns - zero < to && o.start_ns - zero + o.duration_ns > from);
    outliers.replaceChildren(of.length ? table("Iterations that stand out" + (is_selected() ? " in the selection" : "") + ": " + count(of.length) +
      " kept of " + count(phase.outlier_count), [number("iteration"), number("thread"), number("at"), number("took"), number("more than usual"), words("most of it in")],
      of.slice(0, most).map(o => [count(o.turn), String(o.tid), el("button", { type: "button", class: "plain",
        onclick: () => { state.view = clamp([o.start_ns - zero - o.duration_ns, o.start_ns - zero + 2 * o.duration_ns]);
          select([o.start_ns - zero, o.start_ns - zero + o.duration_ns]); } }, duration(o.start_ns - zero)),
      exact(o.duration_ns), exact(o.more_ns), name(o.place ? place(o.place) : "its own code", 80)]))
      : el("p", { class: "dim" }, phase.outlier_count ? "None of those that are kept is in the selection." : "No iteration stands out."));
  });
  return el("article", { "data-loop": number_ + 1 }, el("h3", {}, name(data.loops[number_] || "loop")),
    el("p", {}, count(phase.threads.length), phase.threads.length === 1 ? " thread runs" : " threads run", " this loop: ", count(phase.turns),
      " iterations of ", duration(phase.p50_ns), " (median), 1 % over ", duration(phase.p99_ns), ", the slowest ", duration(phase.max_ns), "."),
    body && el("p", { class: "dim" }, "In it: ", name(body), phase.body_is_cut ? " …" : ""),
    line && phase_strip(phase), outliers);
}
function put_iterations() {
  const body = section("iterations", "Iterations"), phases = data.iterations;
  if (!phases || !phases.length)
    body.append(el("p", {}, phases ? "No loop of calls was found that takes a part of a thread's life worth telling."
      : "Iterations were not looked at: --aggregate keeps no order of events."));
  else phases.slice(0, 8).forEach((phase, i) => body.append(phase_of(phase, i)));
  if (phases && phases.length > 8) body.append(el("p", { class: "dim" }, count(phases.length - 8) + " more loops: heurt structure --iterations"));
}

/* ---- functions of which no calls tell ----------------------------------------------------------- */

function put_long_functions() {
  const rows = report.long_functions || [];
  if (!rows.length) return;
  const shared = rows.some(r => r.false_sharing_ns + r.true_sharing_ns > 0);
  section("long-functions", "Functions that are called seldom, from samples", table("Their time, of all sampled time:",
    [words("function"), number("time"), number("share"), number("threads"), ...(shared ? [number("lost by sharing")] : []), words("most of it at")],
    rows.map(r => [name(r.function, 120), exact(r.time_ns), share(r.share), count(r.threads.length),
      ...(shared ? [exact(r.false_sharing_ns + r.true_sharing_ns)] : []),
      r.lines.length && r.lines[0].file ? name(r.lines[0].file.replace(/^.*\//, "") + ":" + r.lines[0].line, 80) : ""])));
}

/* ---- what changes would gain --------------------------------------------------------------------- */

const REPLAY_DOUBTFUL = 0.1; // off by so much, as in whatif_text.c
function put_whatif() {
  const body = section("whatif", "What would help"), told = data.whatif;
  const factor = gain => gain[1] < 1.005 ? "none" : (gain[0] < 1.005 ? "≤ " : gain[0].toFixed(2) + "–") + gain[1].toFixed(2) + "×";
  const what = a => [/^--split/.test(a.asked) ? "two locks in place of " : a.object ? "no waits for " : "no loss in ",
    name(a.object ? a.object_name || a.object : a.function || "?", 80), a.file ? [" ", name(a.file.replace(/^.*\//, "") + ":" + a.line, 80)] : null];
  const gains = told && told.answers.filter(a => a.prediction && a.prediction.wall_gain[1] >= 1.005);
  const place_of = a => [/^--split/.test(a.asked), a.object || "", a.function, a.file, a.line].join("\n");
  const answers = gains && gains.filter((a, i) => gains.findIndex(b => place_of(b) === place_of(a)) === i);
  if (!told) { body.append(el("p", {}, "The run cannot be replayed, so this is not known.")); return; }
  body.append(el("p", { class: "dim" }, "Predicted by replaying the run, which takes ", duration(told.unrecorded_ns), " without what recording cost, with that changed",
    told.replayed_share < 1 ? [" (from ", share(told.replayed_share), " of it)"] : null, ". heurt whatif answers other questions."));
  const off = (told.replayed_ns - told.measured_ns) / told.measured_ns;
  if (told.measured_ns && Math.abs(off) > REPLAY_DOUBTFUL)
    body.append(el("p", {}, el("b", { class: "warn" }, "The replay is far from the run"), " (" + (100 * off).toFixed(1) + " %), so something decides its time that the replay does not know: these are to be doubted."));
  body.append(answers.length ? table("The run would take:", [number("about"), words("gain"), number("lost now"), words("with")],
    answers.map(a => [exact(a.prediction.wall_ns), factor(a.prediction.wall_gain), exact(a.lost_ns), what(a)]))
    : el("p", {}, "Nothing that was asked would make the run faster: its time is spent otherwise."));
  if (gains.length > answers.length)
    body.append(el("p", { class: "dim" }, count(gains.length - answers.length), " more at the same places, for other objects, gain no more."));
}

/* ---- what was looked at, and the words --------------------------------------------------------- */

const CHECKS = { running: "time worked, against CPU time", lives: "lives of threads", page_fault_time: "time in page faults, against CPU time in the kernel",
  page_fault_count: "page faults" };
function put_coverage() {
  const body = section("coverage", "What was looked at"), list = texts => el("ul", {}, texts.map(t => el("li", {}, name(t, 400))));
  const coverage = report.coverage, known = report.checks.filter(c => c.holds != null);
  body.append(el("p", {}, data.looked_at), el("p", {}, data.not_looked_at));
  for (const runtime of coverage.runtimes)
    body.append(el("p", {}, runtime.name, ": ", [runtime.seen, runtime.unseen].filter(Boolean).join("; ")));
  if (report.warnings.length) body.append(el("h3", {}, "Doubts"), list(report.warnings));
  if (known.length)
    body.append(table("Figures against what the system counted:", [words("figure"), number("heurt"), number("system"), words("")],
      known.map(c => [CHECKS[c.name] || c.name, /count/.test(c.name) ? count(c.ours) : duration(c.ours),
        /count/.test(c.name) ? count(c.counted) : duration(c.counted), c.holds ? "agrees" : el("b", { class: "warn" }, "does not agree")])));
  if (report.replayed_share != null && report.replayed_share < 1)
    body.append(el("p", {}, "Gains are from ", share(report.replayed_share), " of the run."));
  if (report.no_gains) body.append(el("p", {}, "Gains are estimates: ", name(report.no_gains, 400)));
  if (coverage.requested)
    body.append(el("p", {}, count(coverage.instrumented), " of ", count(coverage.requested), " functions were recorded. The others: heurt report --coverage."));
}
function put_glossary() {
  section("glossary", "Words", el("dl", {}, data.words.map(w => [el("dt", {}, w.word), el("dd", {}, w.meaning)])));
}

/* ---- all of it --------------------------------------------------------------------------------- */

put_head();
put_selection();
put_findings();
put_timeline();
put_threads();
put_locks();
put_flames();
put_long_functions();
put_iterations();
put_whatif();
put_coverage();
put_glossary();
const repaint = () => {
  if (chart) chart.setSize({ width: document.getElementById("cpus").clientWidth, height: 120 });
  painters.forEach(paint => paint());
};
panels.push(() => painters.forEach(paint => paint()));
window.addEventListener("resize", repaint);
window.addEventListener("beforeprint", repaint);
window.addEventListener("afterprint", repaint);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
window.addEventListener("hashchange", restore);
panels.push(() => { page.dataset.ready = "true"; });
/* At once, not at the next frame: a page that nobody looks at yet gets none. */
restore();
follow_state();
