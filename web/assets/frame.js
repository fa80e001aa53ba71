// One frame in full.
import { html, useEffect, useState } from "./vendor/htm-preact.js";
import { useAnswer } from "./ask.js";
import { go } from "./route.js";
import { clock, count, duration } from "./text.js";

/** Longer texts are shown in full only when they are asked for. */
const long = 400;

/** A value that may be long. @param {{ text: string }} props */
function Text({ text }) {
  const [whole, setWhole] = useState(false);
  if (text.length <= long || whole) return html`<span class="value">${text}</span>`;
  return html`<span class="value">${text.slice(0, long)}…</span> <button class="quiet more" onClick=${() => setWhole(true)}>all</button>`;
}

/**
 * A value with what it is made of.
 * @param {{ value: any, changed?: boolean, depth: number }} props
 */
function Value({ value, changed, depth }) {
  const [open, setOpen] = useState(depth === 0 && (value.children?.length || 0) > 0 && value.children.length <= 24);
  const children = value.children || [];
  const toggle = () => children.length && setOpen(!open);
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "ArrowRight" && !open) toggle();
    else if (event.key === "ArrowLeft" && open) toggle();
    else if (event.key === "Enter" || event.key === " ") toggle();
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") step(event);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<li role="treeitem" aria-expanded=${children.length ? open : undefined} aria-level=${depth + 1} tabindex="0" onKeyDown=${onKeyDown}
      title=${value.type || undefined}>
    <div class=${"leaf" + (changed ? " changed" : "")} style=${{ paddingLeft: depth * 14 + "px" }} onClick=${toggle}>
      <span class="twist" aria-hidden="true">${children.length ? (open ? "▾" : "▸") : ""}</span>
      <span class="name">${value.name || "{…}"}</span>
      <${Text} text=${value.text} />
      ${changed && html`<span class="hidden">changed</span>`}
    </div>
    ${open && html`<ul role="group">${children.map((/** @type {any} */ child, /** @type {number} */ i) => html`<${Value} key=${i} value=${child} depth=${depth + 1} />`)}
      ${value.more && html`<li class="faint" role="none" style=${{ paddingLeft: (depth + 1) * 14 + 16 + "px" }}>there are more</li>`}</ul>`}
  </li>`;
}

/** Moves the focus to the next or previous item of the tree. @param {KeyboardEvent} event */
function step(event) {
  const item = /** @type {HTMLElement} */ (event.currentTarget);
  const all = /** @type {HTMLElement[]} */ ([...(item.closest("[role=tree]")?.querySelectorAll("[role=treeitem]") || [])]);
  all[all.indexOf(item) + (event.key === "ArrowDown" ? 1 : -1)]?.focus();
}

/** @param {{ blocks: any[] }} props */
function Memory({ blocks }) {
  return html`${blocks.map((block, i) => html`<details key=${i}>
    <summary><code>${block.address}</code> ${block.symbol ? html`<span class="faint">${block.symbol}</span>` : ""} <span class="faint">${count(block.bytes.length / 2)} bytes</span></summary>
    <pre class="dump" tabindex="0">${dump(block)}</pre>
  </details>`)}`;
}

/** The bytes of a block as lines of sixteen. @param {{ address: string, bytes: string }} block */
function dump({ address, bytes }) {
  const lines = [];
  const most = 4096 * 2; // digits
  for (let i = 0; i < Math.min(bytes.length, most); i += 32) {
    const part = bytes.slice(i, i + 32).match(/../g) || [];
    const text = part.map(b => { const n = parseInt(b, 16); return n >= 32 && n < 127 ? String.fromCharCode(n) : "."; }).join("");
    lines.push(`0x${(BigInt(address) + BigInt(i / 2)).toString(16)}  ${part.join(" ").padEnd(47)}  ${text}`);
  }
  if (bytes.length > most) lines.push("…");
  return lines.join("\n");
}

/** @param {{ calls: any[], truncated?: string }} props */
function Backtrace({ calls, truncated }) {
  return html`<ol class="calls" start="0">${calls.map((call, i) => html`<li key=${i}>
    <span class="value">${call.signal ? "<signal handler called>" : call.function || "??"}</span>
    <span class="faint"> ${call.file ? call.file.split("/").pop() + ":" + call.line : call.module || call.pc || ""}${call.inlined ? ", inlined" : ""}${call.guessed ? ", by the frame pointer" : ""}</span>
  </li>`)}</ol>${truncated && html`<p class="faint">ends here: ${truncated}</p>`}`;
}

/**
 * @param {object} props
 * @param {number} props.number of the frame
 * @param {any} props.trace
 * @param {(answer: any) => void} props.onAnswer
 */
export function FrameDetail({ number, trace, onAnswer }) {
  const { answer, error } = useAnswer("frame", { frame: number });
  useEffect(() => { if (answer) onAnswer(answer); }, [answer]);
  if (error) return html`<section class="detail" aria-label="Frame"><p class="message error">${error}</p></section>`;
  if (!answer) return html`<section class="detail" aria-label="Frame"><p class="wait">…</p></section>`;
  const f = answer.frame;
  const changed = new Set(answer.changed);
  const thread = trace.threads[answer.thread];
  const registers = Object.entries(f.registers);
  return html`<section class="detail" aria-label=${"Frame " + f.frame}>
    <div class="detailhead">
      <h2>Frame ${count(f.frame)}</h2>
      <button class="quiet" disabled=${answer.earlier === null} onClick=${() => go({ frame: answer.earlier })} aria-label="Previous frame of the tracepoint">◂</button>
      <button class="quiet" disabled=${answer.later === null} onClick=${() => go({ frame: answer.later })} aria-label="Next frame of the tracepoint">▸</button>
      <span class="gap"></span>
      <button class="quiet" onClick=${() => go({ frame: "" })} aria-label="Close">×</button>
    </div>
    <dl class="facts">
      <div><dt>tracepoint</dt><dd>${f.tracepoint}${f.source ? ", " + f.source : ""}${f.stepped ? ", after a step" : ""}</dd></div>
      ${answer.time !== null && html`<div><dt>time</dt><dd>${clock(answer.time)} <span class="faint">+${duration(answer.time - trace.first)}</span></dd></div>`}
      ${thread && thread.id !== 0 && html`<div><dt>thread</dt><dd>${thread.id}${f.comm ? ", " + f.comm : ""}</dd></div>`}
      ${f.pc && html`<div><dt>pc</dt><dd><code>${f.pc}</code> ${f.symbol || ""} ${f.line && (answer.file === null ? f.line :
        html`<a href=${"#" + new URLSearchParams({ view: "source", file: answer.file, line: answer.line, frame: f.frame })}>${f.line}</a>`)}</dd></div>`}
      ${f.damaged && html`<div><dt>damaged</dt><dd class="bad">${f.damaged}</dd></div>`}
    </dl>
    ${answer.values.length > 0 && html`<h3>Collected</h3><ul role="tree" class="tree" aria-label="Collected">
      ${answer.values.map((/** @type {any} */ value) => html`<${Value} key=${value.name} value=${value} changed=${changed.has(value.name)} depth=${0} />`)}</ul>`}
    ${f.backtrace && html`<h3>Backtrace</h3><${Backtrace} calls=${f.backtrace} truncated=${f.backtraceTruncated} />`}
    ${answer.variables.length > 0 && html`<h3>Variables</h3><dl class="registers">
      ${answer.variables.map((/** @type {any} */ v) => html`<div key=${v.name} class=${changed.has(v.name) ? "changed" : ""}><dt>${v.name}</dt><dd>${v.text}</dd></div>`)}</dl>`}
    ${registers.length > 0 && html`<h3>Registers</h3><dl class="registers">
      ${registers.map(([name, value]) => html`<div key=${name} class=${changed.has(name) ? "changed" : ""}
        title=${f.changed?.registers?.[name] ? "was " + f.changed.registers[name].old : undefined}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`}
    ${f.memory.length > 0 && html`<h3>Memory</h3><${Memory} blocks=${f.memory} />`}
  </section>`;
}
