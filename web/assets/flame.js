// Stacks as a flame graph. Its boxes are elements, so that a screen reader and the keyboard reach each.
import { html, useRef, useState } from "./vendor/htm-preact.js";
import { useAnswer } from "./ask.js";
import { count } from "./text.js";

const rowHeight = 20;

/** Boxes that are narrower than this share of the width are left out. */
const narrowest = 0.0015;

/** The colour of a function is always the same. @param {string} name */
function hue(name) {
  let h = 0;
  for (let i = 0; i < name.length; i++) h = (h * 31 + name.charCodeAt(i)) | 0;
  return Math.abs(h) % 8;
}

/**
 * Boxes of a call and those below it.
 * @param {any} call @param {number[]} path @param {number} depth @param {number} left @param {number} width shares of the whole @param {any[]} boxes
 */
function place(call, path, depth, left, width, boxes) {
  boxes.push({ call, path, depth, left, width });
  let at = left;
  (call.calls || []).forEach((/** @type {any} */ inner, /** @type {number} */ i) => {
    const share = width * inner.count / call.count;
    if (share >= narrowest) place(inner, [...path, i], depth + 1, at, share, boxes);
    at += share;
  });
}

/** @param {{ filter: Record<string, string> }} props */
export function Flame({ filter }) {
  const { answer, error, waiting } = useAnswer("stacks", filter);
  const [zoom, setZoom] = useState(/** @type {number[]} */ ([]));
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  if (error) return html`<p class="message error">${error}</p>`;
  if (!answer) return html`<p class="wait">Unwinding stacks …</p>`;
  if (answer.stacks === 0) return html`<p class="wait">None of these frames has a stack: record --backtrace collects it.</p>`;
  let root = answer.root;
  const path = [];
  for (const i of zoom) {
    if (!root.calls?.[i]) break;
    root = root.calls[i];
    path.push(i);
  }
  /** @type {any[]} */
  const boxes = [];
  place(root, path, 0, 0, 1, boxes);
  const deepest = Math.max(...boxes.map(b => b.depth));
  const focus = (/** @type {number[]} */ to) => /** @type {HTMLElement | null} */ (box.current?.querySelector(`[data-path="${to.join()}"]`))?.focus();
  const onKeyDown = (/** @type {KeyboardEvent} */ event, /** @type {number[]} */ at) => {
    const last = at[at.length - 1];
    const moves = /** @type {Record<string, () => void>} */ ({
      ArrowDown: () => focus([...at, 0]), ArrowUp: () => focus(at.slice(0, -1)),
      ArrowRight: () => focus([...at.slice(0, -1), last + 1]), ArrowLeft: () => focus([...at.slice(0, -1), last - 1]),
      Escape: () => setZoom([]),
    });
    if (!moves[event.key]) return;
    event.preventDefault();
    moves[event.key]();
  };
  return html`<div class="flamebox">
    <p class="bar"><span class="faint" role="status">${waiting ? "…" : `${count(answer.stacks)} stacks${answer.every > 1 ? `, of every ${answer.every}th frame` : ""}${
      answer.lacking ? `; ${count(answer.lacking)} frames without one` : ""}`}</span>
      ${zoom.length > 0 && html`<button onClick=${() => setZoom([])}>Whole</button>`}</p>
    <div ref=${box} class="flame" role="tree" aria-label="Stacks of calls, the outermost at the top" style=${{ height: (deepest + 1) * rowHeight + "px" }}>
      ${boxes.map(b => {
        const share = `${count(b.call.count)} frames, ${(b.call.count / answer.stacks * 100).toPrecision(3)} %`;
        return html`<div key=${b.path.join()} role="treeitem" aria-level=${b.depth + 1} aria-label=${b.call.name + ", " + share} title=${b.call.name + "\n" + share}
          tabindex=${b.path.length === path.length ? 0 : -1} data-path=${b.path.join()} class=${"call hue" + (b.call === answer.root ? "root" : hue(b.call.name))}
          style=${{ left: b.left * 100 + "%", width: `calc(${b.width * 100}% - 1px)`, top: b.depth * rowHeight + "px" }}
          onClick=${() => setZoom(b.path)} onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === "Enter" ? setZoom(b.path) : onKeyDown(event, b.path)}>${b.call.name}</div>`;
      })}
    </div>
  </div>`;
}
