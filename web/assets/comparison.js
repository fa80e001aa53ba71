// The page of comparisons: the pairs of a regression, and both traces side by side around each root cause.
import { html, useEffect, useMemo, useRef, useState } from "./vendor/htm-preact.js";
import { useAnswer } from "./ask.js";
import { useKeys } from "./keys.js";
import { go, useRoute } from "./route.js";
import { Source } from "./source.js";
import { Table } from "./table.js";
import { count, plural } from "./text.js";

/** @typedef {{ text: string, differs?: boolean }} Span wire.MarkedText */
/** @typedef {{ line: number, instruction: number, spans: Span[], head?: boolean, pc?: string, symbol?: string, file?: string, sourceLine?: number, source?: number, disassembly?: string }} Line wire.LockstepLine */
/** @typedef {{ alignment: string, here?: boolean, reference?: Line, other?: Line }} Row wire.LockstepRow */
/** @typedef {{ fold: number, rows: number }} Fold rows that are not shown, from one on */

/** Rows of this many lines on both sides of a difference are shown; equal ones further away are folded. */
const nearRows = 12;

const marks = /** @type {Record<string, string>} */ ({ equal: "=", different: "≠", failed: "!" });
const signs = /** @type {Record<string, string>} */ ({ same: "", changed: "≠", reference: "−", other: "+", leap: "⋯" });
const meanings = /** @type {Record<string, string>} */ ({ same: "equal", changed: "differs", reference: "only in the reference", other: "only in the other trace", leap: "lines left out" });

/** What is compared is asked for; the page itself tells nothing more. @param {{ page: import("./app.js").Page }} props */
export function ComparisonPage({ page }) {
  const route = useRoute();
  const { answer, error } = useAnswer("comparisons");
  if (error) return html`<main><p class="message error" role="alert">${error}</p></main>`;
  if (!answer) return html`<main><p class="wait">Reading …</p></main>`;
  const only = answer.list.length === 1;
  const chosen = only ? answer.list[0].number : route.pair === undefined ? -1 : Number(route.pair);
  return html`<main class="executions comparison">${chosen >= 0
    ? html`<${Pair} key=${chosen} page=${page} number=${chosen} list=${answer.list} route=${route} />`
    : html`<${Pairs} answer=${answer} route=${route} />`}</main>`;
}

/** The pairs of a regression. @param {{ answer: any, route: import("./route.js").Route }} props */
function Pairs({ answer, route }) {
  const filter = (route.find || "").toLowerCase();
  const rows = useMemo(() => answer.list.filter((/** @type {any} */ o) =>
    !filter || (o.name + " " + o.verdict + " " + (o.result || "")).toLowerCase().includes(filter)), [answer, filter]);
  const [selected, select] = useState(0);
  const search = useRef(/** @type {HTMLInputElement | null} */ (null));
  const open = (/** @type {number} */ i) => rows[i] && go({ pair: rows[i].number });
  useKeys({
    "/": { help: "find a pair", do: () => search.current?.focus() },
    "Enter": { help: "open the pair", do: () => open(selected) },
    "j": { help: "next pair", do: () => select(Math.min(selected + 1, rows.length - 1)) },
    "k": { help: "pair before", do: () => select(Math.max(selected - 1, 0)) },
  });
  const columns = [
    { name: "verdict", title: "verdict", width: "96px", cell: (/** @type {any} */ o) => html`<${Verdict} verdict=${o.verdict} />` },
    { name: "differences", title: "roots", width: "56px", className: "right", cell: (/** @type {any} */ o) => o.differences || "" },
    { name: "consequences", title: "follow", width: "64px", className: "right", cell: (/** @type {any} */ o) => o.consequences || "" },
    { name: "name", title: "pair", width: "minmax(180px, 2fr)", cell: (/** @type {any} */ o) => html`<bdi>${o.name}</bdi>` },
    { name: "result", title: "first root cause", width: "minmax(260px, 3fr)", cell: (/** @type {any} */ o) => html`<bdi>${o.result || ""}</bdi>` },
    { name: "instructions", title: "instructions", width: "110px", className: "right", cell: (/** @type {any} */ o) => o.instructions.toLocaleString("en") },
    { name: "seconds", title: "seconds", width: "72px", className: "right", cell: (/** @type {any} */ o) => o.seconds.toFixed(2) },
  ];
  return html`<div class="bar">
      <h2>${answer.summary}</h2><span class="gap"></span>
      <input ref=${search} type="search" placeholder="Find a pair (/)" aria-label="Find a pair" value=${route.find || ""}
        onInput=${(/** @type {any} */ e) => { go({ find: e.target.value }, true); select(0); }}
        onKeyDown=${(/** @type {KeyboardEvent} */ e) => e.key === "Enter" && open(selected)} />
    </div>
    <${Table} label="pairs" count=${rows.length} row=${(/** @type {number} */ i) => rows[i]} columns=${columns} height=${26}
      selected=${Math.min(selected, rows.length - 1)} onSelect=${select} onOpen=${open} />`;
}

