// The page of executions.
import { html } from "./vendor/htm-preact.js";

/** @param {{ page: import("./app.js").Page }} props */
export function ExecutionPage({ page }) {
  return html`<main><p class="wait">${page.title}</p></main>`;
}
