// What is looked at, in the address of the page behind the #, so that a link leads to the same again.
import { useEffect, useState } from "./vendor/htm-preact.js";

/** @typedef {Record<string, string>} Route */

/** @returns {Route} */
export function route() { return Object.fromEntries(new URLSearchParams(location.hash.slice(1))); }

/**
 * Changes some of the route; an empty value takes a name out.
 * @param {Record<string, string | number | null | undefined>} changes
 * @param {boolean} [replace] without a step in the browser's history, as for each letter that is typed
 */
export function go(changes, replace = false) {
  const query = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === "") query.delete(name);
    else query.set(name, String(value));
  }
  const hash = "#" + query.toString();
  if (hash === (location.hash || "#")) return;
  history[replace ? "replaceState" : "pushState"](null, "", hash);
  dispatchEvent(new Event("route"));
}

/** @returns {Route} the route, also when it has changed */
export function useRoute() {
  const [current, set] = useState(route);
  useEffect(() => {
    const changed = () => set(route());
    for (const name of ["route", "popstate", "hashchange"]) addEventListener(name, changed);
    return () => { for (const name of ["route", "popstate", "hashchange"]) removeEventListener(name, changed); };
  }, []);
  return current;
}

/** Names as one value of the route: with commas between them, and a backslash in front of those within a name. @param {string[]} names */
export const joined = names => names.map(name => name.replace(/[\\,]/g, "\\$&")).join(",");

/** The names that joined has put together. @param {string | undefined} text @returns {string[]} */
export const parted = text => (text?.match(/(?:\\.|[^\\,])+/gs) || []).map(name => name.replace(/\\(.)/gs, "$1"));
