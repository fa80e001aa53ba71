// Plots of what was collected.
import { html, useEffect, useState } from "./vendor/htm-preact.js";
import { useAnswer } from "./ask.js";
import { axis, Canvas, colour, Plot, seriesColour } from "./plot.js";
import { go } from "./route.js";
import { count, duration, number } from "./text.js";
import { axisOf } from "./timeline.js";

const kinds = [["line", "Line"], ["points", "Points"], ["histogram", "Histogram"], ["heat", "Heat map"]];

/**
 * @param {object} props
 * @param {import("./app.js").Page} props.page
 * @param {any} props.trace
 * @param {import("./route.js").Route} props.at
 * @param {Record<string, string>} props.filter
 */
export function Values({ page, trace, at, filter }) {
  const y = at.y || trace.numbers[0] || "";
  const kind = at.kind || "line";
  const x = at.x || "";
  const [typed, setTyped] = useState(y);
  const [typedX, setTypedX] = useState(x);
  useEffect(() => setTyped(y), [y]);
  useEffect(() => setTypedX(x), [x]);
  const around = axisOf(trace, at);
  const range = filter.from !== undefined ? { left: filter.from, right: filter.to } : around.zoomed ? { left: around.left, right: around.right } : {};
  const { answer, error, waiting } = useAnswer(y ? "plot" : null, { ...filter, ...range, y, x, kind, bins: 960 });
  if (!y) return html`<p class="wait">No tracepoint collects a number.</p>`;
  const enter = (/** @type {any} */ event) => { event.preventDefault(); go({ y: typed, x: typedX }); };
  return html`<div class="values">
    <form class="bar" onSubmit=${enter}>
      <label>Value <input list="numbers" value=${typed} onInput=${(/** @type {any} */ e) => setTyped(e.target.value)} onChange=${enter} spellcheck="false" /></label>
      <label>over <input list="numbers" value=${typedX} placeholder=${trace.timed ? "time" : "frames"} onInput=${(/** @type {any} */ e) => setTypedX(e.target.value)}
        onChange=${enter} spellcheck="false" /></label>
      <datalist id="numbers">${trace.numbers.map((/** @type {string} */ name) => html`<option key=${name} value=${name} />`)}</datalist>
      <span role="group" aria-label="Kind of plot" class="choices">${kinds.map(([name, text]) =>
        html`<button type="button" key=${name} aria-pressed=${kind === name} onClick=${() => go({ kind: name })}>${text}</button>`)}</span>
      <span class="faint" role="status">${waiting ? "…" : answer ? summary(answer) : ""}</span>
    </form>
    ${error ? html`<p class="message error">${error}</p>` : answer && html`<${Drawn} answer=${answer} trace=${trace} x=${x} y=${y} />`}
  </div>`;
}

/** @param {any} answer */
function summary(answer) {
  const s = answer.summary;
  const lacking = answer.lacking ? `, ${count(answer.lacking)} frames without` : "";
  if (!s) return "no values" + lacking;
  const about = s.exact ? "" : ", within 1 %";
  return `${count(answer.count)} values from ${s.min} to ${s.max}, median ${s.median}, 99 % up to ${s.p99}${about}${lacking}`;
}

/** @param {{ answer: any, trace: any, x: string, y: string }} props */
function Drawn({ answer, trace, x, y }) {
  const height = Math.max(240, Math.min(innerHeight - 420, 900));
  if (answer.count === 0) return html`<p class="wait">No frame has it.</p>`;
  if (answer.kind === "bins") return html`<${Histogram} bins=${answer.bins} label=${y} />`;
  const over = !x && trace.timed;
  const origin = over ? trace.first : 0;
  const label = `${y} over ${x || (trace.timed ? "time" : "frames")}: ${summary(answer)}`;
  const names = new Map((answer.names || []).map((/** @type {any} */ n) => [n.value, n.name]));
  const xText = (/** @type {number} */ v) => over ? duration(v) : count(v);
  const yText = (/** @type {number} */ v) => names.get(v) || (answer.integers && !Number.isInteger(v) ? "" : number(v));
  if (answer.kind === "grid") return html`<${Heat} answer=${answer} label=${label} height=${height} xText=${(/** @type {number} */ v) => xText(v - origin)} yText=${yText} />`;
  const xs = answer.x.map((/** @type {number} */ v) => v - origin);
  // uPlot wants x to ascend, which it does not where one value is drawn over another, or frames are not in the order of time.
  const order = xs.map((/** @type {number} */ _, /** @type {number} */ i) => i).sort((/** @type {number} */ a, /** @type {number} */ b) => xs[a] - xs[b]);
  const pick = (/** @type {any[]} */ list) => order.map((/** @type {number} */ i) => list[i]);
  const bands = answer.kind === "bands";
  const data = bands ? [pick(xs), pick(answer.low), pick(answer.high), pick(answer.y)] : [pick(xs), pick(answer.y)];
  const options = () => ({
    legend: { show: false },
    cursor: { points: { size: 7 } },
    scales: { x: { time: false, range: over ? () => [answer.xRange[0] - origin, answer.xRange[1] - origin] : undefined } },
    axes: [
      { ...axis(), values: (/** @type {any} */ _, /** @type {number[]} */ splits) => splits.map(xText) },
      { ...axis(), size: (/** @type {any} */ _, /** @type {string[] | null} */ texts) => 20 + 6.6 * Math.max(3, ...(texts || []).map(t => t?.length || 0)), values: (/** @type {any} */ _, /** @type {number[]} */ splits) => splits.map(yText) },
    ],
    // The extremes are drawn below as bars, which a bin without neighbours has, too; they are series for the range of y.
    series: bands ? [{}, unseen, unseen, { stroke: seriesColour(0), width: 1.5, points: { show: true, size: 3, fill: seriesColour(0) } }]
      : [{}, { stroke: seriesColour(0), width: x ? 0 : 1, paths: x ? () => null : undefined, points: { show: true, size: 4, fill: seriesColour(0) } }],
    hooks: { drawAxes: [(/** @type {any} */ plot) => bands && drawExtremes(plot)], ready: [(/** @type {any} */ plot) => plot.over.addEventListener("click", () => {
      const i = plot.cursor.idx;
      if (!bands && i !== null && i !== undefined) go({ frame: answer.frames[order[i]], view: "" });
    })] },
  });
  return html`<${Plot} label=${label} height=${height} data=${data} options=${options} shape=${[answer.kind, x, y, answer.integers, answer.xRange].join("|")} />
    <p class="faint hint">${bands ? "The line is the mean; the band reaches from the least to the greatest value." : "A click on a point shows its frame."}</p>`;
}

