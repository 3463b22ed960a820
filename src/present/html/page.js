/* The page of heurt report --html. It shows what stands in the element "data" (heurt.page/1): names of
 * the trace become text nodes only, and nothing is fetched. Times are in ns since the program's start. */
(function () {
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const report = data.report, page = document.getElementById("page");

/* ---- texts and elements ---------------------------------------------------------------------- */

const obeyed = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
/* Characters that a page obeys are shown, not sent. */
const clean = text => String(text).replace(obeyed, c => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
const cut = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;
const NAME_MOST = 200;

function el(tag, members, ...inside) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(members || {}))
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== false && value != null) element.setAttribute(key, value === true ? "" : clean(value));
  for (const part of inside.flat(Infinity))
    if (part != null && part !== false)
      element.append(part instanceof Node ? part : document.createTextNode(clean(part)));
  return element;
}
/* A name of the trace: long ones are cut, and whole in the title. */
function name(text, most = NAME_MOST) {
  const whole = clean(text == null ? "" : text);
  return whole.length > most ? el("span", { title: cut(whole, 2000) }, cut(whole, most)) : whole;
}
function section(id, title, ...inside) {
  const body = el("div", { id: id + "-body" }, inside);
  page.append(el("section", { id, "aria-label": title }, el("h2", {}, title), body));
  return body;
}
function table(caption, columns, rows) {
  const cell = (tag, i, what) => el(tag, columns[i].n ? { class: "n" } : {}, what);
  return el("div", { class: "wide" }, caption && el("p", { class: "dim" }, caption), el("table", {},
    el("thead", {}, el("tr", {}, columns.map((c, i) => cell("th", i, c.title)))),
    el("tbody", {}, rows.map(row => el("tr", {}, row.map((what, i) => cell("td", i, what)))))));
}
const number = title => ({ title, n: true }), words = title => ({ title });