/** @param {{ verdict: string }} props */
function Verdict({ verdict }) {
  return html`<span class=${"verdict " + verdict}><span aria-hidden="true">${marks[verdict]}</span> ${verdict}</span>`;
}

/** One pair: its root causes one after the other. @param {{ page: import("./app.js").Page, number: number, list: any[], route: import("./route.js").Route }} props */
function Pair({ page, number, list, route }) {
  const { answer, error } = useAnswer("comparison", { comparison: number });
  const at = list.findIndex(o => o.number === number);
  const up = () => list.length > 1 && go({ pair: "", root: "", row: "" });
  const step = (/** @type {number} */ by) => {
    const next = list[at + by];
    if (next) go({ pair: next.number, root: "", row: "" });
  };
  useKeys(list.length > 1 ? {
    "u": { help: "all pairs", do: up },
    "]": { help: "next pair", do: () => step(1) },
    "[": { help: "pair before", do: () => step(-1) },
  } : {});
  if (error) return html`<p class="message error" role="alert">${error}</p>`;
  if (!answer) return html`<p class="wait">Reading …</p>`;
  return html`<div class="bar">
      ${list.length > 1 && html`<button class="quiet" onClick=${up} title="All pairs (u)">‹ all</button>`}
      <${Verdict} verdict=${answer.verdict} />
      <h2 class="headline" title=${answer.headline}><bdi>${answer.headline}</bdi></h2>
    </div>
    ${answer.notes.map((/** @type {string} */ note) => html`<p class="message warn">${note}</p>`)}
    ${answer.roots.length > 0 ? html`<${Roots} page=${page} detail=${answer} route=${route} />`
      : html`<div class="pane scroll"><${Facts} detail=${answer} /></div>`}`;
}

/** @param {{ detail: any }} props */
function Facts({ detail }) {
  return html`<dl class="told">${detail.facts.map((/** @type {any} */ f) => html`<div key=${f.key}>
    <dt>${f.key}</dt><dd>${f.words.map((/** @type {string} */ w) => html`<div><bdi>${w}</bdi></div>`)}</dd></div>`)}</dl>`;
}

const sideTabs = [["registers", "Registers", "r"], ["source", "Source", "s"], ["roots", "Roots", "c"], ["follow", "Consequences", "f"],
  ["facts", "Summary", "i"]];

const undescribed = {
  file: "This page is one file and has the lines around the first root causes only; tracewell view shows the others, too.",
  served: "These results have lines around the first root causes only: match --described N says around how many.",
};

