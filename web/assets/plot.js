// Plots: uPlot in the colours of the page, and what canvases of our own need.
import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";

/** The colour that style.css has by a name. @param {string} name */
export function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim(); }

/** The colours of series, which style.css chooses so that they differ for colour-blind people, too. @param {number} i */
export function seriesColour(i) { return colour("series" + (i % 8)); }

/** The width of an element in pixels, also when it has changed. @returns {[any, number]} a ref for the element, and its width */
export function useWidth() {
  const ref = useRef(/** @type {HTMLElement | null} */ (null));
  const [width, set] = useState(0);
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(() => set(Math.floor(element.clientWidth)));
    observer.observe(element);
    set(Math.floor(element.clientWidth));
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}

/** A number that differs when the colours have changed. */
export function useTheme() {
  const [n, set] = useState(0);
  useEffect(() => {
    const changed = () => set(old => old + 1);
    addEventListener("theme", changed);
    return () => removeEventListener("theme", changed);
  }, []);
  return n;
}

/** The axes of every plot. @returns {any} */
export function axis() {
  return { stroke: colour("faint"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 }, font: "11px system-ui" };
}

/**
 * A plot by uPlot.
 * @param {object} props
 * @param {string} props.label what it shows, for screen readers
 * @param {number} props.height
 * @param {any} props.data as uPlot has it
 * @param {(width: number) => any} props.options of uPlot, without width and height
 * @param {string} props.shape what the options depend on: another one makes the plot anew
 */
export function Plot({ label, height, data, options, shape }) {
  const [ref, width] = useWidth();
  const theme = useTheme();
  const plot = useRef(/** @type {any} */ (null));
  useEffect(() => {
    if (!ref.current || width === 0) return;
    const made = new uPlot({ ...options(width), width, height }, data, ref.current);
    plot.current = made;
    return () => { made.destroy(); plot.current = null; };
  }, [width, height, theme, shape]);
  useEffect(() => { plot.current?.setData(data); }, [data]);
  return html`<div ref=${ref} class="plot" role="img" aria-label=${label} style=${{ minHeight: height + "px" }}></div>`;
}

/**
 * A canvas that a function draws on, in CSS pixels.
 * @param {object} props
 * @param {string} props.label
 * @param {number} props.height
 * @param {(context: CanvasRenderingContext2D, width: number, height: number) => void} props.draw
 * @param {any[]} props.inputs what the drawing depends on
 * @param {Record<string, any>} [props.on] handlers of events
 */
export function Canvas({ label, height, draw, inputs, on }) {
  const [ref, width] = useWidth();
  const theme = useTheme();
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context || width === 0) return;
    const scale = devicePixelRatio || 1;
    element.width = width * scale;
    element.height = height * scale;
    context.scale(scale, scale);
    draw(context, width, height);
  }, [width, height, theme, ...inputs]);
  return html`<div ref=${ref} class="canvas" style=${{ height: height + "px" }}>
    <canvas ref=${canvas} role="img" aria-label=${label} style=${{ width: "100%", height: height + "px" }} ...${on || {}}></canvas>
  </div>`;
}
