// Hit counts beside the source.
import { html, useMemo } from "./vendor/htm-preact.js";
import { useAnswer } from "./ask.js";
import { go } from "./route.js";
import { Source } from "./source.js";
import { count } from "./text.js";

/** @param {{ trace: any, at: import("./route.js").Route, filter: Record<string, string> }} props */
export function Code({ trace, at, filter }) {
  const best = useMemo(() => [...trace.sources].sort((a, b) => (b.path ? 1 : 0) - (a.path ? 1 : 0) || b.frames - a.frames)[0], [trace]);
  const file = at.file !== undefined ? Number(at.file) : best?.file;
  const { answer, error } = useAnswer(file === undefined ? null : "source", { ...filter, file });
  const lines = useMemo(() => new Map((answer?.hits || []).map((/** @type {any} */ hit) => [hit.line, hit])), [answer]);
  if (file === undefined) return html`<p class="wait">The program has no debugging information here: --exec names it.</p>`;
  const most = Math.max(1, ...(answer?.hits || []).map((/** @type {any} */ hit) => hit.frames));
  const gutter = (/** @type {number} */ line) => {
    const hit = lines.get(line);
    if (!hit) return "";
    return html`<span class="heat" style=${{ width: Math.max(4, Math.sqrt(hit.frames / most) * 100) + "%" }}></span><span class="hits" title=${
      hit.tracepoints.length ? "tracepoint " + hit.tracepoints.join(", ") : undefined}>${hit.tracepoints.length ? "● " : ""}${count(hit.frames)}</span>`;
  };
  const after = (/** @type {number} */ line) => lines.get(line)?.last || "";
  const first = answer?.hits.find((/** @type {any} */ hit) => hit.frames > 0)?.line;
  return html`<div class="codeview">
    <div class="bar"><label>File <select value=${file} onChange=${(/** @type {any} */ e) => go({ file: e.target.value, line: "" })}>
      ${trace.sources.map((/** @type {any} */ s) => html`<option key=${s.file} value=${s.file}>${s.name} (${count(s.frames)})</option>`)}</select></label>
      <span class="faint">Frames of each line, and what its last one collected</span></div>
    ${error ? html`<p class="message error">${error}</p>` : answer?.error ? html`<p class="message error">${answer.name}: ${answer.error}</p>` : ""}
    ${answer?.lines && html`<${Source} label=${answer.name} lines=${answer.lines} gutter=${gutter} after=${after} current=${at.line ? Number(at.line) : first}
      lineClass=${(/** @type {number} */ line) => lines.has(line) ? "hit" : ""} onLine=${(/** @type {number} */ line) => {
        const hit = lines.get(line);
        go({ line, ...(hit?.lastFrame !== undefined ? { frame: hit.lastFrame } : {}) });
      }} />`}
  </div>`;
}