/** A series that is not drawn. */
const unseen = { paths: () => null, points: { show: false } };

/** Draws the least to the greatest value of each bin. @param {any} plot */
function drawExtremes(plot) {
  const [xs, low, high] = plot.data;
  const g = /** @type {CanvasRenderingContext2D} */ (plot.ctx);
  g.save();
  g.fillStyle = seriesColour(0);
  g.globalAlpha = .3;
  const wide = Math.max(1, plot.bbox.width / xs.length);
  for (let i = 0; i < xs.length; i++) {
    if (low[i] === null) continue;
    const top = plot.valToPos(high[i], "y", true);
    g.fillRect(plot.valToPos(xs[i], "x", true) - wide / 2, top, wide, Math.max(1, plot.valToPos(low[i], "y", true) - top));
  }
  g.restore();
}

/** Bars with their numbers, which need no drawing. @param {{ bins: any[], label: string }} props */
function Histogram({ bins, label }) {
  const most = Math.max(...bins.map(bin => bin.count));
  return html`<table class="bars" aria-label=${"Histogram of " + label}><tbody>${bins.map(bin => html`<tr key=${bin.low}>
    <th scope="row">${bin.low === bin.high ? bin.low : bin.low + " … " + bin.high}</th><td class="number">${count(bin.count)}</td>
    <td class="bar"><div style=${{ width: bin.count / most * 100 + "%" }}></div></td></tr>`)}</tbody></table>`;
}

/**
 * A picture with a pixel for each cell, the more opaque the more there is: drawn as rectangles the cells would take longer than a user
 * should wait. @param {number[][]} grid @param {string} ink
 */
function picture(grid, ink) {
  const canvas = document.createElement("canvas");
  const [rows, columns] = [grid.length, grid[0].length];
  [canvas.width, canvas.height] = [columns, rows];
  const g = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const most = Math.max(...grid.map(row => Math.max(...row)));
  const opacity = g.createImageData(columns, rows);
  grid.forEach((row, r) => row.forEach((n, c) => {
    if (n > 0) opacity.data[((rows - 1 - r) * columns + c) * 4 + 3] = 255 * (.12 + .88 * Math.log1p(n) / Math.log1p(most));
  }));
  g.putImageData(opacity, 0, 0);
  g.globalCompositeOperation = "source-in";
  g.fillStyle = ink;
  g.fillRect(0, 0, columns, rows);
  return canvas;
}

/** @param {{ answer: any, label: string, height: number, xText: (v: number) => string, yText: (v: number) => string }} props */
function Heat({ answer, label, height, xText, yText }) {
  const [left, bottom] = [78, 24];
  const draw = (/** @type {CanvasRenderingContext2D} */ g, /** @type {number} */ width) => {
    const [w, h] = [width - left - 8, height - bottom - 8];
    g.fillStyle = colour("sunken");
    g.fillRect(left, 8, w, h);
    g.imageSmoothingEnabled = false;
    g.drawImage(picture(answer.grid, seriesColour(0)), left, 8, w, h);
    g.fillStyle = colour("faint");
    g.font = "11px system-ui";
    const [x0, x1] = answer.xRange, [y0, y1] = answer.yRange;
    g.textAlign = "right";
    g.fillText(yText(y1), left - 6, 16);
    g.fillText(yText(y0), left - 6, 8 + h);
    g.fillText(xText(x1), width - 8, height - 6);
    g.textAlign = "left";
    g.fillText(xText(x0), left, height - 6);
  };
  return html`<${Canvas} label=${label} height=${height} draw=${draw} inputs=${[answer]} />
    <p class="faint hint">The darker a cell, the more frames, by the logarithm of their number.</p>`;
}
