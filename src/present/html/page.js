/* The page of heurt report --html, with page_base.js, page_timeline.js and page_panels.js: embed.sh joins them.
 * Its data is heurt.page/1. Times are in ns since the program's start. */
const report = data.report;

/* ---- the timeline's data --------------------------------------------------------------------- */

const line = data.timeline, NONE = [];
const keys = line ? line.states.map(s => s.key) : NONE;
const words_of = {};
if (line) for (const s of line.states) words_of[s.key] = s.words;
const zero = line ? line.from_ns : 0, whole = line ? line.to_ns - line.from_ns : 0;
const lanes = line ? line.lanes : NONE;
const fold = list => keys.map((_, i) => list[i] + list[i + keys.length]);
lanes.forEach((lane, i) => Object.assign(lane, {
  state_ns: fold(lane.state_ns),
  index: i, from: Math.max(lane.from_ns - zero, 0), to: lane.to_ns - zero, decoded: [],
  label: lane.tid === lane.pid ? "main" : lane.name || "thread",
}));

const pieces = (lane, level) => lane.decoded[level] = lane.decoded[level] || decoded(lane.levels[level], lane.from, keys.length);
/* The coarsest level that is fine enough. */
function level_for(ns) {
  for (let level = line.least_ns.length - 1; level > 0; level--)
    if (line.least_ns[level] <= ns) return level;
  return 0;
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