function duration(ns) {
  if (ns == null) return "?";
  const units = [[1e9, "s"], [1e6, "ms"], [1e3, "us"]];
  for (const [unit, text] of units)
    if (ns >= unit) {
      const value = ns / unit;
      return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2) + " " + text;
    }
  return Math.round(ns) + " ns";
}
/* When: digits enough for what is looked at closely. */
function moment(ns) {
  const [unit, text, digits] = ns >= 1e9 ? [1e9, " s", 6] : ns >= 1e6 ? [1e6, " ms", 3] : [1e3, " us", 0];
  return (ns / unit).toFixed(digits) + text;
}
/* Times at equal distances. */
function ticks_text(ticks) {
  const last = Math.abs(ticks.at(-1) || 0), [unit, text] = last >= 1e9 ? [1e9, " s"] : last >= 1e6 ? [1e6, " ms"] : [1e3, " us"];
  const digits = ticks.length > 1 ? Math.min(Math.max(Math.ceil(-Math.log10((ticks[1] - ticks[0]) / unit) - 1e-9), 0), 9) : 3;
  return ticks.map(t => (t / unit).toFixed(digits) + text);
}
/* With the ns themselves, for who wants them exactly. */
const exact = ns => el("data", { value: ns == null ? null : Math.round(ns) }, duration(ns));
const count = n => n == null ? "?" : n.toLocaleString("en-US");
const share = x => !isFinite(x) ? "?" : x > 0 && x < 0.01 ? "<1 %" : Math.round(100 * x) + " %";
const sum = list => list.reduce((a, b) => a + b, 0);
function place(at) {
  if (!at || !at.function) return "not known";
  return at.function + (at.file ? " " + at.file.replace(/.*\//, "") + (at.line ? ":" + at.line : "") : "");
}

/* ---- colours and patterns: Okabe and Ito's, which people with any sight tell apart ------------ */

const looks = {
  running: ["#009e73", "solid"], runnable: ["#f0e442", "dots"], lock: ["#d55e00", "slash"],
  condition: ["#e69f00", "backslash"], barrier: ["#cc79a7", "cross"], disk: ["#0072b2", "horizontal"],
  network: ["#56b4e9", "vertical"], message: ["#56b4e9", "slash"], page_fault: ["#0072b2", "dots"],
  sleep: ["#999999", "horizontal"], other_blocked: ["#999999", "cross"], overhead: ["#666666", "solid"],
  idle: ["#cccccc", "dots"],
};
const order = ["running", "idle", "lock", "condition", "barrier", "disk", "network", "message", "sleep",
  "page_fault", "runnable", "other_blocked", "overhead"];
const strokes = {
  slash: [[0, 8, 8, 0]], backslash: [[0, 0, 8, 8]], cross: [[0, 8, 8, 0], [0, 0, 8, 8]],
  horizontal: [[0, 2, 8, 2], [0, 6, 8, 6]], vertical: [[2, 0, 2, 8], [6, 0, 6, 8]],
};
const tiles = {};
function look(key) {
  if (tiles[key]) return tiles[key];
  const [colour, pattern] = looks[key], tile = document.createElement("canvas"), c = tile.getContext("2d");
  tile.width = tile.height = 8;
  c.fillStyle = colour;
  c.fillRect(0, 0, 8, 8);
  c.strokeStyle = c.fillStyle = "rgba(0,0,0,.45)";
  for (const [x0, y0, x1, y1] of strokes[pattern] || []) {
    c.beginPath(); c.moveTo(x0, y0); c.lineTo(x1, y1); c.stroke();
  }
  if (pattern === "dots") { c.fillRect(1, 1, 2, 2); c.fillRect(5, 5, 2, 2); }
  return tiles[key] = pattern === "solid" ? colour : c.createPattern(tile, "repeat");
}
const theme = key => getComputedStyle(document.documentElement).getPropertyValue(key).trim();

/* A canvas whose pixels are the screen's; draw(context, width, height) is called at each size. */
const painters = [];
function canvas(members, height, draw) {
  const element = el("canvas", members), pen = element.getContext("2d");
  const paint = () => {
    const width = element.clientWidth, tall = typeof height === "function" ? height() : height;
    const dense = window.devicePixelRatio || 1;
    if (!width) return;
    if (element.width !== Math.round(width * dense) || element.height !== Math.round(tall * dense)) {
      element.width = Math.round(width * dense);
      element.height = Math.round(tall * dense);
      element.style.height = tall + "px";
    }
    pen.setTransform(dense, 0, 0, dense, 0, 0);
    pen.clearRect(0, 0, width, tall);
    draw(pen, width, tall);
  };
  painters.push(paint);
  return Object.assign(element, { paint });
}
const swatch = key => canvas({ class: "swatch", "aria-hidden": "true" }, 12, (pen, width, height) => {
  pen.fillStyle = look(key);
  pen.fillRect(0, 0, width, height);
});

/* ---- the timeline's data --------------------------------------------------------------------- */

const line = data.timeline, NONE = [];
const keys = line ? line.states.map(s => s.key) : NONE;
const words_of = {};
if (line) for (const s of line.states) words_of[s.key] = s.words;
const zero = line ? line.from_ns : 0, whole = line ? line.to_ns - line.from_ns : 0;
const lanes = line ? line.lanes : NONE;
/* States come twice: off a CPU, and in such a call, but on one. */
const fold = list => keys.map((_, i) => list[i] + list[i + keys.length]);
lanes.forEach((lane, i) => Object.assign(lane, {
  state_ns: fold(lane.state_ns),
  index: i, from: Math.max(lane.from_ns - zero, 0), to: lane.to_ns - zero, decoded: [],
  label: lane.tid === lane.pid ? "main" : lane.name || "thread",
}));

/* The pieces of a lane at a level: where each begins, its state, whether it was on a CPU in it, and of a mixed
 * one the time of each. */
function pieces(lane, level) {
  if (lane.decoded[level]) return lane.decoded[level];
  const bytes = atob(lane.levels[level] || ""), starts = [], states = [], on = [], parts = [];
  let at = 0, now = lane.from;
  const next = () => {
    let value = 0, scale = 1, byte;
    do { byte = bytes.charCodeAt(at++); value += (byte & 127) * scale; scale *= 128; } while (byte > 127);
    return value;
  };
  while (at < bytes.length) {
    const first = bytes.charCodeAt(at), mixed = first >= 128, several = [];
    starts.push(now);
    at += mixed;
    for (let left = mixed ? first - 128 : 1; left > 0; left--) {
      const state = bytes.charCodeAt(at++), ns = next();
      several.push([state % keys.length, ns, state >= keys.length]);
      now += ns;
    }
    states.push(several[0][0]);
    on.push(several[0][2]);
    parts.push(mixed ? several : null);
  }
  starts.push(now);
  return lane.decoded[level] = { starts, states, on, parts };
}
/* The coarsest level that is fine enough. */
function level_for(ns) {
  for (let level = line.least_ns.length - 1; level > 0; level--)
    if (line.least_ns[level] <= ns) return level;
  return 0;
}
function first_at(starts, time) {
  let low = 0, high = starts.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[middle + 1] > time) high = middle; else low = middle + 1;
  }
  return low;
}
/* Tells each piece between two times, cut to them: take(from, to, state, its parts or null, all of its ns, on). */
function each_piece(lane, level, from, to, take) {
  const { starts, states, on, parts } = pieces(lane, level);
  for (let i = first_at(starts, from); i < states.length && starts[i] < to; i++)
    take(Math.max(starts[i], from), Math.min(starts[i + 1], to), states[i], parts[i], starts[i + 1] - starts[i], on[i]);
}
/* What the lane did between two times; of the ends of mixed pieces their part. */
function lane_times(lane, range) {
  if (!range) return lane.state_ns.slice();
  const times = new Array(keys.length).fill(0);
  each_piece(lane, 0, range[0], range[1], (from, to, state, part, ns) => {
    if (part) for (const [s, t] of part) times[s] += t * (to - from) / ns;
    else times[state] += to - from;
  });
  return times;
}

