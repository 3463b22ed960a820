/* The page of heurt compare --html, with page_base.js: its data is heurt.compare-page/1. Times of a run are in ns
 * since its program's start. */
const compared = data.comparison, LABEL = 150, LANE = 20, LANES_MOST = 24, SHOWN_MOST = 12;
const signed = ns => (ns < 0 ? "-" : ns > 0 ? "+" : "") + duration(Math.abs(ns));
const part_text = part => (part < 0 ? "-" : "+") + (Math.abs(100 * part) < 9.95 ? Math.abs(100 * part).toFixed(1) : Math.round(Math.abs(100 * part))) + " %";
const is_few = compared.verdict === "too few runs";

/* ---- the verdict ------------------------------------------------------------------------------ */

function put_head() {
  const figure = (title, value) => value && el("div", {}, el("span", {}, title), el("b", {}, value));
  const least = compared.wall_change_least, most = compared.wall_change_most;
  document.title = "heurt: " + compared.verdict;
  page.append(el("header", { id: "head" }, el("h1", {}, name(compared.after[0].command.replace(/^[^ ]*\//, ""))),
    el("p", { class: "verdict", id: "verdict" }, compared.sentence),
    compared.explanation && el("p", { id: "explanation" }, "What makes it: ", name(compared.explanation, 1000), "."),
    el("div", { class: "figures", id: "figures" },
      figure("before", duration(compared.wall_before_ns)), figure("after", duration(compared.wall_after_ns)),
      figure("change", compared.wall_change == null ? null : part_text(compared.wall_change)),
      figure("interval (99 %)", least == null ? null : part_text(least) + " to " + part_text(most)),
      figure("runs", count(compared.before.length) + " and " + count(compared.after.length))),
    data.notes.map(note => el("p", { class: "dim" }, name(note, 500)))));
}
function put_checks() {
  if (!compared.checks.length) return;
  section("checks", "Conditions", table(null, [words(""), words("condition"), words("what was found")], compared.checks.map(c =>
    [el("b", c.outcome === "failed" ? { class: "warn" } : {}, c.outcome), name(c.condition), name(c.sentence, 400)])));
}

/* ---- what makes the difference ---------------------------------------------------------------- */

const row_name = row => row.renamed_from ? [name(row.row), el("span", { class: "dim" }, " (was ", name(row.renamed_from), ", renamed?)")] : name(row.row);
/* From the wall time before, step by step, to that after. */
function put_steps() {
  const rows_ = compared.rows.filter(r => r.change !== 0), shown = rows_.slice(0, SHOWN_MOST), from = compared.wall_before_ns, to = compared.wall_after_ns;
  const rest = compared.wall_change_ns - sum(shown.map(r => r.change)), steps = [];
  let at = from, low = Math.min(from, to), high = Math.max(from, to);
  for (const [label, change, doubted] of shown.map(r => [row_name(r), r.change, !is_few && !r.shown]).concat(rows_.length > shown.length ? [["all else", rest, false]] : [])) {
    steps.push({ label, change, doubted, a: Math.min(at, at + change), b: Math.max(at, at + change) });
    at += change;
    low = Math.min(low, at);
    high = Math.max(high, at);
  }
  /* The left end is 0 unless changes would be too small to be seen. */
  const least = high > low && high - low < high / 4 ? Math.max(low - (high - low), 0) : 0, scale = ns => 100 * (ns - least) / (high - least || 1);
  const bar = (a, b, kind) => {
    const inside = el("div", { class: "step " + kind });
    inside.style.left = scale(a) + "%";
    inside.style.width = Math.max(scale(b) - scale(a), 0.3) + "%";
    return el("td", { class: "steps", "aria-hidden": "true" }, inside);
  };
  const whole = (title, ns) => el("tr", { class: "whole" }, el("td", {}, title), el("td", { class: "n" }, exact(ns)), el("td"), bar(least, ns, "all"));
  section("difference", "What makes the difference", el("p", { class: "dim" }, "The rows add up to the change of the wall time. ",
    is_few ? "" : "?: as much may be chance. ", least > 0 ? "The left end of the bars is " + duration(least) + ". " : "",
    "Orange takes more time than before, blue less."),
  el("div", { class: "wide" }, el("table", { id: "steps" }, el("tbody", {}, whole("before", from), steps.map(s => el("tr", { "data-change": Math.round(s.change) },
    el("td", {}, s.label), el("td", { class: "n" }, el("data", { value: Math.round(s.change) }, signed(s.change))),
    el("td", { class: "dim" }, s.doubted ? "?" : ""), bar(s.a, s.b, s.change > 0 ? "more" : "less"))), whole("after", to)))));
}
function put_rows() {
  const change = row => row.before > 0 ? row.after > 0 ? part_text(row.after / row.before - 1) : "gone" : "new";
  section("rows", "All rows", el("p", { class: "dim" }, count(compared.rows_of) + " rows. Of the wall time, each instant is divided among the ",
    "threads that had something to do; of threads, each counts in full."),
  table(null, [words("what"), number("before"), number("after"), number("change"), number(""), number("at least"), number("at most"), words(""),
    number("threads before"), number("after")], compared.rows.map(row => [row_name(row), exact(row.before), exact(row.after), signed(row.change), change(row),
    row.least == null ? "" : signed(row.least), row.most == null ? "" : signed(row.most), is_few || row.shown ? "" : "?",
    exact(row.lives_before_ns), exact(row.lives_after_ns)])));
}
function put_phases() {
  if (!compared.phases.length) return;
  const times = ns => ns == null ? "" : exact(ns), of = n => n == null ? el("b", { class: "warn" }, "none") : count(n);
  section("phases", "Loops, in their order", el("p", { class: "dim" }, "Of one run of each side. What takes about a twentieth of a thread's life may be ",
    "found in one run, and not in another of the same program."),
  table(null, [words("loop"), number("iterations before"), number("after"), number("each before"), number("after"), number("")],
    compared.phases.map(p => [name(p.loop), of(p.iterations_before), of(p.iterations_after), times(p.median_before_ns), times(p.median_after_ns),
      p.median_before_ns && p.median_after_ns ? part_text(p.median_after_ns / p.median_before_ns - 1) : ""])));
}

/* ---- what threads did when, of both on one scale ---------------------------------------------- */

const longest = Math.max(data.before.wall_ns, data.after.wall_ns, 1);
/* The part of the longer run that is shown. */
const shown_part = { from: 0, to: longest };
const viewers = [];
function lanes_of(line) {
  const busy = line.lanes.filter(l => l.had_work && l.to_ns > l.from_ns), of = busy.length ? busy : line.lanes;
  return of.slice(0, LANES_MOST).map(lane => {
    const from = Math.max(lane.from_ns - line.from_ns, 0), finest = lane.levels.length ? 0 : -1;
    return { lane, label: cut(clean(lane.tid === lane.pid ? "main" : lane.name || "thread"), 20), from,
      pieces: finest < 0 ? null : decoded(lane.levels[finest], from, line.states.length) };
  });
}
/* Each column of pixels shows all states of its time. */
function draw_lane(pen, lane, keys, y, width) {
  const { from, to } = shown_part, a_ns = (width - LABEL) / (to - from), sorted = order.map(k => keys.indexOf(k)).filter(s => s >= 0);
  const columns = Math.max(Math.floor(width - LABEL), 1), times = new Float64Array(columns * keys.length);
  const { starts, states, parts } = lane.pieces;
  for (let i = first_at(starts, from); i < states.length && starts[i] < to; i++) {
    const a = Math.max(starts[i], from), b = Math.min(starts[i + 1], to), ns = starts[i + 1] - starts[i];
    for (let x = Math.floor((a - from) * a_ns); x < columns && from + x / a_ns < b; x++) {
      const time = Math.max(Math.min(b, from + (x + 1) / a_ns) - Math.max(a, from + x / a_ns), 0);
      if (parts[i]) for (const [s, t] of parts[i]) times[x * keys.length + s] += time * t / ns;
      else times[x * keys.length + states[i]] += time;
    }
  }
  for (let x = 0; x < columns; x++) {
    let top = 0;
    for (const s of sorted) {
      const tall = times[x * keys.length + s] * a_ns * (LANE - 4);
      if (tall <= 0) continue;
      pen.fillStyle = looks[keys[s]][0];
      pen.fillRect(LABEL + x, y + 2 + top, 1, tall);
      top += tall;
    }
  }
}
function timeline_of(side, title) {
  const line = side.timeline, heading = el("h3", {}, title + ": ", name(side.directory, 80), ", ", duration(side.wall_ns));
  if (!line) return el("div", {}, heading, el("p", {}, "No event of any thread was recorded."));
  const keys = line.states.map(s => s.key), lanes = lanes_of(line), more = line.lanes.length - lanes.length;
  const strip = canvas({ role: "img", "data-lanes": lanes.length, "aria-label": title + ": what each thread did over time" }, lanes.length * LANE + 18, (pen, width) => {
    pen.font = "12px system-ui, sans-serif";
    lanes.forEach((lane, i) => {
      pen.fillStyle = theme("--ink");
      pen.fillText(lane.label + " " + lane.lane.tid, 0, i * LANE + 14, LABEL - 8);
      if (lane.pieces) draw_lane(pen, lane, keys, i * LANE, width);
    });
    pen.fillStyle = theme("--dim");
    const { from, to } = shown_part, steps = 5;
    for (let i = 0; i <= steps; i++) {
      const text = duration(from + (to - from) * i / steps), x = LABEL + (width - LABEL) * i / steps, wide = pen.measureText(text).width;
      pen.fillText(i === 0 && from === 0 ? "0" : text, Math.min(Math.max(x - wide / 2, LABEL), width - wide), lanes.length * LANE + 14);
    }
  });
  strip.addEventListener("pointerdown", event => { strip.began = event.offsetX; });
  strip.addEventListener("pointerup", event => {
    const width = strip.clientWidth - LABEL, at = x => shown_part.from + Math.min(Math.max(x - LABEL, 0), width) / width * (shown_part.to - shown_part.from);
    const a = at(Math.min(strip.began, event.offsetX)), b = at(Math.max(strip.began, event.offsetX));
    if (event.offsetX !== strip.began && b - a >= 1000) Object.assign(shown_part, { from: a, to: b });
    viewers.forEach(view => view());
  });
  viewers.push(() => strip.paint());
  return el("div", { class: "lanes" }, heading, strip, more > 0 && el("p", { class: "dim" }, "Not drawn: " + count(more) + (more === 1 ? " more thread, without work." : " more threads, without work or too many.")));
}
function put_timelines() {
  const line = data.after.timeline || data.before.timeline;
  const used = line ? line.states.filter((s, i) => [data.before, data.after].some(side => side.timeline &&
    side.timeline.lanes.some(l => l.state_ns[i] + l.state_ns[i + line.states.length] > 0))) : [];
  section("timelines", "What threads did when", el("p", { class: "dim" }, "One run of each side, that of median wall time, on one scale. A drag over ",
    "either shows that time of both."),
  el("div", { class: "legend" }, order.map(k => used.find(s => s.key === k)).filter(Boolean).map(s => el("span", {}, swatch(s.key), s.words))),
  timeline_of(data.before, "before"), timeline_of(data.after, "after"),
  el("div", { class: "tools" }, el("button", { type: "button", id: "whole", onclick: () => {
    Object.assign(shown_part, { from: 0, to: longest });
    viewers.forEach(view => view());
  } }, "whole runs")));
}

/* ---- the flame graph -------------------------------------------------------------------------- */

function put_flame() {
  const picture = picture_of(data.flame);
  if (picture) section("flame-graph", "Call stacks", picture);
}

/* ---- who was compared -------------------------------------------------------------------------- */

function put_runs() {
  const rows_of = (side, title) => compared[side].map(run => [title, name(run.directory), exact(run.wall_ns), exact(run.lives_ns),
    run.cpus_of_others == null ? "?" : run.cpus_of_others.toFixed(1), name(run.command, 120)]);
  section("runs", "The runs", table(null, [words(""), words("trace"), number("took"), number("lives of threads"), number("CPUs of others"), words("command")],
    rows_of("before", "before").concat(rows_of("after", "after"))));
}

put_head();
put_checks();
put_steps();
put_timelines();
put_flame();
put_phases();
put_rows();
put_runs();
const repaint = () => painters.forEach(paint => paint());
for (const what of ["resize", "beforeprint", "afterprint"]) window.addEventListener(what, repaint);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
repaint();
page.dataset.ready = "true";
