// The page of a trace file.
import { html } from "./vendor/htm-preact.js";

/** @param {{ page: import("./app.js").Page }} props */
export function FramesPage({ page }) {
  return html`<main><p class="wait">${page.title}</p></main>`;
}
