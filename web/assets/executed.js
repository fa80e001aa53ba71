// Code beside an execution trace: source, assembly, functions, and what of them was executed.
import { html, useMemo, useState } from "./vendor/htm-preact.js";
import { useAnswer } from "./ask.js";
import { go } from "./route.js";
import { Source } from "./source.js";
import { Table } from "./table.js";

/** @typedef {import("./execution.js").Context} Context */

/** A count in few characters. @param {number} n */
export function short(n) {
  for (const [unit, size] of /** @type {[string, number][]} */ ([["G", 1e9], ["M", 1e6], ["k", 1e4]])) {
    if (n >= size) return (n / (unit === "k" ? 1e3 : size)).toPrecision(3) + unit;
  }
  return String(n);
}

/** The source at the cursor, or the file that was chosen. @param {{ context: Context }} props */
export function SourceView({ context }) {
  const { cursor, route, summary, whole, seek } = context;
  const chosen = route.file === undefined ? undefined : Number(route.file);
  const here = cursor && cursor.source;
  // Code without lines, as of a library, leaves the last file in sight.
  const [last, setLast] = useState(/** @type {number | undefined} */ (undefined));
  const file = chosen !== undefined ? chosen : here ? here.source : last;
  if (here && here.source !== last && chosen === undefined) setLast(here.source);
  const source = useAnswer(file === undefined ? null : "source", { file });
  const counts = useAnswer(file !== undefined && whole ? "lines" : null, { file });
  const byLine = useMemo(() => new Map((counts.answer ? counts.answer.lines : []).map((/** @type {any} */ l) => [l.line, l])), [counts.answer]);
  // A copy is another list, so that the current line is brought into sight again when the chart of calls has taken its room.
  const lines = useMemo(() => [...source.answer?.lines || []], [source.answer, whole]);
  if (!summary.program) return html`<p class="wait">A program (--exec) tells functions, lines and source.</p>`;
  if (!summary.hasLines) return html`<p class="wait">The program has no lines: compile it with -g.</p>`;
  const shown = source.answer && source.answer.file === file ? source.answer : null;
  if (file === undefined) return html`<p class="wait">${cursor ? "No line of the source is known here." : "Reading …"}</p>`;
  if (!shown) return html`<p class=${source.error ? "message error" : "wait"}>${source.error || "Reading …"}</p>`;
  const name = shown.name.split(/[\\/]/).pop();
  return html`<div class="code-at"><span class="mono"><bdi title=${shown.name}>${name}</bdi></span><span class="gap"></span>
      ${chosen !== undefined && html`<button class="quiet" onClick=${() => go({ file: "", line: "" }, true)}>at the cursor</button>`}</div>
    ${shown.error ? html`<p class="message warn">${shown.error}</p>` : html`<${Source} label="Source" lines=${lines}
      current=${here && here.source === file ? here.line : Number(route.line) || undefined}
      gutter=${(/** @type {number} */ n) => { const l = byLine.get(n); return l && html`<span title=${covered(l)}>${l.branches.all > l.branches.executed && l.count ? "◐ " : ""}${short(l.count)}</span>`; }}
      lineClass=${(/** @type {number} */ n) => { const l = byLine.get(n); return l ? l.count ? "executed" : "missed" : ""; }}
      onLine=${(/** @type {number} */ n) => byLine.get(n)?.count && seek(`${name}:${n}`)} />`}`;
}

/** @param {any} l wire.LineCount */
function covered(l) {
  return `executed ${l.count} times` + (l.branches.all ? `, ${l.branches.executed} of ${l.branches.all} directions of branches` : "");
}

/** The code of the function at the cursor. @param {{ context: Context }} props */
export function Assembly({ context }) {
  const { at, cursor, fresh, seek } = context;
  const { answer, error } = useAnswer("code", { at, whole: fresh });
  const lines = answer ? answer.lines : [];
  const here = cursor ? lines.findIndex((/** @type {any} */ l) => l.address === cursor.pc) : -1;
  const [chosen, choose] = useState({ of: "", line: -1 });
  const selected = cursor && chosen.of === cursor.pc ? chosen.line : here;
  const counted = lines.some((/** @type {any} */ l) => l.count !== undefined);
  const columns = [
    ...counted ? [{ name: "count", title: "count", width: "7ch", className: "right", cell: (/** @type {any} */ l) => html`<span class=${l.count ? "count" : "bad"} title=${String(l.count)}>${short(l.count || 0)}</span>` }] : [],
    { name: "here", title: "", width: "1ch", cell: (/** @type {any} */ l) => l.address === cursor?.pc ? html`<span class="bad" aria-label="cursor">▸</span>` : "" },
    { name: "address", title: "address", width: !cursor?.pc || cursor.pc.length <= 10 ? "8ch" : `${cursor.pc.length}ch`, className: "faint", cell: (/** @type {any} */ l) => l.address.slice(2) },
    { name: "bytes", title: "code", width: "9ch", className: "faint", cell: (/** @type {any} */ l) => l.bytes || "" },
    { name: "text", title: "instruction", width: "minmax(20ch, 2fr)", cell: (/** @type {any} */ l) => html`<bdi>${l.text || "?"}</bdi>` },
    { name: "target", title: "to", width: "minmax(10ch, 1fr)", className: "faint", cell: (/** @type {any} */ l) => html`<bdi>${l.targetSymbol || l.target || ""}</bdi>` },
    ...counted ? [{ name: "branch", title: "taken / not", width: "13ch", className: "right", cell: (/** @type {any} */ l) => l.branch && l.count ? html`<span class=${l.taken && l.past ? "faint" : "warn"}>${short(l.taken || 0)} / ${short(l.past || 0)}</span>` : "" }] : [],
    { name: "line", title: "line", width: "5ch", className: "right faint", cell: (/** @type {any} */ l) => l.source ? l.source.line : "" },
  ];
  if (error) return html`<p class="message error">${error}</p>`;
  return html`<div class="code-at"><span class="mono"><bdi>${answer?.function || ""}</bdi></span>
      ${answer?.executed && html`<span class="faint">only what was executed: a program (--exec) has all code</span>`}</div>
    <${Table} label="assembly" count=${lines.length} row=${(/** @type {number} */ i) => lines[i]} columns=${columns} height=${21} selected=${selected}
      onSelect=${(/** @type {number} */ i) => choose({ of: cursor ? cursor.pc : "", line: i })}
      onOpen=${(/** @type {number} */ i) => seek(lines[i].address)} />`;
}

