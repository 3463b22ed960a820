/* What pages have in common: embed.sh puts it in front of their own code. They show what stands in the element
 * "data": names of the trace become text nodes only, and nothing is fetched. */
const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");

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
/* Names in a picture (SVG) were escaped where it was made; nothing in it runs. */
function picture_of(text) {
  const picture = text ? new DOMParser().parseFromString(text, "image/svg+xml").documentElement : null;
  return picture && picture.nodeName === "svg"
    ? el("div", { class: "wide picture" }, document.importNode(picture, true)) : null;
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

/* ---- timelines -------------------------------------------------------------------------------- */

/* The pieces of a lane at a level: where each begins, its state, whether it was on a CPU in it, and of a mixed
 * one the time of each. States come twice: off a CPU, and in such a call, but on one. */
function decoded(level, from, states_of) {
  const bytes = atob(level || ""), starts = [], states = [], on = [], parts = [];
  let at = 0, now = from;
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
      several.push([state % states_of, ns, state >= states_of]);
      now += ns;
    }
    states.push(several[0][0]);
    on.push(several[0][2]);
    parts.push(mixed ? several : null);
  }
  starts.push(now);
  return { starts, states, on, parts };
}
function first_at(starts, time) {
  let low = 0, high = starts.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[middle + 1] > time) high = middle; else low = middle + 1;
  }
  return low;
}