/* Waits as rows. */
const sites = new Map((line ? line.sites : NONE).map(s => [s.process + ":" + s.site, s.text]));
const objects = new Map((line ? line.objects : NONE).map(o => [o.number, o]));
const waits = line ? line.waits.ns.map((ns, i) => {
  const w = line.waits, lane = lanes[w.lane[i]], by = w.by[i] == null ? null : lanes[w.by[i]];
  return { index: i, lane, by, ns, from: w.from_ns[i] - zero, to: w.from_ns[i] - zero + ns,
    by_at: w.by_ns[i] - zero, object: objects.get(w.object[i]),
    place: sites.get(lane.process + ":" + w.site[i]) || "not known",
    by_place: by && sites.get(by.process + ":" + w.by_site[i]) || "not known" };
}) : NONE;

/* ---- what is selected ------------------------------------------------------------------------ */

const state = { view: [0, whole], range: null, threads: new Set(), wait: null, lock: 0, by: "places",
  flame: "waiting", unfolded: false };
/* Who follows what is shown, at the next frame; panels only what is selected. */
const viewers = [], panels = [];
let is_pending = false, last_selected = null;
const selected = () => JSON.stringify([state.range, [...state.threads], state.lock, state.by, state.flame]);
function follow_state() {
  is_pending = false;
  viewers.forEach(f => f());
  if (selected() !== last_selected) panels.forEach(f => f());
  last_selected = selected();
  save();
}
function changed() {
  if (!is_pending) requestAnimationFrame(follow_state);
  is_pending = true;
}
const is_selected = () => state.range !== null || state.threads.size > 0;
const has_lane = lane => !state.threads.size || state.threads.has(lane.index);
const selected_lanes = () => lanes.filter(has_lane);
/* ns of a wait that lie in the selection. */
function within(wait) {
  if (!has_lane(wait.lane)) return 0;
  if (!state.range) return wait.ns;
  return Math.max(Math.min(wait.to, state.range[1]) - Math.max(wait.from, state.range[0]), 0);
}
function select(range, threads) {
  state.range = range && range[1] > range[0] ? [Math.max(range[0], 0), Math.min(range[1], whole)] : null;
  if (threads) state.threads = threads;
  changed();
}

