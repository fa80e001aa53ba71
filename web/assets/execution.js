// The page of execution traces: a cursor in front of an instruction, and all that is known there. Every view asks for itself what it
// shows at the cursor, which is in the address of the page.
import { html, useEffect, useMemo, useRef, useState } from "./vendor/htm-preact.js";
import { Blocks, ask, useAnswer } from "./ask.js";
import { useKeys } from "./keys.js";
import { go, useRoute } from "./route.js";
import { Table } from "./table.js";
import { CallChart } from "./callchart.js";
import { Assembly, FileTable, FunctionTable, SourceView } from "./executed.js";
import { Accesses, Calls, Memory, Registers } from "./machine.js";

/**
 * What all views have in common.
 * @typedef {object} Context
 * @property {any} summary wire.ExecutionSummary
 * @property {number} at the position of the cursor
 * @property {any} cursor wire.CursorState there, null until it has come
 * @property {boolean} whole what is counted over the whole trace is known
 * @property {number | undefined} fresh an argument of questions whose answers have more once it is
 * @property {import("./route.js").Route} route
 * @property {(position: number, keep?: boolean) => void} jump moves the cursor; with keep the way back is kept
 * @property {(text: string, back?: boolean) => void} seek moves the cursor to where a place is executed next, or was before
 * @property {(i: number) => any} moment an instruction, undefined until it has come
 * @property {(what: string) => void} who shows who wrote a register or memory
 */

/** Rows of a block, as the server has them. */
const blockRows = 64;

/** @param {{ page: import("./app.js").Page }} props */
export function ExecutionPage({ page }) {
  const { answer, error } = useAnswer("summary");
  if (error) return html`<main><p class="message error" role="alert">${error}</p></main>`;
  if (!answer) return html`<main><p class="wait">Reading …</p></main>`;
  return html`<${Execution} page=${page} summary=${answer} />`;
}

/** How far the trace has been read for what is counted over all of it. @returns {{ done: number, error?: string, least: number, depth: number }} */
function useReading() {
  const [state, set] = useState(/** @type {{ done: number, error?: string, least: number, depth: number }} */ ({ done: 0, least: 0, depth: 0 }));
  useEffect(() => {
    let timer = 0, ended = false;
    const poll = () => ask("reading").then(answer => {
      if (ended) return;
      set(answer);
      if (answer.done < 1) timer = setTimeout(poll, 250);
    }, error => set({ done: 1, least: 0, depth: 0, error: error.message }));
    poll();
    return () => { ended = true; clearTimeout(timer); };
  }, []);
  return state;
}

const steps = /** @type {[string, string, string, string][]} */ ([
  ["finish-back", "F", "⇤", "to the call of this function"], ["next-back", "N", "↶", "back over calls"], ["step-back", "S", "←", "back an instruction"],
  ["step", "s", "→", "on an instruction"], ["next", "n", "↷", "on over calls"], ["finish", "f", "⇥", "out of this function"],
]);

const panes = /** @type {[string, string, string][]} */ ([
  ["trace", "Trace", "1"], ["source", "Source", "2"], ["assembly", "Assembly", "3"], ["functions", "Functions", "4"], ["files", "Coverage", "5"],
  ["registers", "Registers", "6"], ["memory", "Memory", "7"], ["accesses", "Who wrote", "8"], ["calls", "Calls", "9"],
]);
const codePanes = ["source", "assembly", "functions", "files"];
const statePanes = ["registers", "memory", "accesses", "calls"];

