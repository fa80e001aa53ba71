// The timeline of a trace: how many frames there were over time, by thread or by tracepoint. Dragging over it chooses a range.
import { html, useRef, useState } from "./vendor/htm-preact.js";
import { useAnswer } from "./ask.js";
import { Canvas, colour, seriesColour, useWidth } from "./plot.js";
import { go } from "./route.js";
import { clock, count, duration, step } from "./text.js";

/** How many bins are asked for: the widths come in steps, so that a page of one file has its own. */
const widths = [240, 480, 960, 1920, 3840];

const [laneHeight, axisHeight, mostHeight] = [20, 20, 190];

/**
 * The axis of positions that is drawn, by what the route says.
 * @param {any} trace
 * @param {import("./route.js").Route} at
 */
export function axisOf(trace, at) {
  const zoomed = at.left !== undefined && at.right !== undefined;
  return { left: zoomed ? Number(at.left) : trace.first, right: zoomed ? Number(at.right) : trace.last + 1, zoomed };
}

/** A position in words. @param {any} trace @param {number} position */
export const positionText = (trace, position) => trace.timed ? "+" + duration(position - trace.first) : "frame " + count(position);

/**
 * @param {object} props
 * @param {import("./app.js").Page} props.page
 * @param {any} props.trace
 * @param {import("./route.js").Route} props.at
 * @param {Record<string, string>} props.filter
 * @param {number | undefined} props.position of the selected frame
 */
export function Timeline({ page, trace, at, filter, position }) {
  const by = at.by === "tracepoint" ? "tracepoint" : "thread";
  const [ref, width] = useWidth();
  const names = width < 600 ? 84 : 150;
  const room = Math.max(width - names - 12, 60);
  const bins = page.static ? 960 : widths.find(n => n >= room) || widths[widths.length - 1];
  const axis = axisOf(trace, at);
  const { from, to, ...wanted } = filter;
  const range = axis.zoomed ? { left: axis.left, right: axis.right } : {};
  // What is wrong with the filter is told beside it.
  const { answer } = useAnswer(width ? "timeline" : null, { ...wanted, ...range, by, bins });
  const [drag, setDrag] = useState(/** @type {[number, number] | null} */ (null));
  const [hover, setHover] = useState(-1);
  const held = useRef(false);
  const lanes = answer?.lanes || [];
  const height = axisHeight + Math.max(lanes.length, 1) * laneHeight;
  const toX = (/** @type {number} */ p) => names + (p - axis.left) / (axis.right - axis.left) * room;
  const toPosition = (/** @type {number} */ x) => Math.round(axis.left + Math.max(0, Math.min((x - names) / room, 1)) * (axis.right - axis.left));
  const place = (/** @type {PointerEvent} */ event) => event.clientX - /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect().left;
  const laneAt = (/** @type {PointerEvent} */ event) =>
    Math.floor((event.clientY - /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect().top - axisHeight) / laneHeight);
  const chosen = drag || (from !== undefined && to !== undefined ? [toX(Number(from)), toX(Number(to))] : null);
  const on = {
    onPointerDown(/** @type {PointerEvent} */ event) {
      if (place(event) < names) {
        const lane = lanes[laneAt(event)];
        if (lane && lane.key >= 0) go(by === "thread" ? { thread: at.thread === String(lane.key) ? "" : lane.key } : { tp: at.tp === String(lane.key) ? "" : lane.key });
        return;
      }
      held.current = true;
      /** @type {HTMLElement} */ (event.currentTarget).setPointerCapture(event.pointerId);
      setDrag([place(event), place(event)]);
    },
    onPointerMove(/** @type {PointerEvent} */ event) {
      setHover(place(event));
      if (held.current && drag) setDrag([drag[0], place(event)]);
    },
    onPointerLeave() { setHover(-1); },
    onPointerUp(/** @type {PointerEvent} */ event) {
      if (!held.current || !drag) return;
      held.current = false;
      const [low, high] = [Math.min(drag[0], place(event)), Math.max(drag[0], place(event))];
      setDrag(null);
      if (high - low < 3) go({ from: "", to: "" });
      else go({ from: toPosition(low), to: toPosition(high) + 1 });
    },
    onDblClick() { go({ left: "", right: "", from: "", to: "" }); },
  };
  const draw = (/** @type {CanvasRenderingContext2D} */ g) => {
    g.clearRect(0, 0, width, height);
    g.font = "11px system-ui";
    g.textBaseline = "middle";
    drawAxis(g, trace, axis, toX, height, room);
    const most = Math.max(1, ...lanes.map((/** @type {any} */ lane) => Math.max(...lane.counts)));
    lanes.forEach((/** @type {any} */ lane, /** @type {number} */ i) => {
      const y = axisHeight + i * laneHeight;
      g.fillStyle = colour("sunken");
      g.fillRect(names, y + 1, room, laneHeight - 2);
      g.fillStyle = seriesColour(by === "tracepoint" ? lane.key - 1 : i);
      // Neighbouring bins that share a pixel are drawn as the most of them, so that a single frame is never lost.
      const pixels = new Float64Array(Math.ceil(room) + 1);
      lane.counts.forEach((/** @type {number} */ n, /** @type {number} */ bin) => {
        const x = Math.floor(bin / answer.bins * room);
        pixels[x] = Math.max(pixels[x], n);
      });
      const wide = Math.max(1, Math.ceil(room / answer.bins));
      pixels.forEach((n, x) => {
        if (n === 0) return;
        const tall = Math.max(2, Math.sqrt(n / most) * (laneHeight - 3));
        g.fillRect(names + x, y + laneHeight - 1 - tall, wide, tall);
      });
      g.fillStyle = colour("text");
      g.fillText(fitted(g, lane.name, names - 14), 8, y + laneHeight / 2);
    });
    drawMarks(g, { chosen, names, width, height, room, position: position === undefined ? -1 : toX(position) });
  };
  const hoverText = hover > names ? positionText(trace, toPosition(hover)) : "";
  const rangeText = from !== undefined && to !== undefined
    ? `${positionText(trace, Number(from))} … ${positionText(trace, Number(to))} (${trace.timed ? duration(Number(to) - Number(from)) : count(Number(to) - Number(from)) + " frames"})` : "";
  return html`<section ref=${ref} class="timeline" aria-label="Timeline">
    <div class="timelinebar">
      <span role="group" aria-label="Lanes of the timeline" class="choices">
        ${["thread", "tracepoint"].map(name => html`<button key=${name} aria-pressed=${by === name} onClick=${() => go({ by: name })}>${name}s</button>`)}
      </span>
      <span class="faint clip">${hoverText || (trace.timed ? "from " + clock(trace.first) : "")}</span>
      <span class="gap"></span>
      ${rangeText && html`<span class="tag chip">${rangeText} <button class="quiet" aria-label="All times" onClick=${() => go({ from: "", to: "" })}>×</button></span>
        <button onClick=${() => go({ left: from, right: to })}>Zoom</button>`}
      ${axis.zoomed && html`<button onClick=${() => go({ left: "", right: "" })}>Whole</button>`}
    </div>
    <div class="lanes" style=${{ maxHeight: mostHeight + "px" }} tabindex="0" role="group" aria-label=${"Timeline by " + by + ". Arrow keys move the range of time, plus and minus resize it."}
        onKeyDown=${(/** @type {KeyboardEvent} */ event) => moveRange(event, axis, from, to)}>
      <${Canvas} label=${`${count(answer?.total || 0)} frames of ${lanes.map((/** @type {any} */ l) => l.name).join(", ")}`} height=${height} draw=${draw}
        inputs=${[answer, chosen && chosen.join(), position, names, at.left, at.right]} on=${on} />
    </div>
  </section>`;
}

