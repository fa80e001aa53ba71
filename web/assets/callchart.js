// The calls of an execution trace over the number of the instruction: drawn as the server has them for the pixels that there are.
import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";
import { useAnswer } from "./ask.js";
import { useKeys } from "./keys.js";
import { Canvas, colour, seriesColour, useWidth } from "./plot.js";
import { go } from "./route.js";

/** @typedef {{ depth: number, begin: number, end: number, function: number, calls: number, handler?: boolean }} Slice wire.CallSlice */

const rowHeight = 17, ruler = 16, mostRows = 9;

/** What a page of one file carries: the whole trace on so many pixels (package web/execution). */
const carriedPixels = 2048;

/** What was drawn last, for tests: a canvas cannot be asked. @type {{ slices: number, names: string[], from: number, to: number }} */
export const drawn = { slices: 0, names: [], from: 0, to: 0 };
Object.assign(globalThis, { drawnCalls: drawn });

/** A colour of a function that is the same in every trace. @param {string} name */
function colourOf(name) {
  let hash = 0;
  for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
  return seriesColour(hash % 8);
}

/** A step of a ruler: 1, 2 or 5 times a power of ten. @param {number} span @param {number} most */
function tick(span, most) {
  const least = span / Math.max(most, 1), power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return Math.max(1, [1, 2, 5, 10].map(n => n * power).find(n => n >= least) || 1);
}

