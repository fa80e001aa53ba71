// Source code with a gutter, coloured by a few lines of our own.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/htm-preact.js";

const words = new Set(("alignas alignof and asm auto bool break case catch char char8_t class co_await concept const consteval constexpr const_cast " +
  "continue default defer delete do double dyn dynamic_cast else enum explicit export extern false float fn for friend func go goto if impl import in " +
  "inline int interface let long loop match mod move mut mutable namespace new nil noexcept not nullptr operator or override package private " +
  "protected pub public range register reinterpret_cast return select self short signed sizeof static static_cast struct super switch template this " +
  "thread_local throw trait true try type typedef typename union unsafe unsigned use using var virtual void volatile where while").split(" "));

const parts = /(\/\/.*|\/\*.*?(?:\*\/|$))|("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.){1,8}'|`[^`]*`?)|(\b(?:0[xX][\da-fA-F_']+|\d[\d_.']*)\w*)|(^\s*#\s*\w+)|([A-Za-z_]\w*)/g;

/** Longer lines are shown without colours: nobody reads them, and somebody may have made them to stop the page. */
const longest = 2000;

/**
 * The parts of a line, each with a class for its colour. A comment over several lines is carried over from line to line.
 * @param {string} line
 * @param {boolean} inside a comment that began earlier
 * @returns {{ spans: [string, string][], inside: boolean }}
 */
export function colourLine(line, inside) {
  if (line.length > longest) return { spans: [["", line.slice(0, longest) + " …"]], inside };
  /** @type {[string, string][]} */
  const spans = [];
  let from = 0;
  if (inside) {
    const end = line.indexOf("*/");
    if (end < 0) return { spans: [["comment", line]], inside };
    spans.push(["comment", line.slice(0, end + 2)]);
    from = end + 2;
    inside = false;
  }
  parts.lastIndex = from;
  for (let m; (m = parts.exec(line)); from = parts.lastIndex) {
    if (m.index > from) spans.push(["", line.slice(from, m.index)]);
    const kind = m[1] ? "comment" : m[2] ? "string" : m[3] ? "number" : m[4] ? "word" : words.has(m[5]) ? "word" : "";
    spans.push([kind, m[0]]);
    inside = m[0].startsWith("/*") && !(m[0].length > 3 && m[0].endsWith("*/"));
  }
  if (from < line.length) spans.push(["", line.slice(from)]);
  return { spans, inside };
}

/** The height of a line in pixels; style.css has the same. */
const lineHeight = 19;

/**
 * Source code, of which only the lines in sight are in the document.
 * @param {object} props
 * @param {string} props.label for screen readers
 * @param {string[]} props.lines
 * @param {number} [props.first] the number of the first line, 1 without
 * @param {(line: number) => any} [props.gutter] what stands in front of a line
 * @param {(line: number) => any} [props.after] what stands behind it
 * @param {number} [props.current] a line that is brought into sight
 * @param {(line: number) => string} [props.lineClass]
 * @param {(line: number) => void} [props.onLine] a line was chosen, by a click or Enter
 */
export function Source({ label, lines, first = 1, gutter, after, current, lineClass, onLine }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [top, setTop] = useState(0);
  const [room, setRoom] = useState(600);
  // Whether a line begins within a comment, which only those before it tell.
  const within = useMemo(() => {
    let inside = false;
    return lines.map(line => {
      const before = inside;
      inside = colourLine(line, inside).inside;
      return before;
    });
  }, [lines]);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setRoom(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !current) return;
    const at = (current - first) * lineHeight;
    if (at < element.scrollTop || at + lineHeight > element.scrollTop + element.clientHeight) {
      element.scrollTop = at - element.clientHeight / 2;
    }
  }, [current, lines]);
  const low = Math.max(0, Math.floor(top / lineHeight) - 8);
  const high = Math.min(lines.length, Math.ceil((top + room) / lineHeight) + 8);
  const shown = lines.slice(low, high);
  return html`<div ref=${box} class="source" role="table" aria-label=${label} aria-rowcount=${lines.length} tabindex="0"
      onScroll=${() => box.current && setTop(box.current.scrollTop)}
      onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === "Enter" && current && onLine?.(current)}>
    <div style=${{ height: lines.length * lineHeight + "px", position: "relative", minWidth: "max-content" }}>
      <div style=${{ transform: `translateY(${low * lineHeight}px)` }}>
        ${shown.map((text, i) => {
          const line = first + low + i;
          return html`<div key=${line} role="row" aria-rowindex=${line} class=${"code " + (line === current ? "current " : "") + (lineClass?.(line) || "")}
              onClick=${onLine && (() => onLine(line))}>
            <span role="cell" class="gutter">${gutter?.(line)}</span><span role="rowheader" class="number">${line}</span><span role="cell"
              class="text">${colourLine(text, within[low + i]).spans.map(([kind, part]) => kind ? html`<span class=${kind}>${part}</span>` : part)}</span>
            ${after && html`<span role="cell" class="after">${after(line)}</span>`}
          </div>`;
        })}
      </div>
    </div>
  </div>`;
}