/** Moves the chosen range by keys. @param {KeyboardEvent} event @param {any} axis @param {string | undefined} from @param {string | undefined} to */
function moveRange(event, axis, from, to) {
  const whole = axis.right - axis.left;
  let [low, high] = from !== undefined && to !== undefined ? [Number(from), Number(to)] : [axis.left + whole * .4, axis.left + whole * .6];
  const size = high - low;
  const moves = /** @type {Record<string, () => void>} */ ({
    ArrowLeft: () => { low -= size / 10; high -= size / 10; }, ArrowRight: () => { low += size / 10; high += size / 10; },
    "+": () => { low -= size / 8; high += size / 8; }, "-": () => { low += size / 8; high -= size / 8; },
  });
  if (event.key === "Escape") go({ from: "", to: "" });
  if (!moves[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  moves[event.key]();
  low = Math.max(axis.left, Math.min(low, axis.right - 1));
  go({ from: Math.floor(low), to: Math.ceil(Math.min(Math.max(high, low + 1), axis.right)) }, true);
}

/** A text that is cut to a width. @param {CanvasRenderingContext2D} g @param {string} text @param {number} width */
export function fitted(g, text, width) {
  if (g.measureText(text.slice(0, 200)).width <= width && text.length <= 200) return text;
  let [low, high] = [0, Math.min(text.length, 200)];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (g.measureText(text.slice(0, middle) + "…").width <= width) low = middle;
    else high = middle - 1;
  }
  return text.slice(0, low) + "…";
}

/** @param {CanvasRenderingContext2D} g @param {any} trace @param {any} axis @param {(p: number) => number} toX @param {number} height @param {number} room */
function drawAxis(g, trace, axis, toX, height, room) {
  const by = step(axis.right - axis.left, Math.max(room / 110, 2));
  g.strokeStyle = colour("line");
  g.fillStyle = colour("faint");
  for (let p = trace.first + Math.ceil((axis.left - trace.first) / by) * by; p < axis.right; p += by) {
    const x = Math.round(toX(p)) + .5;
    g.beginPath();
    g.moveTo(x, axisHeight - 4);
    g.lineTo(x, height);
    g.stroke();
    const text = trace.timed ? duration(p - trace.first) : count(p);
    if (x + 3 + g.measureText(text).width < toX(axis.right)) g.fillText(text, x + 3, axisHeight / 2 - 1);
  }
}

/** The chosen range, and the selected frame. @param {CanvasRenderingContext2D} g @param {any} marks */
function drawMarks(g, { chosen, names, width, height, room, position }) {
  if (chosen) {
    const [low, high] = [Math.max(Math.min(chosen[0], chosen[1]), names), Math.min(Math.max(chosen[0], chosen[1]), names + room)];
    g.fillStyle = colour("page");
    g.globalAlpha = .55;
    g.fillRect(names, axisHeight, low - names, height - axisHeight);
    g.fillRect(high, axisHeight, names + room - high, height - axisHeight);
    g.globalAlpha = 1;
    g.strokeStyle = colour("accent");
    g.strokeRect(low + .5, axisHeight + .5, Math.max(high - low - 1, 1), height - axisHeight - 1);
  }
  if (position >= names && position <= width) {
    g.strokeStyle = colour("bad");
    g.beginPath();
    g.moveTo(position, axisHeight - 6);
    g.lineTo(position, height);
    g.stroke();
  }
}
