// The page of a trace file: a filter and a timeline over all, below them one of several views.
import { html, useEffect, useMemo, useRef, useState } from "./vendor/htm-preact.js";
import { ask, Blocks, useAnswer } from "./ask.js";
import { Code } from "./code.js";
import { chosenColumns, ColumnChooser } from "./columns.js";
import { Flame } from "./flame.js";
import { FrameDetail } from "./frame.js";
import { useKeys } from "./keys.js";
import { Overview } from "./overview.js";
import { seriesColour } from "./plot.js";
import { go, useRoute } from "./route.js";
import { Table } from "./table.js";
import { clock, count, plural } from "./text.js";
import { Timeline } from "./timeline.js";
import { Values } from "./values.js";

const views = [["frames", "Frames"], ["values", "Values"], ["source", "Source"], ["stacks", "Stacks"], ["overview", "Overview"]];

/** How many rows a question asks for; the server has the same number. */
const blockRows = 100;

/** How long after the last letter a filter is asked for, in milliseconds. */
const typingPause = 60;

/** What of the route chooses frames. @param {import("./route.js").Route} at */
function filterOf(at) {
  /** @type {Record<string, string>} */
  const filter = {};
  for (const name of ["where", "tp", "thread", "from", "to"]) if (at[name] !== undefined) filter[name] = at[name];
  return filter;
}

/** @param {{ page: import("./app.js").Page }} props */
export function FramesPage({ page }) {
  const { seen: version, ended } = useChanges(page);
  const { answer: trace, error } = useAnswer("trace", version ? { seen: version } : {});
  if (error) return html`<main><p class="message error">${error}</p></main>`;
  if (!trace) return html`<main><p class="wait">Opening …</p></main>`;
  return html`<${Loaded} page=${page} trace=${trace} version=${version} live=${page.live && !ended} />`;
}

/** Counts the changes of a trace that is still recorded. @param {import("./app.js").Page} page */
function useChanges(page) {
  const [state, setState] = useState({ seen: 0, ended: false });
  useEffect(() => {
    if (!page.live) return;
    const abort = new AbortController();
    (async () => {
      for (let now = 0; !abort.signal.aborted;) {
        const change = await ask("changed", { seen: String(now) }, abort.signal);
        if (change.seen !== now || change.ended) setState(change);
        now = change.seen;
        if (change.ended) return;
      }
    })().catch(() => {});
    return () => abort.abort();
  }, []);
  return state;
}

/** @param {{ page: import("./app.js").Page, trace: any, version: number, live: boolean }} props */
function Loaded({ page, trace, version, live }) {
  const at = useRoute();
  const view = at.view || "frames";
  const filter = useMemo(() => ({ ...filterOf(at), ...(version ? { seen: String(version) } : {}) }),
    [at.where, at.tp, at.thread, at.from, at.to, version]);
  const search = useSearch(filter);
  const [position, setPosition] = useState(/** @type {number | undefined} */ (undefined));
  const frame = at.frame === undefined ? -1 : Number(at.frame);
  const [choosing, setChoosing] = useState(false);
  const columns = useMemo(() => page.static ? [] : chosenColumns(trace, at), [trace, at.columns]);
  const choose = () => { if (view === "frames" && !page.static && trace.columns.length > 0) setChoosing(true); };
  useEffect(() => { if (frame < 0) setPosition(undefined); }, [frame]);
  useKeys({
    "/": { help: "filter", do: () => setTimeout(() => document.getElementById("where")?.focus()) }, // later, or the / would be typed there
    ...Object.fromEntries(views.map(([name, title], i) => [String(i + 1), { help: title, do: () => go({ view: name === "frames" ? "" : name }) }])),
    "t": { help: "timeline by threads or tracepoints", do: () => go({ by: at.by === "tracepoint" ? "" : "tracepoint" }) },
    "x": { help: "all times", do: () => go({ from: "", to: "" }) },
    "z": { help: "zoom into the chosen times, or back", do: () => at.left ? go({ left: "", right: "" }) : go({ left: at.from, right: at.to }) },
    "o": { help: "columns of the table", do: choose },
    "c": { help: "clear all filters", do: () => go({ where: "", tp: "", thread: "", from: "", to: "" }) },
  });
  return html`<main class="frames">
    <${Filter} trace=${trace} at=${at} search=${search} live=${live} />
    <${Timeline} page=${page} trace=${trace} at=${at} filter=${filter} position=${position} />
    <div class="tabs"><div role="tablist" aria-label="Views">${views.map(([name, title]) => html`<button key=${name} id=${"tab-" + name} role="tab" aria-selected=${view === name}
      aria-controls="view" onClick=${() => go({ view: name === "frames" ? "" : name })}>${title}</button>`)}</div>
      ${view === "frames" && !page.static && trace.columns.length > 0 && html`<button class="quiet" title="Which values have a column (o)"
        onClick=${choose}>Columns${columns.length > 0 ? " " + columns.length : ""}</button>`}</div>
    ${choosing && html`<${ColumnChooser} trace=${trace} at=${at} close=${() => setChoosing(false)} />`}
    <div id="view" class=${"panes" + (frame >= 0 ? " split" : "")} role="tabpanel" aria-labelledby=${"tab-" + view}>
      ${view === "frames" && html`<${Rows} key=${at.where + "|" + at.tp + "|" + at.thread + "|" + at.from + "|" + at.to} trace=${trace} filter=${filter} search=${search} frame=${frame} chosen=${columns} />`}
      ${view === "values" && html`<${Values} page=${page} trace=${trace} at=${at} filter=${filter} />`}
      ${view === "source" && html`<${Code} trace=${trace} at=${at} filter=${filter} />`}
      ${view === "stacks" && html`<${Flame} filter=${filter} />`}
      ${view === "overview" && html`<${Overview} trace=${trace} />`}
      ${frame >= 0 && html`<${FrameDetail} number=${frame} trace=${trace} onAnswer=${(/** @type {any} */ answer) => setPosition(answer.position)} />`}
    </div>
  </main>`;
}

