// The page of comparisons.
import { html } from "./vendor/htm-preact.js";

/** @param {{ page: import("./app.js").Page }} props */
export function ComparisonPage({ page }) {
  return html`<main><p class="wait">${page.title}</p></main>`;
}