/** What functions took, and what of them was executed. @param {{ context: Context }} props */
export function FunctionTable({ context }) {
  const { whole, route, seek } = context;
  const { answer, error } = useAnswer(whole ? "functions" : null);
  const [selected, select] = useState(0);
  const filter = (route.function || "").toLowerCase();
  const rows = useMemo(() => (answer ? answer.rows : []).filter((/** @type {any} */ f) => !filter || (f.function || f.address).toLowerCase().includes(filter)), [answer, filter]);
  if (error) return html`<p class="message error">${error}</p>`;
  if (!answer) return html`<p class="wait">Reading the trace …</p>`;
  const share = (/** @type {number} */ n) => (100 * n / Math.max(answer.total, 1)).toFixed(1) + " %";
  const part = (/** @type {any} */ c) => c && c.all ? html`<span class=${c.executed === c.all ? "good" : c.executed === 0 ? "bad" : ""}>${Math.floor(100 * c.executed / c.all)} %</span>` : "";
  const columns = [
    { name: "function", title: "function", width: "minmax(12ch, 1fr)", cell: (/** @type {any} */ f) => html`<bdi title=${f.function}>${f.function || f.address}</bdi>` },
    { name: "inclusive", title: "all", width: "7ch", className: "right", cell: (/** @type {any} */ f) => share(f.inclusive) },
    { name: "self", title: "self", width: "7ch", className: "right", cell: (/** @type {any} */ f) => share(f.self) },
    { name: "calls", title: "calls", width: "6ch", className: "right", cell: (/** @type {any} */ f) => short(f.calls) },
    { name: "code", title: "covered", width: "7ch", className: "right", cell: (/** @type {any} */ f) => part(f.instructions) },
    { name: "branches", title: "branches", width: "8ch", className: "right", cell: (/** @type {any} */ f) => part(f.branches) },
  ];
  const open = (/** @type {number} */ i) => rows[i] && seek(rows[i].address);
  return html`<div class="code-at"><input type="search" placeholder="Find a function" aria-label="Find a function" value=${route.function || ""}
      onInput=${(/** @type {any} */ e) => { go({ function: e.target.value }, true); select(0); }} onKeyDown=${(/** @type {KeyboardEvent} */ e) => e.key === "Enter" && open(selected)} />
      <span class="faint">Enter: next execution</span></div>
    <${Table} label="functions" count=${rows.length} row=${(/** @type {number} */ i) => rows[i]} columns=${columns} selected=${Math.min(selected, rows.length - 1)}
      onSelect=${select} onOpen=${open} />`;
}

/** What of each source file was executed. @param {{ context: Context }} props */
export function FileTable({ context }) {
  const { whole, summary } = context;
  const { answer, error } = useAnswer(whole ? "files" : null);
  const [selected, select] = useState(0);
  if (!summary.hasLines) return html`<p class="wait">Coverage of files needs a program with lines (--exec).</p>`;
  if (error) return html`<p class="message error">${error}</p>`;
  if (!answer) return html`<p class="wait">Reading the trace …</p>`;
  const part = (/** @type {any} */ c) => c.all ? html`<span class=${c.executed === c.all ? "good" : c.executed === 0 ? "bad" : ""}>${c.executed}/${c.all} ${Math.floor(100 * c.executed / c.all)} %</span>` : "";
  const columns = [
    { name: "file", title: "file", width: "minmax(20ch, 1fr)", cell: (/** @type {any} */ f) => html`<bdi title=${f.file}>${f.file}</bdi>` },
    { name: "lines", title: "lines", width: "16ch", className: "right", cell: (/** @type {any} */ f) => part(f.lines) },
    { name: "functions", title: "functions", width: "14ch", className: "right", cell: (/** @type {any} */ f) => part(f.functions) },
    { name: "branches", title: "branches", width: "14ch", className: "right", cell: (/** @type {any} */ f) => part(f.branches) },
  ];
  return html`<${Table} label="files" count=${answer.rows.length} row=${(/** @type {number} */ i) => answer.rows[i]} columns=${columns} selected=${selected}
    onSelect=${select} onOpen=${(/** @type {number} */ i) => go({ code: "source", pane: "source", file: answer.rows[i].source })} />`;
}