/** @param {{ page: import("./app.js").Page, summary: any }} props */
function Execution({ page, summary }) {
  const route = useRoute();
  const reading = useReading();
  const [, refresh] = useState(0);
  const [said, say] = useState(/** @type {{ text: string, bad?: boolean }} */ ({ text: "" }));
  const search = useRef(/** @type {HTMLInputElement | null} */ (null));
  const blocks = useMemo(() => new Blocks("moments", {}, blockRows, () => refresh(n => n + 1)), []);
  useEffect(() => () => blocks.close(), [blocks]);

  const at = Math.max(0, Math.min(Number(route.at) || 0, summary.instructions));
  const whole = reading.done >= 1 && !reading.error;
  const fresh = whole && !page.static ? 1 : undefined;
  const { answer, error } = useAnswer("cursor", { at, whole: fresh });
  const cursor = answer && answer.instruction === at ? answer : null;
  const code = route.code || (summary.hasLines ? "source" : "assembly"), state = route.state || "registers", pane = route.pane || "trace";

  const jump = (/** @type {number} */ position, keep = false) => {
    say({ text: "" });
    go({ at: position }, !keep);
  };
  const found = (/** @type {any} */ answer) => {
    jump(answer.instruction, true);
    if (answer.note) say({ text: answer.note });
  };
  const failed = (/** @type {Error} */ error) => say({ text: error.message, bad: true });
  // Keys repeat faster than answers come: the next step starts where the last one has led.
  const moving = useRef(Promise.resolve(at));
  const latest = useRef(at);
  latest.current = at;
  const step = (/** @type {string} */ by) => {
    // A page of one file has nobody to ask, but what the next instruction is it can tell.
    const single = { step: 1, "step-back": -1 }[by];
    if (page.static && single) {
      latest.current = Math.max(0, Math.min(latest.current + single, summary.instructions));
      jump(latest.current);
      return;
    }
    moving.current = moving.current.catch(() => 0).then(() => ask("move", { at: latest.current, by })).then(answer => {
      latest.current = answer.instruction;
      jump(answer.instruction);
      if (answer.note) say({ text: answer.note });
      return answer.instruction;
    });
    moving.current.catch(failed);
  };
  const seek = (/** @type {string} */ text, back = false) => { ask("position", { at, text, back }).then(found, failed); };
  const show = (/** @type {string} */ name) => go({ pane: name, ...codePanes.includes(name) && { code: name }, ...statePanes.includes(name) && { state: name } }, true);
  const context = /** @type {Context} */ ({
    summary, at, cursor, whole, fresh, route, jump, seek, moment: i => blocks.row(i),
    who: what => go({ object: what, state: "accesses", pane: "accesses" }),
  });
  useKeys({
    "/": { help: "go to an instruction, a :line, an @time, an address or a function", do: () => { search.current?.focus(); search.current?.select(); } },
    ...Object.fromEntries(steps.map(([by, key, , help]) => [key, { help, do: () => step(by) }])),
    "j": { help: "next row of the trace", do: () => jump(Math.min(at + 1, summary.instructions)) },
    "k": { help: "row of the trace before", do: () => jump(Math.max(at - 1, 0)) },
    "*": { help: "next execution of this instruction", do: () => cursor?.pc && seek(cursor.pc) },
    "#": { help: "execution of this instruction before", do: () => cursor?.pc && seek(cursor.pc, true) },
    "w": { help: "who wrote what this instruction has written", do: () => who(blocks.row(at), context) },
    ...Object.fromEntries(panes.map(([name, title, key]) => [key, { help: title.toLowerCase(), do: () => show(name) }])),
  });
  // On a narrow page the tab of the view is brought into sight: there are more than fit.
  const root = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => { root.current?.querySelector('.narrow [aria-selected="true"]')?.scrollIntoView({ block: "nearest", inline: "nearest" }); }, [pane]);
  const tabs = (/** @type {string[]} */ names, /** @type {string} */ chosen, /** @type {string} */ label, /** @type {string} */ className) =>
    html`<div role="tablist" aria-label=${label} class=${className}>${panes.filter(([name]) => names.includes(name)).map(([name, title]) =>
      html`<button key=${name} role="tab" aria-selected=${name === chosen} onClick=${() => show(name)}>${title}</button>`)}</div>`;
  const place = cursor && (cursor.symbol || cursor.pc || "the end of the trace");
  return html`<main ref=${root} class="executions execution" data-pane=${pane}>
    <div class="bar">
      <form onSubmit=${(/** @type {Event} */ e) => { e.preventDefault(); const text = search.current?.value.trim(); if (text) seek(text); search.current?.blur(); }}>
        <input ref=${search} type="search" placeholder="Go to … (/)" aria-label="Go to an instruction, a :line, an @time, an address or a function"
          onKeyDown=${(/** @type {KeyboardEvent} */ e) => { const text = search.current?.value.trim(); if (e.key === "Enter" && e.shiftKey && text) { e.preventDefault(); seek(text, true); } }} />
      </form>
      <div class="steps" role="toolbar" aria-label="Steps">${steps.map(([by, key, sign, help]) => html`<button key=${by} onClick=${() => step(by)}
        title=${`${help} (${key})`} aria-label=${help}>${sign}</button>`)}</div>
      <p class="where mono" aria-live="polite">${at.toLocaleString("en")}<span class="faint"> / ${summary.instructions.toLocaleString("en")}</span>${" "}
        <bdi>${place}</bdi></p>
      ${reading.done < 1 && html`<span class="tag">reading ${Math.floor(reading.done * 100)} %</span>`}
    </div>
    ${(said.text || error) && html`<p class=${"message" + (said.bad || error ? " error" : "")} role="status">${said.text || error}</p>`}
    ${summary.notes.map((/** @type {string} */ note) => html`<p class="message warn" key=${note}><bdi>${note}</bdi></p>`)}
    ${reading.error && html`<p class="message error" role="alert">${reading.error}</p>`}
    <${CallChart} context=${context} reading=${reading} fixed=${page.static} />
    <div class="views">
      ${tabs(panes.map(([name]) => name), pane, "Views", "narrow")}
      <section class="pane" data-name="trace" aria-label="Trace"><${Trace} context=${context} /></section>
      <section class="pane" data-name="code" aria-label="Code">
        ${tabs(codePanes, code, "Code", "wide")}
        ${code === "source" ? html`<${SourceView} context=${context} />` : code === "assembly" ? html`<${Assembly} context=${context} />`
          : code === "functions" ? html`<${FunctionTable} context=${context} />` : html`<${FileTable} context=${context} />`}
      </section>
      <section class="pane" data-name="state" aria-label="State">
        ${tabs(statePanes, state, "State", "wide")}
        ${state === "registers" ? html`<${Registers} context=${context} />` : state === "memory" ? html`<${Memory} context=${context} />`
          : state === "accesses" ? html`<${Accesses} context=${context} />` : html`<${Calls} context=${context} />`}
      </section>
    </div>
  </main>`;
}

