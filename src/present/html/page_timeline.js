/* Threads over time, CPUs above them, and what is selected there. */

/* ---- the timeline ----------------------------------------------------------------------------- */

const LABEL = 150, LANE = 24, PATTERN = 3, LABEL_MOST = 22, ROWS_MOST = 300, ARROWS_MOST = 60;
let rows = [], strip = null, chart = null, status = null, cursor_row = 0, drag = null;

function make_rows() {
  const busy = lanes.filter(l => l.had_work && l.to > l.from), rest = lanes.filter(l => !busy.includes(l) && l.to > l.from);
  const single = of => of.map(l => ({ lanes: [l], label: cut(clean(l.label), LABEL_MOST - String(l.tid).length - 1) + " " + l.tid }));
  const shown = busy.slice(0, ROWS_MOST), more = busy.slice(ROWS_MOST);
  rows = single(shown);
  if (more.length) rows.push({ lanes: more, label: count(more.length) + " more threads" });
  if (state.unfolded || rest.length < 2) rows.push(...single(rest.slice(0, ROWS_MOST)));
  else rows.push(...roles(rest).slice(0, 20).map(r => ({ lanes: r, label: role_name(r) + " waited", folded: true })));
}
const row_of = lane => rows.findIndex(r => r.lanes.includes(lane));
const x_of = (time, width) => LABEL + (time - state.view[0]) / (state.view[1] - state.view[0]) * (width - LABEL);
const time_at = (x, width) => state.view[0] + (x - LABEL) / (width - LABEL) * (state.view[1] - state.view[0]);

/* Boxes of a lane, those of a state after one another, so that few colours are set. Where a box is too narrow for
 * its pattern, its colour is enough; boxes of one state that touch are one. */
function boxes_of_states() {
  const of = keys.map(() => []);
  return {
    put(state, x, y, wide, tall) {
      const last = of[state].at(-1);
      if (last && last[1] === y && last[3] === tall && Math.abs(last[0] + last[2] - x) < 0.01) last[2] = x + wide - last[0];
      else of[state].push([x, y, wide, tall]);
    },
    fill(pen) {
      of.forEach((boxes, state) => {
        for (const narrow of [true, false]) {
          const some = boxes.filter(b => b[2] < PATTERN === narrow);
          if (!some.length) continue;
          pen.fillStyle = narrow ? looks[keys[state]][0] : look(keys[state]);
          for (const [x, y, wide, tall] of some) pen.fillRect(x, y, wide, tall);
        }
      });
    },
  };
}
/* What is narrower than a pixel is put together, so that every column shows all states of its time. */
function draw_lane(pen, lane, y, height, width) {
  const [from, to] = state.view, ns_a_pixel = (to - from) / (width - LABEL), boxes = boxes_of_states();
  const column = new Float64Array(keys.length), sorted = order.map(key => keys.indexOf(key)).filter(s => s >= 0);
  let at = -1, in_column = 0;
  const stack = (x, wide, times, all) => {
    let done = 0, top = y;
    for (const s of sorted) {
      if (!times[s]) continue;
      done += times[s];
      const bottom = y + Math.round(done / all * height);
      if (bottom > top) boxes.put(s, x, top, wide, bottom - top);
      top = bottom;
    }
  };
  const flush = () => {
    if (in_column) stack(at, 1, column, in_column);
    column.fill(0);
    in_column = 0;
  };
  const add = (part, one, ns, weight) => {
    if (part) for (const [s, t] of part) column[s] += t * weight; else column[one] += ns * weight;
    in_column += ns * weight;
  };
  each_piece(lane, level_for(ns_a_pixel), from, to, (a, b, one, part, ns) => {
    const x0 = x_of(a, width), x1 = x_of(b, width);
    if (x1 - x0 < 1) {
      if (Math.floor(x0) !== at) { flush(); at = Math.floor(x0); }
      add(part, one, ns, (b - a) / ns);
      return;
    }
    flush();
    if (part) {
      add(part, one, ns, 1);
      stack(x0, x1 - x0, column, in_column);
      column.fill(0);
      in_column = 0;
    } else boxes.put(one, x0, y, x1 - x0, height);
  });
  flush();
  boxes.fill(pen);
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
    pen.fillText((chosen ? "■ " : focused ? "▸ " : "") + cut(clean(row.label), LABEL_MOST), 0, i * LANE + LANE / 2, LABEL - 8);
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