/** @param {{ context: import("./execution.js").Context, reading: { done: number, least: number, depth: number }, fixed: boolean }} props */
export function CallChart({ context, reading, fixed }) {
  const { summary, at, cursor, whole, route, jump } = context;
  const [box, width] = useWidth();
  const [first, setFirst] = useState(0); // the depth of the topmost row
  const [over, setOver] = useState(/** @type {Slice | null} */ (null));
  const drag = useRef(-1);
  const total = summary.instructions;
  const cpu = route.cpu !== undefined ? Number(route.cpu) : cursor ? cursor.processor : summary.cpus[0];
  const from = Math.max(0, Math.min(Number(route.from) || 0, total - 1));
  const to = Math.max(from + 1, Math.min(route.to === undefined ? total : Number(route.to) || total, total));
  const pixels = Math.min(Math.max(Math.ceil(width * (devicePixelRatio || 1) / 64) * 64, 64), 8192);
  const asked = fixed ? { cpu, from: 0, to: total, pixels: carriedPixels } : { cpu, from, to, pixels };
  const { answer, error, waiting } = useAnswer(whole && width > 0 ? "chart" : null, asked);
  const rows = Math.max(1, Math.min(reading.depth, mostRows));
  const height = ruler + rows * rowHeight + 2;
  const x = (/** @type {number} */ n) => (n - from) / (to - from) * width;
  const instruction = (/** @type {number} */ pixel) => Math.floor(from + pixel / Math.max(width, 1) * (to - from));
  const zoom = (/** @type {number} */ low, /** @type {number} */ high) => {
    const wide = Math.max(Math.round(high - low), 8);
    const begin = Math.max(0, Math.min(Math.round(low), total - wide));
    const end = Math.min(total, begin + wide);
    go({ from: begin > 0 ? begin : "", to: end < total ? end : "" }, true);
  };
  const scale = (/** @type {number} */ by, /** @type {number} */ about) => zoom(about - (about - from) * by, about + (to - about) * by);
  const pan = (/** @type {number} */ by) => zoom(from + (to - from) * by, to + (to - from) * by);
  const about = at >= from && at < to ? at : (from + to) / 2;
  useKeys(whole ? {
    "+": { help: "zoom the calls in at the cursor", do: () => scale(0.5, about) },
    "-": { help: "zoom the calls out", do: () => scale(2, about) },
    "0": { help: "all calls", do: () => go({ from: "", to: "" }, true) },
    "<": { help: "earlier calls", do: () => pan(-0.5) },
    ">": { help: "later calls", do: () => pan(0.5) },
    "=": { help: "zoom to the call at the cursor", do: () => { const c = cursor?.calls.at(-1); if (c) zoom(c.begin, c.end); } },
  } : {});
  useEffect(() => { if (first > 0 && first > reading.depth - rows) setFirst(Math.max(reading.depth - rows, 0)); }, [reading.depth, rows]);

  const draw = (/** @type {CanvasRenderingContext2D} */ c, /** @type {number} */ w, /** @type {number} */ h) => {
    c.clearRect(0, 0, w, h);
    c.font = "11px system-ui, sans-serif";
    c.textBaseline = "middle";
    const step = tick(to - from, w / 110);
    for (let n = Math.ceil(from / step) * step; n <= to; n += step) {
      c.fillStyle = colour("line");
      c.fillRect(Math.round(x(n)), 0, 1, h);
      c.fillStyle = colour("faint");
      c.fillText(n.toLocaleString("en"), Math.round(x(n)) + 4, ruler / 2);
    }
    drawn.slices = 0;
    drawn.names = [];
    [drawn.from, drawn.to] = [from, to];
    for (const s of answer ? answer.slices : []) {
      const row = s.depth - first;
      if (row < 0 || row >= rows || s.end <= from || s.begin >= to) continue;
      const left = Math.max(x(s.begin), 0), right = Math.min(x(s.end), w), y = ruler + row * rowHeight;
      const name = s.function < 0 ? "" : answer.names[s.function];
      drawn.slices++;
      c.globalAlpha = s.function < 0 ? 0.35 : 0.85;
      c.fillStyle = s.function < 0 ? colour("faint") : colourOf(name);
      // A pixel between neighbours tells them apart, unless it would be all of them.
      c.fillRect(left, y, Math.max(right - left - (right - left > 3 ? 1 : 0), 1), rowHeight - 1);
      c.globalAlpha = 1;
      if (right - left < 24) continue;
      const label = s.function < 0 ? `${s.calls} calls` : s.handler ? "⚡" + name : name;
      drawn.names.push(label);
      c.save();
      c.beginPath();
      c.rect(left, y, right - left - 3, rowHeight);
      c.clip();
      c.fillStyle = s.function < 0 ? colour("text") : colour("onaccent");
      c.fillText(label, left + 4, y + rowHeight / 2);
      c.restore();
    }
    const here = x(at);
    if (here >= 0 && here <= w) {
      c.fillStyle = colour("bad");
      c.fillRect(Math.round(Math.min(here, w - 1)) - 0.5, 0, 2, h);
    }
  };
  const under = (/** @type {MouseEvent} */ e) => {
    const canvas = /** @type {HTMLElement} */ (e.currentTarget).getBoundingClientRect();
    const n = instruction(e.clientX - canvas.left), depth = Math.floor((e.clientY - canvas.top - ruler) / rowHeight) + first;
    const slice = answer ? answer.slices.find((/** @type {Slice} */ s) => s.depth === depth && s.begin <= n && n < s.end) : null;
    return { n: Math.max(0, Math.min(n, total)), slice: e.clientY - canvas.top > ruler ? slice : null };
  };
  const on = {
    onMouseDown: (/** @type {MouseEvent} */ e) => { drag.current = e.clientX; },
    onMouseUp: (/** @type {MouseEvent} */ e) => {
      const started = drag.current;
      drag.current = -1;
      const canvas = /** @type {HTMLElement} */ (e.currentTarget).getBoundingClientRect();
      if (started >= 0 && Math.abs(e.clientX - started) > 6) {
        const ends = [instruction(started - canvas.left), instruction(e.clientX - canvas.left)].sort((a, b) => a - b);
        zoom(ends[0], ends[1]);
      } else jump(under(e).n, true);
    },
    onDblClick: (/** @type {MouseEvent} */ e) => { const { slice } = under(e); if (slice) zoom(slice.begin, slice.end); },
    onMouseMove: (/** @type {MouseEvent} */ e) => setOver(under(e).slice || null),
    onMouseLeave: () => setOver(null),
    onWheel: (/** @type {WheelEvent} */ e) => {
      if (e.ctrlKey) { e.preventDefault(); scale(e.deltaY > 0 ? 1.25 : 0.8, under(e).n); }
      else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) { e.preventDefault(); pan((e.deltaX || e.deltaY) / 1000); }
      else if (reading.depth > rows) { e.preventDefault(); setFirst(Math.max(0, Math.min(first + Math.sign(e.deltaY), reading.depth - rows))); }
    },
  };
  const told = over && `${over.function < 0 ? over.calls + " calls" : answer.names[over.function]}: ${(over.end - over.begin).toLocaleString("en")} instructions from ${over.begin.toLocaleString("en")} on`;
  return html`<div class="callchart" ref=${box}>
    ${!whole ? html`<p class="wait">Calls are shown when the trace has been read.</p>`
      : error ? html`<p class="message error">${error}</p>`
      : html`<${Canvas} label=${`Calls from instruction ${from} to ${to}; the Functions view lists them`} height=${height} draw=${draw}
          inputs=${[answer, from, to, at, first, rows]} on=${on} />
        <div class="callchart-foot faint"><span aria-hidden="true"><bdi>${told || (cursor ? cursor.calls.map((/** @type {any} */ c) => c.function).join(" › ") : "")}</bdi></span>
          <span class="gap"></span>
          ${waiting && html`<span>…</span>`}
          ${reading.depth > rows && html`<span>depth ${first}–${first + rows - 1} of ${reading.depth}
            <button class="quiet" aria-label="Outer calls" disabled=${first === 0} onClick=${() => setFirst(Math.max(first - rows + 1, 0))}>▲</button>
            <button class="quiet" aria-label="Inner calls" disabled=${first + rows >= reading.depth} onClick=${() => setFirst(Math.min(first + rows - 1, reading.depth - rows))}>▼</button></span>`}
          ${summary.cpus.length > 1 && html`<label>cpu <select value=${String(cpu)} onChange=${(/** @type {any} */ e) => go({ cpu: e.target.value }, true)}>
            ${summary.cpus.map((/** @type {number} */ n) => html`<option key=${n} value=${String(n)}>${n}</option>`)}</select></label>`}
          ${reading.least > 0 && html`<span>without calls of fewer than ${reading.least} instructions</span>`}
          ${(from > 0 || to < total) && html`<button class="quiet" onClick=${() => go({ from: "", to: "" }, true)} title="All calls (0)">all</button>`}
        </div>`}
  </div>`;
}