/** Asks about the first thing that an instruction writes. @param {any} moment @param {Context} context */
function who(moment, context) {
  const effect = moment?.effects.find((/** @type {any} */ e) => e.kind === "register" || e.kind === "write");
  if (effect) context.who(effect.register || `${effect.address},${effect.size}`);
}

/** An effect in a few characters. @param {any} e wire.Effect */
function effectText(e) {
  if (e.kind === "event") return `${e.event} ${e.cause || ""}`;
  const where = e.register || `[${e.address}]`;
  if (e.kind === "register-read" || e.kind === "read") return `${where} → ${e.value || "?"}`;
  return `${where} ← ${e.value || "?"}`;
}

/** Whether the page shows one view at a time, as on a phone: the width of executions.css. */
function useNarrow() {
  const query = useMemo(() => matchMedia("(max-width: 760px)"), []);
  const [narrow, set] = useState(query.matches);
  useEffect(() => {
    const changed = () => set(query.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, [query]);
  return narrow;
}

/** How wide a column of addresses is: as that at the cursor, and a little more where addresses have 64 bits. @param {any} cursor */
function addressWidth(cursor) { return !cursor?.pc || cursor.pc.length <= 10 ? "8ch" : `${cursor.pc.length}ch`; }

/** The instructions of the trace, of which the last row is its end. @param {{ context: Context }} props */
function Trace({ context }) {
  const { summary, at, cursor, jump, moment } = context;
  const timed = summary.lastTime !== null, several = summary.cpus.length > 1, named = Boolean(summary.program);
  const end = { end: true };
  const row = (/** @type {number} */ i) => i >= summary.instructions ? end : moment(i);
  const digits = String(summary.instructions).length;
  const narrow = useNarrow();
  const columns = [
    { name: "number", title: "#", width: `${Math.max(digits, 3)}ch`, className: "right faint", cell: (/** @type {any} */ m, /** @type {number} */ i) => i },
    ...several ? [{ name: "cpu", title: "cpu", width: "3ch", className: "right", cell: (/** @type {any} */ m) => m.cpu }] : [],
    ...timed && !narrow ? [{ name: "time", title: "time", width: `${Math.max(String(summary.lastTime).length, 4)}ch`, className: "right faint", cell: (/** @type {any} */ m) => m.time }] : [],
    { name: "pc", title: "pc", width: addressWidth(cursor), cell: (/** @type {any} */ m) => m.end ? html`<span class="faint">end</span>` : m.pc.slice(2) },
    ...named && !narrow ? [{ name: "symbol", title: "symbol", width: "14ch", cell: (/** @type {any} */ m) => html`<bdi title=${m.symbol}>${m.symbol}</bdi>` }] : [],
    { name: "text", title: "instruction", width: "minmax(20ch, 1fr)", cell: (/** @type {any} */ m) => html`<bdi>${m.end ? "" : m.disassembly || m.opcode}</bdi>${m.trapped && html`<span class="bad"> trapped</span>`}${m.skipped && html`<span class="faint"> skipped</span>`}` },
    { name: "effects", title: "effects", width: "minmax(24ch, 1.4fr)", cell: (/** @type {any} */ m) => m.end ? "" : html`<bdi>${m.effects.map(effectText).join("  ")}</bdi>` },
  ];
  return html`<${Table} label="trace" count=${summary.instructions + 1} row=${row} columns=${columns} height=${22} selected=${at}
    onSelect=${(/** @type {number} */ i) => jump(i)} />`;
}