/** The root cause that is looked at, and what surrounds it. @param {{ page: import("./app.js").Page, detail: any, route: import("./route.js").Route }} props */
function Roots({ page, detail, route }) {
  const total = detail.roots.length;
  const number = Math.max(0, Math.min(Number(route.root) || 0, total - 1));
  const root = detail.roots[number];
  const tab = route.tab || "registers";
  const { answer, error } = useAnswer(root.described ? "root" : null, { comparison: detail.number, root: number });
  const shown = answer && answer.number === number ? answer : null;
  const lacking = !root.described ? undescribed[page.static ? "file" : "served"] : page.static && error ? undescribed.file : "";
  const step = (/** @type {number} */ by) => {
    const next = Math.max(0, Math.min(number + by, total - 1));
    if (next !== number) go({ root: next || "", row: "" });
  };
  useKeys({
    "n": { help: "next root cause", do: () => step(1) },
    "p": { help: "root cause before", do: () => step(-1) },
    ...Object.fromEntries(sideTabs.map(([name, title, key]) => [key, { help: name === "roots" ? "all root causes" : title.toLowerCase(), do: () => go({ tab: name }, true) }])),
  });
  return html`<div class="bar root">
      <button onClick=${() => step(-1)} disabled=${number === 0} title="Root cause before (p)" aria-label="Root cause before">‹</button>
      <span class="ordinal">root ${number + 1} of ${total}${detail.differences > total ? html` <span class="faint">(${detail.differences})</span>` : ""}</span>
      <button onClick=${() => step(1)} disabled=${number === total - 1} title="Next root cause (n)" aria-label="Next root cause">›</button>
      <span class="tag">${root.class}</span>
      <p class="summary" aria-live="polite"><bdi>${root.summary}</bdi></p>
      ${detail.consequences > 0 && html`<button class="quiet" aria-expanded=${tab === "follow"} onClick=${() => go({ tab: tab === "follow" ? "" : "follow" }, true)}
        title="Differences that follow from values that were wrong before (f)">${root.followers > 0 ? count(root.followers) + " of " : ""}${plural(detail.consequences, "consequence")}</button>`}
    </div>
    ${error && !lacking && html`<p class="message error" role="alert">${error}</p>`}
    <div class="sides">
      ${shown ? html`<${Lockstep} key=${number} detail=${detail} root=${shown} route=${route} />`
        : html`<p class="wait pane">${lacking ? `${lacking} This one is at ${placeOf(root)}.` : "Reading …"}</p>`}
      <aside class="pane">
        <div role="tablist" aria-label="About the root cause">${sideTabs.map(([name, title]) => html`<button key=${name} role="tab"
          aria-selected=${tab === name} onClick=${() => go({ tab: name }, true)}>${title}</button>`)}</div>
        ${tab === "registers" && html`<${Registers} root=${shown} />`}
        ${tab === "source" && html`<${SourceAt} root=${shown} route=${route} />`}
        ${tab === "roots" && html`<${RootList} roots=${detail.roots} number=${number} />`}
        ${tab === "follow" && html`<${Consequences} key=${number} page=${page} detail=${detail} root=${root} />`}
        ${tab === "facts" && html`<div class="scroll"><${Facts} detail=${detail} /></div>`}
      </aside>
    </div>`;
}

/** @param {any} root */
function placeOf(root) {
  const side = (/** @type {string} */ name, /** @type {any} */ at) => at ? [`line ${at.line} of the ${name}`] : [];
  return [...side("reference", root.reference), ...side("other trace", root.other)].join(", ");
}

/** @param {{ roots: any[], number: number }} props */
function RootList({ roots, number }) {
  const columns = [
    { name: "number", title: "", width: "32px", className: "right", cell: (/** @type {any} */ r) => r.number + 1 },
    { name: "instruction", title: "instruction", width: "90px", className: "right", cell: (/** @type {any} */ r) => (r.reference || r.other || { instruction: "" }).instruction },
    { name: "class", title: "class", width: "90px", cell: (/** @type {any} */ r) => r.class },
    { name: "summary", title: "what", width: "minmax(200px, 1fr)", cell: (/** @type {any} */ r) => html`<bdi>${r.summary}</bdi>` },
  ];
  return html`<${Table} label="root causes" count=${roots.length} row=${(/** @type {number} */ i) => roots[i]} columns=${columns}
    selected=${number} onSelect=${(/** @type {number} */ i) => go({ root: i || "", row: "" }, true)} />`;
}

/**
 * The differences that follow from wrong values, up to the next root cause.
 * @param {{ page: import("./app.js").Page, detail: any, root: any }} props
 */
function Consequences({ page, detail, root }) {
  const { answer, error } = useAnswer(root.followers > 0 ? "consequences" : null, { comparison: detail.number, root: root.number });
  const [selected, select] = useState(0);
  if (error) return html`<p class="wait">${page.static ? undescribed.file : error}</p>`;
  if (root.followers === 0) {
    return html`<p class="wait">${detail.consequences === 0 ? "Nothing follows from the root causes."
      : "None is listed between this root cause and the next. " + (page.static ? "" : "Results of match list them with --consequences N.")}</p>`;
  }
  if (!answer || answer.root !== root.number) return html`<p class="wait">Reading …</p>`;
  const list = answer.list;
  const chosen = list[selected];
  const columns = [
    { name: "instruction", title: "instruction", width: "80px", className: "right", cell: (/** @type {any} */ c) => (c.reference || c.other || { instruction: "" }).instruction },
    { name: "class", title: "class", width: "76px", cell: (/** @type {any} */ c) => c.class },
    { name: "summary", title: "what", width: "minmax(200px, 1fr)", cell: (/** @type {any} */ c) => html`<bdi>${c.summary}</bdi>` },
  ];
  const side = (/** @type {string} */ name, /** @type {any} */ at) => html`<div><dt>${name}</dt><dd>${at ? html`<span class="lineno">${at.line}</span> <bdi>${at.text}</bdi>` : "–"}</dd></div>`;
  return html`<${Table} label="consequences" count=${list.length} row=${(/** @type {number} */ i) => list[i]} columns=${columns}
      selected=${selected} onSelect=${select} />
    ${chosen && html`<dl class="told quoted" aria-live="polite"><div><dt>${chosen.class}</dt><dd><bdi>${chosen.summary}</bdi></dd></div>
      ${side("reference", chosen.reference)}${side("other", chosen.other)}</dl>`}
    <p class="lockstep-foot faint">${answer.listed < detail.consequences ? `the first ${count(answer.listed)} of ${count(detail.consequences)} are listed · ` : ""}they
      follow from values that were wrong before, as far as the next root cause</p>`;
}

