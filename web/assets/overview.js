// What there is to say of a trace file as a whole.
import { html } from "./vendor/htm-preact.js";
import { go } from "./route.js";
import { clock, count, duration } from "./text.js";

/** @param {{ trace: any }} props */
export function Overview({ trace }) {
  const status = trace.status;
  return html`<div class="overview">
    <dl class="facts">
      <div><dt>run</dt><dd>${trace.state || "unknown"}</dd></div>
      ${trace.program && html`<div><dt>program</dt><dd><code>${trace.program}</code></dd></div>`}
      <div><dt>frames</dt><dd>${count(trace.frames)}${status?.created > trace.frames ? ` of ${count(status.created)} that were made` : ""}</dd></div>
      ${trace.timed && html`<div><dt>time</dt><dd>${clock(trace.first)} … ${clock(trace.last)} <span class="faint">${duration(trace.last - trace.first)}</span></dd></div>`}
      ${status?.user && html`<div><dt>user</dt><dd>${status.user}</dd></div>`}
      ${status?.notes && html`<div><dt>notes</dt><dd>${status.notes}</dd></div>`}
      ${trace.error && html`<div><dt>damage</dt><dd class="bad">${trace.error}</dd></div>`}
    </dl>
    <h2>Tracepoints</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Tracepoints"><table class="plain">
      <thead><tr><th scope="col">tp</th><th scope="col">location</th><th scope="col" class="right">hits</th><th scope="col" class="right">frames</th><th scope="col">condition</th>
        <th scope="col">collects</th></tr></thead>
      <tbody>${trace.tracepoints.map((/** @type {any} */ t) => html`<tr key=${t.number + t.address}>
        <td><a href="#" onClick=${(/** @type {Event} */ e) => { e.preventDefault(); go({ tp: t.number, view: "" }); }}>${t.number}</a></td>
        <td><code>${t.source || t.address}</code> <span class="faint">${t.address}${t.symbol ? " " + t.symbol : ""}${t.enabled ? "" : ", disabled"}</span></td>
        <td class="right">${count(t.hits)}</td><td class="right">${count(t.frames)}</td>
        <td><code>${t.condition ? t.condition.source || t.condition.disassembly : ""}</code></td>
        <td><code>${t.commands.length ? t.commands.filter((/** @type {string} */ c) => !c.startsWith("#")).join("\n") : t.actions.map((/** @type {any} */ a) => a.text).join("\n")}</code></td>
      </tr>`)}</tbody></table></div>
    <h2>Threads</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Threads"><table class="plain">
      <thead><tr><th scope="col">thread</th><th scope="col">name</th><th scope="col" class="right">frames</th></tr></thead>
      <tbody>${trace.threads.map((/** @type {any} */ t) => html`<tr key=${t.thread}><td><a href="#" onClick=${(/** @type {Event} */ e) => { e.preventDefault(); go({ thread: t.thread, view: "" }); }}>${
        t.id || "not known"}</a></td><td>${t.name || ""}</td><td class="right">${count(t.frames)}</td></tr>`)}</tbody></table></div>
  </div>`;
}