const span_text = range => range.map(t => (t / 1e6).toFixed(6).replace(/\.?0+$/, "")).join("-");
function span_of(text) {
  const ends = String(text).split("-").map(t => parseFloat(t) * 1e6);
  return ends.length === 2 && ends.every(isFinite) && ends[1] > ends[0] ? ends : null;
}
function save() {
  const fields = [];
  const add = (key, value) => fields.push(key + "=" + encodeURIComponent(value));
  if (state.range) add("time", span_text(state.range));
  if (state.threads.size) add("threads", [...state.threads].map(i => lanes[i].tid).join(","));
  if (state.view[0] > 0 || state.view[1] < whole) add("view", span_text(state.view));
  if (state.wait) add("wait", state.wait.index);
  if (state.lock) add("lock", state.lock + 1);
  if (state.by !== "places") add("by", state.by);
  if (state.flame !== "waiting") add("stacks", state.flame);
  if (state.unfolded) add("unfold", 1);
  const wanted = fields.length ? "#" + fields.join("&") : location.pathname + location.search;
  try { if (fields.length ? location.hash !== wanted : location.hash) history.replaceState(null, "", wanted); }
  catch (_) { /* a page that has no address */ }
}
function restore() {
  const fields = new URLSearchParams(location.hash.slice(1)), tids = (fields.get("threads") || "").split(",");
  state.range = span_of(fields.get("time"));
  state.view = clamp(span_of(fields.get("view")) || [0, whole]);
  state.threads = new Set(lanes.filter(l => tids.includes(String(l.tid))).map(l => l.index));
  state.wait = fields.get("wait") == null ? null : waits[+fields.get("wait")] || null;
  state.lock = Math.max((parseInt(fields.get("lock"), 10) || 1) - 1, 0);
  state.by = fields.get("by") === "threads" ? "threads" : "places";
  state.flame = ["working", "lost"].includes(fields.get("stacks")) ? fields.get("stacks") : "waiting";
  state.unfolded = fields.has("unfold");
  changed();
}
function clamp([from, to]) {
  const length = Math.min(Math.max(to - from, 100), whole);
  const start = Math.min(Math.max(from, 0), whole - length);
  return [start, start + length];
}

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
    body.append(table("What costs little:", [number("lost"), number("share"), words("gain"), words("what")],
      noted.map(c => {
        const f = report.findings[c.index];
        return [[doubt(f), exact(f.lost_ns)], share(f.share), c.gain, name(c.subject)];
      })));
}

/* ---- the timeline ----------------------------------------------------------------------------- */

const LABEL = 150, LANE = 24, ROWS_MOST = 300, ARROWS_MOST = 60;
let rows = [], strip = null, chart = null, status = null, cursor_row = 0, drag = null;

function make_rows() {
  const busy = lanes.filter(l => l.had_work && l.to > l.from), rest = lanes.filter(l => !busy.includes(l) && l.to > l.from);
  const single = of => of.map(l => ({ lanes: [l], label: l.label + " " + l.tid }));
  const shown = busy.slice(0, ROWS_MOST), more = busy.slice(ROWS_MOST);
  rows = single(shown);
  if (more.length) rows.push({ lanes: more, label: count(more.length) + " more threads" });
  if (state.unfolded || rest.length < 2) rows.push(...single(rest.slice(0, ROWS_MOST)));
  else rows.push(...roles(rest).slice(0, 20).map(r => ({ lanes: r, label: role_name(r) + " waited", folded: true })));
}
const row_of = lane => rows.findIndex(r => r.lanes.includes(lane));
const x_of = (time, width) => LABEL + (time - state.view[0]) / (state.view[1] - state.view[0]) * (width - LABEL);
const time_at = (x, width) => state.view[0] + (x - LABEL) / (width - LABEL) * (state.view[1] - state.view[0]);