/** The row that is looked at: that of the route, or the first of the difference. @param {Row[]} rows @param {import("./route.js").Route} route */
function current(rows, route) {
  const asked = route.row === undefined ? -1 : Number(route.row);
  if (asked >= 0 && asked < rows.length) return asked;
  return Math.max(rows.findIndex(row => row.here), 0);
}

/** Rows with those folded that are equal and far from what differs. @param {Row[]} rows @param {Set<number>} open @returns {(number | Fold)[]} */
function folded(rows, open) {
  const near = new Set();
  rows.forEach((row, i) => {
    if (row.alignment === "same" && !row.here) return;
    for (let k = i - nearRows; k <= i + nearRows; k++) near.add(k);
  });
  const shown = /** @type {(number | Fold)[]} */ ([]);
  for (let i = 0; i < rows.length;) {
    let end = i;
    while (end < rows.length && !near.has(end)) end++;
    if (end - i > 2 && !open.has(i)) shown.push({ fold: i, rows: end - i });
    else for (let k = i; k < end; k++) shown.push(k);
    if (end < rows.length) shown.push(end);
    i = end + 1;
  }
  return shown;
}

/** Both traces line by line. @param {{ detail: any, root: any, route: import("./route.js").Route }} props */
function Lockstep({ detail, root, route }) {
  const rows = /** @type {Row[]} */ (root.rows);
  const [open, setOpen] = useState(/** @type {Set<number>} */ (new Set()));
  const at = current(rows, route);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const shown = folded(rows, open);
  const move = (/** @type {number} */ by) => {
    const visible = shown.filter(i => typeof i === "number");
    const i = visible.indexOf(at);
    const next = visible[Math.max(0, Math.min((i < 0 ? 0 : i) + by, visible.length - 1))];
    if (next !== undefined) go({ row: next }, true);
  };
  const unfold = () => setOpen(open.size > 0 ? new Set() : new Set(shown.flatMap(i => typeof i === "number" ? [] : [i.fold])));
  useKeys({
    "j": { help: "next line", do: () => move(1) },
    "k": { help: "line before", do: () => move(-1) },
    "h": { help: "to the difference", do: () => go({ row: "" }, true) },
    "z": { help: "fold or unfold equal lines", do: unfold },
  });
  useEffect(() => {
    // The difference itself stands in the middle; lines that are moved to are only brought into sight.
    box.current?.querySelector(".row.selected")?.scrollIntoView({ block: route.row === undefined ? "center" : "nearest" });
  }, [at, root]);
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const by = /** @type {Record<string, number>} */ ({ ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, Home: -1e9, End: 1e9 })[event.key];
    if (!by || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    move(by);
  };
  const head = root.resumed;
  return html`<section class="pane lockstep-pane" aria-label="Both traces">
    <div class="lockstep-head"><span title=${detail.reference}><bdi>${detail.reference}</bdi></span><span title=${detail.other}><bdi>${detail.other}</bdi></span></div>
    <div ref=${box} class="lockstep" role="grid" tabindex="0" aria-label="Lines of both traces" aria-activedescendant=${"row" + at} onKeyDown=${onKeyDown}>
      ${shown.map(i => typeof i !== "number"
        ? html`<button key=${"fold" + i.fold} class="fold" onClick=${() => setOpen(new Set([...open, i.fold]))}>${i.rows} equal lines</button>`
        : html`<${LockstepRow} key=${i} row=${rows[i]} i=${i} selected=${i === at} />`)}
      ${rows.length === 0 && html`<p class="wait">No lines around it are known.</p>`}
    </div>
    <p class="lockstep-foot faint">${root.extent && root.extent + " · "}${head
      ? html`both go on together at lines ${head.reference.line} and ${head.other.line}`
      : "these lines end before both go on together"}</p>
  </section>`;
}

