// The page: asks what it is about, and has the module of that kind show it.
import { html, render, useEffect, useRef, useState } from "./vendor/htm-preact.js";
import { ask } from "./ask.js";
import { keyHelp, useKeys } from "./keys.js";
import { ComparisonPage } from "./comparison.js";
import { ExecutionPage } from "./execution.js";
import { FramesPage } from "./frames.js";

/** @typedef {{ kind: string, title: string, version: string, static: boolean, live: boolean }} Page wire.Page of the server */

/** @type {Record<string, (props: { page: Page }) => any>} */
const kinds = { frames: FramesPage, comparison: ComparisonPage, execution: ExecutionPage };

const themes = ["auto", "light", "dark"];

/** @type {Record<string, string>} */
const signs = { auto: "◐", light: "○", dark: "●" };

/** Remembers a choice; a page of one file may not be allowed to. @param {string} theme */
function remember(theme) {
  try { localStorage.setItem("theme", theme); } catch { /* it is forgotten */ }
}

function remembered() {
  try { return localStorage.getItem("theme") || "auto"; } catch { return "auto"; }
}

const darkSystem = matchMedia("(prefers-color-scheme: dark)");

/** @param {string} theme */
function wear(theme) {
  const dark = theme === "dark" || theme === "auto" && darkSystem.matches;
  document.documentElement.dataset.colours = dark ? "dark" : "light";
  dispatchEvent(new Event("theme")); // what is drawn on a canvas has to be drawn again
}

darkSystem.addEventListener("change", () => wear(remembered()));

/** The list of keys. @param {{ page: Page, close: () => void }} props */
function Help({ page, close }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => dialog.current?.showModal(), []);
  return html`<dialog ref=${dialog} class="help" onClose=${close} aria-label="Keys">
    <h2>Keys</h2>
    <dl>${keyHelp().map(([key, help]) => html`<div key=${key}><dt><kbd>${key}</kbd></dt><dd>${help}</dd></div>`)}</dl>
    <p class="faint">${page.version}, with the libraries ${["htm", "preact", "uplot"].map(name => html`<a key=${name} target="_blank"
      href=${page.static ? undefined : `vendor/LICENSE-${name}.txt`}>${name}</a> `)}</p>
    <form method="dialog"><button autofocus>Close</button></form>
  </dialog>`;
}

/** @param {{ page: Page }} props */
function Shell({ page }) {
  const [theme, setTheme] = useState(remembered);
  const [help, setHelp] = useState(false);
  const change = () => setTheme(themes[(themes.indexOf(theme) + 1) % themes.length]);
  useEffect(() => { wear(theme); remember(theme); }, [theme]);
  useKeys({
    "?": { help: "this list", do: () => setHelp(true) },
    "T": { help: "light or dark", do: change },
  });
  const Kind = kinds[page.kind];
  return html`
    <header class="top">
      <span class="brand">Tracewell</span>
      <h1 title=${page.title}><bdi>${page.title}</bdi></h1>
      ${page.static && html`<span class="tag">one file</span>`}
      <span class="gap"></span>
      <button class="quiet" onClick=${change} aria-label=${"Colours: " + theme} title=${"Colours: " + theme}>${signs[theme]}</button>
      <button class="quiet" onClick=${() => setHelp(true)} aria-label="Keys">?</button>
    </header>
    <${Kind} page=${page} />
    ${help && html`<${Help} page=${page} close=${() => setHelp(false)} />`}`;
}

wear(remembered());
const root = /** @type {HTMLElement} */ (document.getElementById("page"));
ask("page").then(page => {
  document.title = page.title + " – Tracewell";
  root.textContent = "";
  render(html`<${Shell} page=${page} />`, root);
}, error => {
  root.textContent = error.message;
});
