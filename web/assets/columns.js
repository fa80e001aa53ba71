// Which of the collected values have a column in the table of frames.
import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";
import { go, joined, parted } from "./route.js";
import { plural } from "./text.js";

/** How many columns are offered at once; the others are found by their names. */
const mostOffered = 300;

/** The chosen columns that the trace has, in the order in which they were chosen. @param {any} trace @param {import("./route.js").Route} at */
export const chosenColumns = (trace, at) => [...new Set(parted(at.columns))].filter(name => trace.columns.includes(name));

/**
 * A dialog in which columns are chosen. Arrows move between them, Space chooses, Escape closes.
 * @param {{ trace: any, at: import("./route.js").Route, close: () => void }} props
 */
export function ColumnChooser({ trace, at, close }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [find, setFind] = useState("");
  useEffect(() => dialog.current?.showModal(), []);
  const chosen = chosenColumns(trace, at);
  const names = trace.columns.filter((/** @type {string} */ name) => name.toLowerCase().includes(find.toLowerCase()));
  const offered = names.slice(0, mostOffered);
  const toggle = (/** @type {string} */ name) =>
    go({ columns: joined(chosen.includes(name) ? chosen.filter(other => other !== name) : [...chosen, name]) }, true);
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    event.stopPropagation(); // the keys of the page do nothing here
    const by = /** @type {Record<string, number>} */ ({ ArrowDown: 1, ArrowUp: -1 })[event.key];
    if (!by) return;
    event.preventDefault();
    const fields = [...(dialog.current?.querySelectorAll("input") || [])];
    fields[fields.indexOf(/** @type {HTMLInputElement} */ (document.activeElement)) + by]?.focus();
  };
  return html`<dialog ref=${dialog} class="help columns" onClose=${close} onKeyDown=${onKeyDown} aria-label="Columns of the table">
    <h2>Columns</h2>
    <input type="search" value=${find} onInput=${(/** @type {any} */ event) => setFind(event.target.value)} placeholder="Find a value"
      aria-label="Find a value" spellcheck="false" autofocus />
    <ul>${offered.map((/** @type {string} */ name) => html`<li key=${name}><label>
      <input type="checkbox" checked=${chosen.includes(name)} onChange=${() => toggle(name)} /><bdi class="mono">${name}</bdi></label></li>`)}</ul>
    ${names.length === 0 && html`<p class="faint">No tracepoint collects it.</p>`}
    ${names.length > offered.length && html`<p class="faint">${plural(names.length - offered.length, "other")}: find them by name.</p>`}
    <form method="dialog"><button>Close</button> <button type="button" disabled=${chosen.length === 0} onClick=${() => go({ columns: "" }, true)}>None</button></form>
  </dialog>`;
}