/** @param {{ row: Row, i: number, selected: boolean }} props */
function LockstepRow({ row, i, selected }) {
  const sides = row.alignment === "leap" ? html`<span class="leap">lines left out</span>`
    : html`<${Cell} line=${row.reference} side="reference" /><span class="sign" role="gridcell" title=${meanings[row.alignment]}
        aria-label=${(row.here ? "the difference, " : "") + meanings[row.alignment]}>${row.here ? "→" : ""}${signs[row.alignment]}</span><${Cell} line=${row.other} side="other" />`;
  return html`<div id=${"row" + i} role="row" aria-selected=${selected} class=${`row ${row.alignment}${row.here ? " here" : ""}${selected ? " selected" : ""}`}
    onClick=${() => go({ row: i }, true)}>${sides}</div>`;
}

/** @param {{ line?: Line, side: string }} props */
function Cell({ line, side }) {
  if (!line) return html`<span role="gridcell" class=${"cell none " + side}></span>`;
  return html`<span role="gridcell" class=${"cell " + side + (line.head ? " head" : "")}>
    <span class="lineno">${line.line}</span><span class="text">${spans(line.spans)}</span>
    ${line.symbol && html`<span class="symbol"><bdi>${line.symbol}</bdi></span>`}</span>`;
}

/** @param {Span[]} list */
function spans(list) { return list.map(s => s.differs ? html`<mark>${s.text}</mark>` : s.text); }

/** Registers of both sides in front of the instruction and behind it. @param {{ root: any }} props */
function Registers({ root }) {
  const [all, setAll] = useState(false);
  if (!root) return html`<p class="wait">No registers are known.</p>`;
  const list = root.registers;
  const of = (/** @type {any} */ r) => r.differs || r.operand || r.after;
  const shown = all || list.length <= 12 ? list : list.filter(of);
  const rest = list.length - shown.length;
  const value = (/** @type {any} */ h) => h.spans.length === 0 ? html`<span class="faint">unknown</span>`
    : html`<span title=${h.line ? "written in line " + h.line : ""}>${spans(h.spans)}</span>`;
  if (list.length === 0) return html`<p class="wait">No registers are known.</p>`;
  return html`<div class="scroll"><table class="compared"><caption class="hidden">Registers of both traces before and after the instruction</caption>
    <thead><tr><th scope="col"></th><th scope="col"></th><th scope="col">reference</th><th scope="col">other</th></tr></thead>
    ${shown.map((/** @type {any} */ r) => html`<tbody key=${r.name} class=${r.differs ? "differs" : ""}>
      <tr><th scope="row" rowspan=${r.after ? 2 : 1}><bdi>${r.name}</bdi>${r.differs && html`<span class="bad" title="differs before the instruction"> ≠</span>`}</th>
        <td class="faint">before</td><td>${value(r.before[0])}</td><td>${value(r.before[1])}</td></tr>
      ${r.after && html`<tr class="after"><td class="faint">after</td><td>${value(r.after[0])}</td><td>${value(r.after[1])}</td></tr>`}
    </tbody>`)}
  </table>
  ${rest > 0 && html`<button class="more" onClick=${() => setAll(true)}>${rest} more</button>`}</div>`;
}

/** The source of the line that is looked at. @param {{ root: any, route: import("./route.js").Route }} props */
function SourceAt({ root, route }) {
  const rows = /** @type {Row[]} */ (root ? root.rows : []);
  // An effect belongs to the last instruction above it.
  let i = current(rows, route);
  const head = (/** @type {Row} */ row) => [row.reference, row.other].find(l => l && l.head);
  while (i > 0 && rows[i] && !head(rows[i])) i--;
  const line = rows[i] && head(rows[i]);
  const { answer, error } = useAnswer(line && line.source !== undefined ? "source" : null, { file: line?.source });
  if (!line) return html`<p class="wait">No instruction is selected.</p>`;
  const shown = answer && answer.file === line.source ? answer : null;
  return html`<div class="code-at"><span class="mono">${line.pc} ${line.symbol && html`<bdi>${"<" + line.symbol + ">"}</bdi>`} ${line.disassembly}</span>
      ${line.file && html`<span class="faint"><bdi>${line.file}:${line.sourceLine}</bdi></span>`}</div>
    ${error && html`<p class="message error">${error}</p>`}
    ${shown && shown.error && html`<p class="message warn">${shown.error}</p>`}
    ${shown && !shown.error && html`<${Source} label="Source" lines=${shown.lines} current=${line.sourceLine} />`}
    ${line.source === undefined && html`<p class="wait">${line.symbol ? "The program has no lines for this address." : "A program (--exec) tells symbols and lines."}</p>`}`;
}
