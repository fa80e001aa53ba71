// The machine at the cursor of an execution trace: registers, memory, who wrote them, and the calls that are active.
import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";
import { useAnswer } from "./ask.js";
import { useKeys } from "./keys.js";
import { useWidth } from "./plot.js";
import { go } from "./route.js";
import { Table } from "./table.js";

/** @typedef {import("./execution.js").Context} Context */

/** @param {{ context: Context }} props */
export function Registers({ context }) {
  const { at, cursor, moment, who } = context;
  const [selected, select] = useState(-1);
  if (!cursor) return html`<p class="wait">Reading …</p>`;
  const list = cursor.registers.filter((/** @type {any} */ r) => r.value !== null);
  const unknown = cursor.registers.length - list.length;
  if (list.length === 0) return html`<p class="wait">The trace tells no registers in front of this instruction.</p>`;
  const last = at > 0 ? moment(at - 1) : undefined;
  const written = new Set(last && last.cpu === cursor.processor ? last.effects.filter((/** @type {any} */ e) => e.kind === "register").map((/** @type {any} */ e) => e.register) : []);
  const widest = list.reduce((/** @type {number} */ n, /** @type {any} */ r) => Math.max(n, Math.min(r.value.length, 18)), 10);
  const columns = [
    { name: "name", title: "register", width: "8ch", cell: (/** @type {any} */ r) => html`<bdi>${r.name}</bdi>` },
    { name: "value", title: "value", width: `${widest}ch`, cell: (/** @type {any} */ r) => html`<span title=${r.value} class=${written.has(r.name) ? "fresh" : ""}>${r.value}</span>` },
    { name: "decimal", title: "decimal", width: widest > 10 ? "minmax(12ch, 1fr)" : "minmax(11ch, 1fr)", className: "right faint", cell: (/** @type {any} */ r) => decimal(r.value) },
    { name: "line", title: "line", width: "7ch", className: "right faint", cell: (/** @type {any} */ r) => r.line || "" },
  ];
  return html`<${Table} label="registers" count=${list.length} row=${(/** @type {number} */ i) => list[i]} columns=${columns} height=${21} selected=${selected}
      onSelect=${select} onOpen=${(/** @type {number} */ i) => who(list[i].name)} />
    <p class="foot faint">Enter: who wrote it.${unknown > 0 && ` ${unknown} registers are not told.`}</p>`;
}

/** A number of up to 64 bits as a signed decimal. @param {string} value */
function decimal(value) {
  const digits = value.slice(2);
  if (digits.includes("?") || digits.length > 16 || digits.length === 0) return "";
  return BigInt.asIntN(digits.length > 8 ? 64 : 32, BigInt(value)).toString();
}

const shownBytes = 256;

/** The memory that an instruction accesses, or that a pointer to the stack points to. @param {Context} context */
function usualRange({ cursor, moment, at }) {
  for (let n = at; n > at - 16; n--) {
    const access = n >= 0 ? moment(n)?.effects.find((/** @type {any} */ e) => e.address) : undefined;
    if (access) return access.address;
  }
  const sp = cursor?.registers.find((/** @type {any} */ r) => /^(r?sp|esp|r13)$/.test(r.name) && r.value && !r.value.includes("?"));
  return sp ? sp.value : "";
}

/** @param {{ context: Context }} props */
export function Memory({ context }) {
  const { at, route, who } = context;
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const asked = route.memory || usualRange(context);
  const number = /^0x[0-9a-f]+$/i.test(asked) ? BigInt(asked) & ~15n : null;
  const range = number === null ? asked : `0x${number.toString(16)},${shownBytes}`;
  const { answer, error } = useAnswer(range ? "memory" : null, { at, range });
  const move = (/** @type {bigint} */ by) => number !== null && number + by >= 0n && go({ memory: "0x" + (number + by).toString(16) }, true);
  useKeys({ "m": { help: "what memory to show", do: () => { field.current?.focus(); field.current?.select(); } } });
  const [selected, select] = useState(-1);
  const [box, width] = useWidth();
  const per = width >= 600 ? 16 : 8; // bytes of a row
  const bytes = answer ? answer.bytes.match(/../g) || [] : [];
  const start = answer ? BigInt(answer.address) : 0n;
  const count = Math.ceil(bytes.length / per);
  const columns = [
    { name: "address", title: "address", width: start > 0xffffffffn ? "12ch" : "8ch", className: "faint", cell: (/** @type {number} */ i) => (start + BigInt(i * per)).toString(16).padStart(8, "0") },
    { name: "bytes", title: "bytes", width: `${per * 3 + 1}ch`, cell: (/** @type {number} */ i) => bytes.slice(i * per, i * per + per).map((/** @type {string} */ b, /** @type {number} */ k) => (k === 8 ? "  " : " ") + b).join("").slice(1) },
    { name: "text", title: "text", width: `minmax(${per + 1}ch, 1fr)`, className: "faint", cell: (/** @type {number} */ i) => bytes.slice(i * per, i * per + per).map(printable).join("") },
  ];
  return html`<form class="code-at" onSubmit=${(/** @type {Event} */ e) => { e.preventDefault(); go({ memory: field.current?.value.trim() }); field.current?.blur(); }}>
      <input ref=${field} type="search" aria-label="What memory to show" placeholder="address, range or variable (m)" value=${asked} />
      <button type="button" aria-label="Lower addresses" onClick=${() => move(-256n)}>▲</button>
      <button type="button" aria-label="Higher addresses" onClick=${() => move(256n)}>▼</button>
      ${answer && html`<span class="faint">${answer.known} of ${answer.size} bytes known</span>`}</form>
    ${error && html`<p class="message error">${error}</p>`}
    ${range ? html`<${Table} label="memory" count=${count} row=${(/** @type {number} */ i) => i} columns=${columns} height=${21} selected=${selected} onSelect=${select}
        onOpen=${(/** @type {number} */ i) => who(`0x${(start + BigInt(i * per)).toString(16)},${per}`)} />
      <p class="foot faint" ref=${box}>?? is not told by the trace. Enter: who wrote the bytes of the row.</p>`
      : html`<p class="wait">Which memory? An address as 0x1000, a range as 0x1000..0x10ff, or a variable.</p>`}`;
}