/**
 * How many frames the filter has found, asked for until all are.
 * @param {Record<string, string>} filter
 * @returns {{ filter: any, total: number, done: boolean, lacking?: string, error: string }} of the filter that was answered last
 */
function useSearch(filter) {
  const [state, setState] = useState(/** @type {any} */ ({ filter: null, total: 0, done: false, error: "" }));
  useEffect(() => {
    const abort = new AbortController();
    (async () => {
      for (;;) {
        const answer = await ask("search", filter, abort.signal);
        setState({ ...answer, filter, error: "" });
        if (answer.done) return;
      }
    })().catch(error => { if (error.name !== "AbortError") setState((/** @type {any} */ old) => ({ ...old, filter, done: true, error: error.message })); });
    return () => abort.abort();
  }, [filter]);
  return state;
}

/** @param {{ trace: any, at: import("./route.js").Route, search: any, live: boolean }} props */
function Filter({ trace, at, search, live }) {
  const [typed, setTyped] = useState(at.where || "");
  const timer = useRef(0);
  // What the route has because it was typed here must not replace what has been typed since.
  const sent = useRef(at.where || "");
  useEffect(() => {
    if ((at.where || "") === sent.current) return;
    sent.current = at.where || "";
    setTyped(sent.current);
  }, [at.where]);
  const input = (/** @type {any} */ event) => {
    const text = event.target.value;
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      sent.current = text.trim();
      go({ where: sent.current }, true);
    }, typingPause);
  };
  const numbers = [...new Set(trace.tracepoints.map((/** @type {any} */ t) => t.number))];
  const chosen = new Set((at.tp || "").split(",").filter(Boolean).map(Number));
  const toggle = (/** @type {any} */ n) => {
    if (chosen.has(n)) chosen.delete(n);
    else chosen.add(n);
    go({ tp: [...chosen].sort((a, b) => a - b).join(",") });
  };
  const found = search.total === trace.frames ? plural(trace.frames, "frame") : `${count(search.total)} of ${plural(trace.frames, "frame")}`;
  return html`<div class="filter">
    <input id="where" type="search" value=${typed} onInput=${input} placeholder="Filter: a C condition such as  n > 3 && $rip == 0x401131" aria-label="Filter, a C condition over what was collected"
      aria-invalid=${search.error ? "true" : "false"} aria-describedby="found" spellcheck="false" autocomplete="off" list="items" />
    <datalist id="items">${trace.items.slice(0, 200).map((/** @type {string} */ name) => html`<option key=${name} value=${name} />`)}</datalist>
    <span role="group" aria-label="Tracepoints" class="points">${numbers.slice(0, 24).map((/** @type {any} */ n) => {
      const of = trace.tracepoints.filter((/** @type {any} */ t) => t.number === n);
      return html`<button key=${n} aria-pressed=${chosen.has(n)} onClick=${() => toggle(n)} title=${`tracepoint ${n}: ${of[0].source || of[0].address}`}>
        <i class="dot" style=${{ background: seriesColour(n - 1) }}></i>${n} <bdi>${of[0].source || of[0].symbol || of[0].address}</bdi> <span class="faint">${count(of[0].frames)}</span></button>`;
    })}</span>
    ${at.thread !== undefined && html`<span class="tag chip">thread ${at.thread.split(",").map(n => trace.threads[Number(n)]?.id).join(", ")}
      <button class="quiet" aria-label="All threads" onClick=${() => go({ thread: "" })}>×</button></span>`}
    <span class="gap"></span>
    ${trace.debuggee && html`<span class="tag">${trace.debuggee.text}</span>`}
    ${live && (!trace.debuggee || trace.status?.running) && html`<span class="tag live">recording</span>`}
    <span id="found" role="status" class="found">${search.error ? "" : found}${search.done ? "" : " …"}</span>
  </div>
  ${search.error && html`<p class="message error" role="alert">${search.error}</p>`}
  ${search.lacking && html`<p class="message warn">${search.lacking}</p>`}`;
}