function add_parts(times, parts, weight) {
  for (const [s, t] of parts) times.set(s, (times.get(s) || 0) + t * weight);
  return times;
}
/* What is narrower than a pixel is put together, so that every column shows all states of its time. */
function draw_lane(pen, lane, y, height, width) {
  const [from, to] = state.view, ns_a_pixel = (to - from) / (width - LABEL), column = new Map();
  let at = -1;
  const stack = (x, wide, times, all) => {
    let top = y;
    for (const key of order) {
      const tall = (times.get(keys.indexOf(key)) || 0) / all * height;
      if (!tall) continue;
      pen.fillStyle = look(key);
      pen.fillRect(x, top, wide, tall);
      top += tall;
    }
  };
  const flush = () => {
    if (column.size) stack(at, 1, column, sum([...column.values()]));
    column.clear();
  };
  each_piece(lane, level_for(ns_a_pixel), from, to, (a, b, one, part, ns) => {
    const x0 = x_of(a, width), x1 = x_of(b, width);
    if (x1 - x0 < 1) {
      if (Math.floor(x0) !== at) { flush(); at = Math.floor(x0); }
      add_parts(column, part || [[one, ns]], (b - a) / ns);
      return;
    }
    flush();
    if (part) stack(x0, x1 - x0, add_parts(new Map(), part, 1), ns);
    else { pen.fillStyle = look(keys[one]); pen.fillRect(x0, y, x1 - x0, height); }
  });
  flush();
}
function draw_arrow(pen, wait, width, strong) {
  const from = row_of(wait.lane), to = wait.by ? row_of(wait.by) : -1;
  if (from < 0 || to < 0 || from === to) return;
  const x0 = x_of(Math.min(wait.to, wait.by_at), width), y0 = from * LANE + LANE / 2;
  const x1 = x_of(wait.by_at, width), y1 = to * LANE + LANE / 2, down = Math.sign(y1 - y0);
  pen.strokeStyle = pen.fillStyle = theme("--ink");
  pen.globalAlpha = strong ? 1 : 0.45;
  pen.lineWidth = strong ? 2.5 : 1;
  pen.beginPath(); pen.moveTo(x0, y0); pen.lineTo(x1, y1 - 5 * down); pen.stroke();
  pen.beginPath(); pen.moveTo(x1, y1); pen.lineTo(x1 - 4, y1 - 7 * down); pen.lineTo(x1 + 4, y1 - 7 * down); pen.fill();
  pen.globalAlpha = 1;
}
const in_view = wait => wait.to > state.view[0] && wait.from < state.view[1];
function draw_arrows(pen, width) {
  const ns_a_pixel = (state.view[1] - state.view[0]) / (width - LABEL);
  waits.filter(w => w.by && in_view(w) && has_lane(w.lane) && w.ns > 3 * ns_a_pixel)
    .sort((a, b) => b.ns - a.ns).slice(0, ARROWS_MOST).forEach(w => draw_arrow(pen, w, width, false));
  const wait = state.wait, row = wait ? row_of(wait.lane) : -1;
  if (row < 0) return;
  pen.strokeStyle = theme("--ink");
  pen.lineWidth = 2;
  pen.strokeRect(x_of(wait.from, width), row * LANE + 1, Math.max(x_of(wait.to, width) - x_of(wait.from, width), 2), LANE - 3);
  draw_arrow(pen, wait, width, true);
}
function draw_marks(pen, width, height) {
  const range = drag && drag.range || state.range;
  if (range) {
    const [x0, x1] = range.map(t => Math.min(Math.max(x_of(t, width), LABEL), width));
    pen.fillStyle = theme("--paper");
    pen.globalAlpha = 0.6;
    pen.fillRect(LABEL, 0, x0 - LABEL, height);
    pen.fillRect(x1, 0, width - x1, height);
    pen.globalAlpha = 1;
    pen.strokeStyle = theme("--mark");
    pen.lineWidth = 1.5;
    pen.strokeRect(x0, 0.5, x1 - x0, height - 1);
  }
}
function draw_labels(pen, height) {
  pen.fillStyle = theme("--paper");
  pen.fillRect(0, 0, LABEL, height);
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  rows.forEach((row, i) => {
    const chosen = row.lanes.some(l => state.threads.has(l.index)), focused = document.activeElement === strip && i === cursor_row;
    pen.fillStyle = theme(chosen ? "--mark" : row.folded ? "--dim" : "--ink");
    pen.fillText((chosen ? "■ " : focused ? "▸ " : "") + cut(clean(row.label), 22), 0, i * LANE + LANE / 2, LABEL - 8);
  });
}
function draw(pen, width, height) {
  pen.save();
  pen.beginPath(); pen.rect(LABEL, 0, width - LABEL, height); pen.clip();
  rows.forEach((row, i) => {
    const tall = row.folded ? 6 : row.lanes[0].had_work ? LANE - 6 : 8, y = i * LANE + (LANE - tall) / 2;
    pen.globalAlpha = row.lanes.some(has_lane) ? 1 : 0.25;
    if (!row.folded && row.lanes.length === 1) draw_lane(pen, row.lanes[0], y, tall, width);
    else {
      const x0 = x_of(Math.min(...row.lanes.map(l => l.from)), width), x1 = x_of(Math.max(...row.lanes.map(l => l.to)), width);
      pen.fillStyle = look("idle");
      pen.fillRect(x0, y, x1 - x0, tall);
    }
    pen.globalAlpha = 1;
  });
  draw_arrows(pen, width);
  draw_marks(pen, width, height);
  pen.restore();
  draw_labels(pen, height);
}

/* ---- CPUs above it ---------------------------------------------------------------------------- */