/** @param {string} byte */
function printable(byte) {
  const n = parseInt(byte, 16);
  return n >= 0x20 && n < 0x7f ? String.fromCharCode(n) : "·";
}

/** Who wrote or read something, around the cursor. @param {{ context: Context }} props */
export function Accesses({ context }) {
  const { at, cursor, route, jump } = context;
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const kind = route.kind || "writers", object = route.object || "";
  const { answer, error, waiting } = useAnswer(object ? "accesses" : null, { at, object, kind, cpu: cursor?.processor });
  const before = answer ? answer.before : [], after = answer ? answer.after : [];
  const list = [...before, { cursor: true }, ...after];
  const [chosen, choose] = useState({ at: -1, row: -1 });
  const selected = chosen.at === at ? chosen.row : before.length;
  useEffect(() => { if (!object) field.current?.focus(); }, []);
  const widest = list.reduce((n, a) => Math.max(n, Math.min((a.value || "").length, 18)), 6);
  const columns = [
    { name: "number", title: "#", width: "9ch", className: "right", cell: (/** @type {any} */ a) => a.cursor ? html`<span class="bad">cursor</span>` : a.instruction },
    { name: "before", title: "before", width: `${widest}ch`, className: "right faint", cell: (/** @type {any} */ a) => a.cursor ? "" : a.before || "?" },
    { name: "value", title: "value", width: `${widest}ch`, className: "right", cell: (/** @type {any} */ a) => a.cursor ? "" : a.value || "?" },
    { name: "where", title: "where", width: "minmax(12ch, 1fr)", cell: (/** @type {any} */ a) => a.cursor ? "" : html`<bdi>${a.symbol || a.pc || ""}</bdi>` },
    { name: "text", title: "instruction", width: "minmax(20ch, 2fr)", className: "faint", cell: (/** @type {any} */ a) => a.cursor ? "" : html`<bdi>${a.disassembly || a.opcode || ""}</bdi>` },
  ];
  return html`<form class="code-at" onSubmit=${(/** @type {Event} */ e) => { e.preventDefault(); go({ object: field.current?.value.trim() }); field.current?.blur(); }}>
      <select aria-label="Writers or readers" value=${kind} onChange=${(/** @type {any} */ e) => go({ kind: e.target.value === "readers" ? "readers" : "" }, true)}>
        <option value="writers">who wrote</option><option value="readers">who read</option></select>
      <input ref=${field} type="search" aria-label="A register, an address, a range or a variable" placeholder="register, address, range or variable" value=${object} />
      ${waiting && object && html`<span class="faint">…</span>`}</form>
    ${error && html`<p class="message error">${error}</p>`}
    ${answer && answer.gaps.map((/** @type {string} */ gap) => html`<p class="message warn">${gap}</p>`)}
    ${object && !error ? html`<${Table} label="accesses" count=${answer ? list.length : 0} row=${(/** @type {number} */ i) => list[i]} columns=${columns} selected=${selected}
        onSelect=${(/** @type {number} */ i) => choose({ at, row: i })} onOpen=${(/** @type {number} */ i) => !list[i].cursor && jump(list[i].instruction, true)} />
      <p class="foot faint">The last 20 before the cursor and the first 20 from it on. Enter: go there.</p>`
      : !error && html`<p class="wait">Of what? A register by any of its names, an address as 0x1000, a range, or a variable.</p>`}`;
}

/** The calls that are active at the cursor. @param {{ context: Context }} props */
export function Calls({ context }) {
  const { cursor, whole, jump } = context;
  const [selected, select] = useState(0);
  if (!whole || !cursor) return html`<p class="wait">Reading the trace …</p>`;
  const list = [...cursor.calls].reverse();
  const columns = [
    { name: "function", title: "function, innermost first", width: "minmax(14ch, 1fr)", cell: (/** @type {any} */ c) => html`<bdi>${c.handler ? "⚡ " : ""}${c.function}</bdi>` },
    { name: "begin", title: "entered at", width: "10ch", className: "right", cell: (/** @type {any} */ c) => c.begin },
    { name: "end", title: "left at", width: "10ch", className: "right", cell: (/** @type {any} */ c) => c.end },
    { name: "length", title: "instructions", width: "11ch", className: "right", cell: (/** @type {any} */ c) => c.end - c.begin },
  ];
  return html`<${Table} label="calls" count=${list.length} row=${(/** @type {number} */ i) => list[i]} columns=${columns} selected=${Math.min(selected, list.length - 1)}
      onSelect=${select} onOpen=${(/** @type {number} */ i) => jump(list[i].begin, true)} />
    <p class="foot faint">Enter: to where it was entered.</p>`;
}
