// A table of any number of rows, of which only those in sight are in the document.
import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/htm-preact.js";

/**
 * @typedef {object} Column
 * @property {string} name key of the column
 * @property {string} title
 * @property {string} width as in CSS
 * @property {string} [className]
 * @property {(row: any, i: number) => any} cell
 */

/** Browsers limit how tall an element can be; a longer table scrolls by less than it moves. */
const tallest = 12e6;

/**
 * @param {object} props
 * @param {string} props.label for screen readers
 * @param {number} props.count of rows
 * @param {(i: number) => any} props.row the row, undefined if it is not there yet
 * @param {Column[]} props.columns
 * @param {number} [props.height] of a row, in pixels
 * @param {number} [props.selected] number of a row, -1 for none
 * @param {(i: number) => void} [props.onSelect] by the arrow keys or a click
 * @param {(i: number) => void} [props.onOpen] by Enter or a double click
 */
export function Table({ label, count, row, columns, height = 24, selected = -1, onSelect, onOpen }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [top, setTop] = useState(0); // in pixels of the rows
  const [room, setRoom] = useState(480);
  const total = count * height;
  const tall = Math.min(total, tallest);
  // How much the rows move for each pixel that the box scrolls.
  const ratio = total > tall ? (total - room) / Math.max(tall - room, 1) : 1;
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setRoom(Math.max(element.clientHeight - height, height)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const scrollTo = (/** @type {number} */ pixels) => {
    const bounded = Math.max(0, Math.min(pixels, total - room));
    if (box.current) box.current.scrollTop = bounded / ratio;
    setTop(bounded);
  };
  // The selected row is brought into sight, whoever has selected it, and again when what is told of it makes the table smaller.
  useLayoutEffect(() => {
    if (selected < 0 || selected >= count) return;
    const at = selected * height;
    if (at < top) scrollTo(at);
    else if (at + height > top + room) scrollTo(at + height - room);
  }, [selected, count, room]);
  useLayoutEffect(() => { if (top > Math.max(total - room, 0)) scrollTo(total); }, [total, room]);
  const move = (/** @type {number} */ to) => count > 0 && onSelect?.(Math.max(0, Math.min(to, count - 1)));
  const page = Math.max(Math.floor(room / height) - 1, 1);
  const keys = /** @type {Record<string, () => void>} */ ({
    ArrowDown: () => move(selected + 1), ArrowUp: () => move(selected - 1),
    PageDown: () => move(Math.max(selected, 0) + page), PageUp: () => move(selected - page),
    Home: () => move(0), End: () => move(count - 1), Enter: () => selected >= 0 && onOpen?.(selected),
  });
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !keys[event.key] || event.target !== box.current) return;
    event.preventDefault();
    keys[event.key]();
  };
  const onWheel = (/** @type {WheelEvent} */ event) => {
    if (ratio === 1 || event.deltaY === 0) return;
    event.preventDefault(); // else one turn of the wheel would skip rows
    scrollTo(top + event.deltaY);
  };
  const first = Math.max(0, Math.floor(top / height) - 4);
  const last = Math.min(count, Math.ceil((top + room) / height) + 4);
  const template = columns.map(column => column.width).join(" ");
  const rows = [];
  for (let i = first; i < last; i++) {
    const value = row(i);
    rows.push(html`<div key=${i} id=${label + i} class=${"tr" + (i === selected ? " selected" : "")} role="row" aria-rowindex=${i + 2}
        aria-selected=${i === selected} style=${{ gridTemplateColumns: template, height: height + "px" }}
        onClick=${() => onSelect?.(i)} onDblClick=${() => onOpen?.(i)}>
      ${columns.map(column => html`<div key=${column.name} role="gridcell" class=${"td " + (column.className || "")}>
        ${value === undefined ? "" : column.cell(value, i)}</div>`)}
    </div>`);
  }
  return html`<div ref=${box} class="table" role="grid" tabindex="0" aria-label=${label} aria-rowcount=${count + 1}
      aria-activedescendant=${selected >= first && selected < last ? label + selected : undefined}
      onKeyDown=${onKeyDown} onWheel=${onWheel} onScroll=${() => box.current && setTop(box.current.scrollTop * ratio)}>
    <div class="tr head" role="row" aria-rowindex="1" style=${{ gridTemplateColumns: template, height: height + "px" }}>
      ${columns.map(column => html`<div key=${column.name} role="columnheader" class=${"td " + (column.className || "")}
        title=${column.title}>${column.title}</div>`)}
    </div>
    <div class="rows" style=${{ height: tall + "px" }}>
      <div class="sight" style=${{ transform: `translateY(${top / ratio + first * height - top}px)` }}>${rows}</div>
    </div>
  </div>`;
}
