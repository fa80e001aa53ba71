// Keys: each view says which it has; the page lists them all behind "?".
import { useEffect, useRef } from "./vendor/htm-preact.js";

/** @typedef {{ help: string, do: (event: KeyboardEvent) => void }} Key */
/** @typedef {Record<string, Key>} Keys by the name of the key as in KeyboardEvent.key, with "Shift+" in front where that is not in the name */

/** @type {Set<{ current: Keys }>} */
const active = new Set();

/**
 * Has keys do something while the component is shown. They do nothing while text is typed.
 * @param {Keys} keys
 */
export function useKeys(keys) {
  const held = useRef(keys);
  held.current = keys;
  useEffect(() => {
    active.add(held);
    return () => { active.delete(held); };
  }, []);
}

/** @returns {[string, string][]} the keys that do something now, and what */
export function keyHelp() {
  const all = /** @type {[string, string][]} */ ([]);
  for (const keys of active) for (const [name, key] of Object.entries(keys.current)) if (key.help) all.push([name, key.help]);
  return all;
}

/** @param {EventTarget | null} target */
const typing = target => target instanceof HTMLElement && (target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName) ||
  target instanceof HTMLInputElement && !/^(checkbox|radio|button)$/.test(target.type));

addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (typing(event.target)) {
    if (event.key === "Escape") /** @type {HTMLElement} */ (event.target).blur();
    return;
  }
  // The view that was opened last comes first.
  for (const keys of [...active].reverse()) {
    const key = keys.current[event.key] || event.shiftKey && keys.current["Shift+" + event.key];
    if (key) {
      event.preventDefault();
      key.do(event);
      return;
    }
  }
});