function cpu_data(bins) {
  const [from, to] = state.view, wide = (to - from) / bins, level = level_for(wide);
  const used = new Array(bins).fill(0), wanted = new Array(bins).fill(0), times = [];
  const runnable = keys.indexOf("runnable"), using = [keys.indexOf("running"), keys.indexOf("page_fault")];
  const fill = (list, a, b, weight) => {
    for (let i = Math.max(Math.floor((a - from) / wide), 0); i < bins && from + i * wide < b; i++)
      list[i] += Math.max(Math.min(b, from + (i + 1) * wide) - Math.max(a, from + i * wide), 0) * weight / wide;
  };
  for (const lane of selected_lanes())
    each_piece(lane, level, from, to, (a, b, one, part, ns, on) => {
      for (const [s, t, is_on] of part || [[one, ns, on]])
        if (is_on || using.includes(s)) fill(used, a, b, t / ns); else if (s === runnable) fill(wanted, a, b, t / ns);
    });
  for (let i = 0; i < bins; i++) times.push(from + (i + 0.5) * wide);
  return [times, used, wanted.map((w, i) => w + used[i])];
}
function make_chart(host) {
  const axis = () => theme("--dim"), grid = { stroke: () => theme("--line"), width: 1 };
  const series = (label, key, fill) => ({ label, stroke: looks[key][0], width: 1.5, fill, points: { show: false },
    paths: window.uPlot.paths.stepped ? window.uPlot.paths.stepped({ align: 0 }) : undefined });
  chart = new window.uPlot({
    width: host.clientWidth || 800, height: 120, padding: [8, 0, 0, 0], legend: { show: false },
    cursor: { y: false, drag: { x: true, y: false, setScale: false } },
    scales: { x: { time: false, range: () => state.view.slice() }, y: { range: (u, low, high) => [0, Math.max(high || 0, 1) * 1.05] } },
    axes: [{ stroke: axis, grid, space: 90, values: (u, ticks) => ticks_text(ticks) },
      { stroke: axis, grid, size: LABEL - 18, space: 18, label: "CPUs", labelSize: 18,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], values: (u, ticks) => ticks.map(String) }],
    series: [{}, series("used", "running", "rgba(0,158,115,.25)"), Object.assign(series("used or wanted", "running"), { stroke: () => theme("--ink"), dash: [4, 3], width: 1 })],
    hooks: { setSelect: [u => {
      if (u.select.width > 2) select([u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")]);
      if (u.select.width) u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    }] },
  }, cpu_data(200), host);
}

/* ---- moving in it ----------------------------------------------------------------------------- */

function zoom(factor, at) {
  const [from, to] = state.view, middle = at == null ? (from + to) / 2 : at;
  state.view = clamp([middle - (middle - from) * factor, middle + (to - middle) * factor]);
  changed();
}
function pan(part) {
  const length = state.view[1] - state.view[0];
  state.view = clamp(state.view.map(t => t + part * length));
  changed();
}
function choose(wait) {
  if (!wait) return;
  state.wait = wait;
  if (!in_view(wait) || wait.ns < (state.view[1] - state.view[0]) / 500) {
    const length = Math.min(state.view[1] - state.view[0], Math.max(wait.ns * 20, 1000));
    state.view = clamp([wait.from + wait.ns / 2 - length / 2, wait.from + wait.ns / 2 + length / 2]);
  }
  changed();
}
/* Waits in the order of time, of the selected threads. */
function step(by) {
  const of = waits.filter(w => within(w) > 0), now = state.wait;
  const at = now ? of.indexOf(now) : -1;
  const near = by > 0 ? of.findIndex(w => w.from >= state.view[0]) : of.length - 1;
  choose(of[at >= 0 ? Math.min(Math.max(at + by, 0), of.length - 1) : Math.max(near, 0)]);
}
/* Whoever ended the wait was perhaps waiting itself before: the last wait of its that had ended by then. */
function follow() {
  const wait = state.wait;
  if (!wait || !wait.by) return;
  choose(waits.filter(w => w.lane === wait.by && w.to <= wait.by_at && w !== wait).sort((a, b) => b.to - a.to)[0]);
}
function toggle(row) {
  if (!row) return;
  const threads = new Set(state.threads), on = row.lanes.every(l => threads.has(l.index));
  row.lanes.forEach(l => on ? threads.delete(l.index) : threads.add(l.index));
  select(state.range, threads);
}
const actions = {
  "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => { state.view = [0, whole]; changed(); },
  ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25),
  ArrowUp: () => { cursor_row = Math.max(cursor_row - 1, 0); changed(); },
  ArrowDown: () => { cursor_row = Math.min(cursor_row + 1, rows.length - 1); changed(); },
  " ": () => toggle(rows[cursor_row]), "]": () => step(1), "[": () => step(-1), h: follow,
  Enter: () => { if (state.range) { state.view = clamp(state.range); changed(); } },
  v: () => select(state.view.slice()),
  f: () => { state.unfolded = !state.unfolded; changed(); },
  Escape: () => { state.wait = null; select(null, new Set()); },
};
function on_key(event) {
  const action = actions[event.key];
  if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  action();
}
function piece_at(row, time) {
  let found = null;
  if (row && row.lanes.length === 1)
    each_piece(row.lanes[0], 0, time, time + 1, (a, b, one, part, ns) => {
      found = found || (part ? "several states in " + duration(ns) : words_of[keys[one]] + " for " + duration(ns));
    });
  return found;
}
function wait_words(wait) {
  const object = wait.object ? wait.object.kind + " " + wait.object.name : "another thread's end or a signal";
  return [wait.lane.label + " " + wait.lane.tid + " waited " + duration(wait.ns) + " at " + moment(wait.from) + " for " +
    cut(clean(object), 120) + " in " + cut(clean(wait.place), 120) + ".",
  wait.by ? " " + wait.by.label + " " + wait.by.tid + " ended it in " + cut(clean(wait.by_place), 120) + " at " + moment(wait.by_at) + "."
    : " Who ended it is not known."].join("");
}
function on_pointer(event) {
  const box = strip.getBoundingClientRect(), x = event.clientX - box.left, width = strip.clientWidth;
  const row = rows[Math.floor((event.clientY - box.top) / LANE)], time = time_at(x, width);
  if (event.type === "pointerdown" && event.button === 0) {
    drag = { x, time, row };
    try { strip.setPointerCapture(event.pointerId); } catch (_) { /* no pointer of a device */ }
  } else if (event.type === "pointermove" && drag && drag.x >= LABEL) {
    drag.range = Math.abs(x - drag.x) > 3 ? [Math.min(time, drag.time), Math.max(time, drag.time)] : null;
    strip.paint();
  } else if (event.type === "pointermove") {
    const what = x >= LABEL ? piece_at(row, time) : null;
    status.textContent = what ? row.label + ": " + what + " at " + moment(time) : state.wait ? wait_words(state.wait) : "";
  } else if (event.type === "pointerup" && drag) {
    const { x: began, range } = drag;
    drag = null;
    if (range) select(range);
    else if (began < LABEL) toggle(row);
    else choose(waits.find(w => row && row.lanes.includes(w.lane) && w.from <= time && time < w.to));
    cursor_row = row ? rows.indexOf(row) : cursor_row;
  }
}
function on_wheel(event) {
  if (!event.ctrlKey && document.activeElement !== strip) return;
  event.preventDefault();
  if (event.shiftKey) pan(Math.sign(event.deltaY) * 0.1);
  else zoom(event.deltaY > 0 ? 1.25 : 0.8, time_at(event.clientX - strip.getBoundingClientRect().left, strip.clientWidth));
}

