/* The page of heurt report --html, with page_timeline.js and page_panels.js: embed.sh joins them. It shows what
 * stands in the element "data" (heurt.page/1): names of the trace become text nodes only, and nothing is
 * fetched. Times are in ns since the program's start. */
const data = JSON.parse(document.getElementById("data").textContent);
const report = data.report, page = document.getElementById("page");

/* ---- texts and elements ---------------------------------------------------------------------- */

const obeyed = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const std_string = /std::(__cxx11::)?basic_string<char, std::char_traits<char>, std::allocator<char> ?>/g;
/* Characters that a page obeys are shown, not sent. */
const clean = text => String(text).replace(std_string, "std::string")
  .replace(obeyed, c => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
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
let is_pending = false, last_selected = null, saving = 0;
const selected = () => JSON.stringify([state.range, [...state.threads], state.lock, state.by, state.flame]);
function follow_state() {
  is_pending = false;
  viewers.forEach(f => f());
  if (selected() !== last_selected) panels.forEach(f => f());
  last_selected = selected();
  clearTimeout(saving);
  saving = setTimeout(save, 100);
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
/* The address follows when nothing has moved for a while: browsers allow few changes of it a second. */
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