/** @param {{ trace: any, filter: Record<string, string>, search: any, frame: number, chosen: string[] }} props */
function Rows({ trace, filter, search, frame, chosen }) {
  const [, redraw] = useState(0);
  const last = useRef(/** @type {Blocks | undefined} */ (undefined));
  const blocks = useMemo(() => {
    // Rows with other columns would be shown below the wrong names until these have come.
    const earlier = last.current && last.current.args.column === chosen ? last.current : undefined;
    return last.current = new Blocks("rows", { ...filter, column: chosen }, blockRows, () => redraw(n => n + 1), earlier);
  }, [filter, chosen]);
  useEffect(() => () => blocks.close(), [blocks]);
  blocks.row(0); // the first rows are there before it is known how many there are
  // What has been found of another filter does not count; of the same one, of a trace that has grown, it does.
  const total = Math.max(search.filter === filter || blocks.earlier ? search.total : 0, blocks.total);
  const [selected, show] = useState(-1);
  // Keys may come faster than the page is drawn: each goes on from what the one before has selected.
  const latest = useRef(-1);
  const setSelected = (/** @type {number} */ i) => { latest.current = i; show(i); };
  // The place of a frame from the address, or after the filter has changed.
  useEffect(() => {
    if (frame < 0) {
      setSelected(-1);
      return;
    }
    if (blocks.known(latest.current)?.frame === frame) return;
    const abort = new AbortController();
    ask("place", { ...filter, frame: String(frame) }, abort.signal).then(answer => setSelected(answer.row), () => {});
    return () => abort.abort();
  }, [frame, filter]);
  const select = (/** @type {number} */ i) => {
    setSelected(i);
    const row = blocks.known(i);
    if (row) go({ frame: row.frame }, true);
    else wanted.current = i;
  };
  // A row that was selected before it had come, as by a held arrow key.
  const wanted = useRef(-1);
  useEffect(() => {
    const row = blocks.known(wanted.current);
    if (!row) return;
    wanted.current = -1;
    go({ frame: row.frame }, true);
  });
  useKeys({
    "j": { help: "next frame", do: () => select(Math.min(latest.current + 1, total - 1)) },
    "k": { help: "previous frame", do: () => select(Math.max(latest.current - 1, 0)) },
  });
  const columns = useMemo(() => columnsOf(trace, chosen), [trace, chosen]);
  return html`<${Table} label="Frames" count=${total} row=${(/** @type {number} */ i) => blocks.row(i)} columns=${columns} selected=${selected} onSelect=${select}
    onOpen=${() => /** @type {HTMLElement | null} */ ((document.querySelector(".detail [role=treeitem]") ||
      document.querySelector(".detail button:enabled")))?.focus()} />`;
}

/** @param {any} trace @param {string[]} chosen @returns {import("./table.js").Column[]} */
function columnsOf(trace, chosen) {
  const wide = innerWidth >= 700;
  /** @type {import("./table.js").Column[]} */
  const columns = [
    { name: "frame", title: "frame", width: "64px", className: "right", cell: row => row.frame },
    { name: "source", title: "tracepoint", width: wide ? "150px" : "100px", cell: row => html`<i class="dot" style=${{ background: seriesColour(row.tracepoint - 1) }}></i>${
      row.source || row.tracepoint}${row.stepped ? " (step)" : ""}` },
  ];
  if (trace.timed) columns.push({ name: "time", title: "time", width: "118px", cell: row => clock(row.time) });
  if (trace.threads.length > 1 && wide) columns.push({ name: "thread", title: "thread", width: "72px", className: "right", cell: row => trace.threads[row.thread]?.id || "" });
  columns.push({ name: "place", title: "place", width: wide ? "190px" : "130px", cell: row => html`${row.symbol || row.pc || ""} <span class="faint">${row.line || ""}</span>` });
  chosen.forEach((name, i) => columns.push({ name: "value " + name, title: name, width: widthOf(name),
    className: trace.numbers.includes(name) ? "right" : "", cell: row => row.cells?.[i] ?? "" }));
  columns.push({ name: "collected", title: "collected", width: "minmax(320px, 1fr)", cell: row => row.damaged ? html`<span class="bad">damaged</span> ${row.collected || ""}` : row.collected || "" });
  return columns;
}

/** The width of a column of values: of the name, within bounds. @param {string} name */
const widthOf = name => name === "backtrace" ? "320px" : Math.max(90, Math.min(name.length * 8, 220)) + "px";