const KEYS = "Drag: select a time. Click a name: select a thread. Wheel, after a click: zoom. Keys: + - 0 zoom, ← → move, " +
  "↑ ↓ and space choose threads, v selects what is shown, Enter zooms to the selection, [ ] go from wait to wait, " +
  "h goes to who was waited for, f unfolds threads that waited, Esc clears.";
function put_timeline() {
  const body = section("timeline", "What threads did when");
  if (!line) {
    body.append(el("p", {}, report.aggregated
      ? "This run was recorded with --aggregate, which keeps no order of events: there is no timeline."
      : "There is no timeline: no event of any thread was recorded."));
    return;
  }
  const button = (text, title, key) => el("button", { type: "button", title, onclick: () => { actions[key](); } }, text);
  const host = el("div", { id: "cpus", role: "img", "aria-label": "CPUs used, and wanted, over time" });
  const shown = keys.filter((key, i) => lanes.some(l => l.state_ns[i] > 0));
  strip = canvas({ tabindex: 0, role: "application", "aria-label": "threads over time. " + KEYS }, () => rows.length * LANE, draw);
  status = el("p", { class: "status dim", id: "status", "aria-live": "polite" });
  body.append(el("p", { class: "dim" }, "Above: CPUs that were used (line) and used or wanted (dashed). Below: a lane a thread; what is mixed ",
    "shows each state by its part. Arrows lead from who waited to who ended the wait. Times are since the program's start."),
    el("div", { class: "legend" }, order.filter(k => shown.includes(k)).map(k => el("span", {}, swatch(k), words_of[k]))),
    host, el("div", { class: "lanes" }, strip),
    el("div", { class: "tools" }, button("whole run", "0", "0"), button("zoom in", "+", "+"), button("zoom out", "-", "-"),
      button("zoom to selection", "Enter", "Enter"), button("previous wait", "[", "["), button("next wait", "]", "]"),
      button("who was waited for", "h", "h"), button("threads that waited", "f", "f"), button("clear", "Esc", "Escape")),
    status, el("p", { class: "dim keys" }, KEYS));
  for (const type of ["pointerdown", "pointermove", "pointerup"]) strip.addEventListener(type, on_pointer);
  strip.addEventListener("pointerdown", () => strip.focus({ preventScroll: true }));
  strip.addEventListener("wheel", on_wheel, { passive: false });
  strip.addEventListener("keydown", on_key);
  for (const type of ["focus", "blur"]) strip.addEventListener(type, () => strip.paint());
  make_rows();
  if (window.uPlot) make_chart(host);
  viewers.push(() => {
    make_rows();
    strip.paint();
    if (chart) { chart.setData(cpu_data(Math.max(Math.floor(((host.clientWidth || 800) - LABEL) / 3), 50))); }
    status.textContent = state.wait ? wait_words(state.wait) : "";
    strip.dataset.view = span_text(state.view);
    strip.dataset.wait = state.wait ? state.wait.index : "";
    strip.dataset.rows = rows.length;
  });
}
function put_selection() {
  const text = el("span"), bar = el("div", { id: "selection", hidden: true, role: "status" }, text,
    el("button", { type: "button", onclick: () => select(null, new Set()) }, "clear"));
  page.append(bar);
  panels.push(() => {
    bar.hidden = !is_selected();
    text.textContent = "Selected: " + (state.range ? moment(state.range[0]) + " to " + moment(state.range[1]) : "the whole run") +
      (state.threads.size ? ", " + cut(clean(selected_lanes().map(l => l.label + " " + l.tid).join(", ")), 100) : ", all threads");
  });
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
    ? lock.kind + " made in " + place(lock.initialised) : lock.kind + " " + lock.address);
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
  panels.push(() => {
    const known = document_.locks, shown = known.slice(0, most), chosen = known[state.lock] || known[0];
    const here = lock => exact(sum(waits.filter(is_of(lock)).map(within)));
    list.replaceChildren(table(count(document_.locks_of) + " in all" + (document_.locks_of > shown.length ? ", the first " + shown.length + " by the time waited" : "") + ".",
      [words("name"), words("kind"), number("taken"), number("had to wait"), number("waited"), number("longest"), number("held")]
        .concat(is_selected() ? [number("waited in the selection")] : []),
      shown.map((lock, i) => [el("button", { type: "button", class: "plain", "aria-pressed": lock === chosen ? "true" : "false",
        onclick: () => { state.lock = i; changed(); } }, name(lock_name(lock), 80)), lock.kind + (lock.idle ? ", idle" : ""),
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
const GLOSSARY = [
  ["working", "The thread ran on a CPU."], ["waiting", "The thread was in a call that waits, and did not run."],
  ["lock", "What one thread at a time may hold: a mutex, a spin lock, a reader-writer lock."],
  ["barrier", "A place where threads wait until all of them have come."],
  ["wanted a CPU", "The thread could have run, and other threads had the CPUs."],
  ["idle", "The thread waited for work to come. That is no loss, and not counted as one."],
  ["lost", "What occurrences of the same thing took longer than the fastest one of them, or waited."],
  ["gain", "How many times as fast the run would be without the finding, from a replay of the run: at least and at most."],
  ["score", "The part of a thread's life that is lost at one place: from 0 to 1."],
  ["critical path", "The chain of work that sets how long the run takes."],
  ["holder", "Who has the lock that another thread waits for."],
  ["spinning", "Waiting by asking again and again, on a CPU."],
  ["sharing", "Two threads use one cache line, and at least one of them writes to it."],
  ["imbalance", "Some threads have more to do than others, which wait for them."],
  ["iteration", "One time through a loop of the program."],
  ["cost (of recording)", "What heurt itself took of the program's CPU time."],
  ["confidence", "How sure a figure is: measured, estimated (~) or weak (few occurrences)."],
];
function put_glossary() {
  section("glossary", "Words", el("dl", {}, GLOSSARY.map(([word, text]) => [el("dt", {}, word), el("dd", {}, text)])));
}

/* ---- all of it --------------------------------------------------------------------------------- */

put_head();
put_selection();
put_findings();
put_timeline();
put_threads();
put_locks();
put_flames();
put_iterations();
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
restore();
})();
