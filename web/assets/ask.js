// Questions to the server, or in a page of one file to what that carries.
import { useEffect, useRef, useState } from "./vendor/htm-preact.js";

/** @typedef {Record<string, string | number | boolean | undefined | null | string[]>} Args of a list each is an argument of that name */

/** The answers that a page of one file carries, by their questions; null in a page that a server answers. */
const carried = (() => {
  const element = document.getElementById("answers");
  return element && /** @type {Record<string, any>} */ (parse(element.textContent || "{}"));
})();

/**
 * The name of a question with its arguments, sorted; empty ones are left out. Question.Key of the server's package web is the same.
 * @param {string} name
 * @param {Args} [args]
 */
export function question(name, args = {}) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(args)) {
    if (Array.isArray(value)) for (const one of value) query.append(key, one);
    else if (value !== undefined && value !== null && value !== "" && value !== false) query.set(key, String(value));
  }
  query.sort();
  const text = query.toString();
  return text ? name + "?" + text : name;
}

/**
 * Reads an answer. Controls, and what turns the order of text around, are shown as the escapes that they are sent as, so that no name
 * looks like another.
 * @param {string} text
 */
export function parse(text) {
  return JSON.parse(text.replace(/\\\\|\\u(00(?:0[0-8bcef]|1[\da-f]|7f|[89][\da-f])|061c|200[ef]|202[a-e]|206[6-9])/gi,
    (all, code) => code ? "\\\\u" + code : all));
}

/**
 * Asks a question. The error is for the user.
 * @param {string} name
 * @param {Args} [args]
 * @param {AbortSignal} [signal] the server stops working on the answer when it is aborted
 * @returns {Promise<any>}
 */
export async function ask(name, args, signal) {
  const key = question(name, args);
  if (carried) {
    const answer = carried[key];
    if (answer === undefined) throw new Error("This page is one file and does not carry this: tracewell view FILE shows it.");
    if (answer.error && Object.keys(answer).length === 1) throw new Error(answer.error);
    return answer;
  }
  const response = await fetch("ask/" + key, { signal }).catch(error => {
    if (error.name === "AbortError") throw error;
    throw new Error("The server has ended: start tracewell view again.");
  });
  const answer = parse(await response.text());
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

/**
 * The answer to a question as a component has it: the last one stays until the next is there. A question that has been replaced by
 * another is dropped, and the server stops working on it.
 * @param {string | null} name null asks nothing
 * @param {Args} [args]
 * @returns {{ answer: any, error: string, waiting: boolean }}
 */
export function useAnswer(name, args) {
  const key = name === null ? "" : question(name, args);
  const [state, setState] = useState({ key: "", answer: /** @type {any} */ (null), error: "" });
  const latest = useRef(key);
  latest.current = key;
  useEffect(() => {
    if (name === null) return;
    const abort = new AbortController();
    ask(name, args, abort.signal).then(
      answer => latest.current === key && setState({ key, answer, error: "" }),
      error => error.name !== "AbortError" && latest.current === key && setState(old => ({ key, answer: old.answer, error: error.message })));
    return () => abort.abort();
  }, [key]);
  return { answer: name === null ? null : state.answer, error: state.key === key ? state.error : "", waiting: state.key !== key };
}

/**
 * Rows that are asked for in blocks, as a table of any length needs them. The server answers {total, rows} with at most `size` rows, and
 * with fewer as long as it has not found more: a block is asked for again when a row is wanted that it lacks.
 */
export class Blocks {
  /**
   * @param {string} name
   * @param {Args} args
   * @param {number} size
   * @param {() => void} changed is called when rows have come
   * @param {Blocks} [earlier] the same rows as they were, which are shown until these have come
   */
  constructor(name, args, size, changed, earlier) {
    this.name = name;
    this.args = args;
    this.size = size;
    this.changed = changed;
    this.earlier = earlier;
    if (earlier) earlier.earlier = undefined;
    /** @type {Map<number, any[] | "asked">} */
    this.blocks = new Map();
    /** @type {Set<number>} blocks on their way */
    this.asked = new Set();
    /** @type {Set<number>} blocks of which there may be more */
    this.partial = new Set();
    this.error = "";
    this.total = 0; // rows that are known to be there
    this.abort = new AbortController();
  }

  /** @param {number} i @returns {any} the row, or undefined until it has come */
  row(i) {
    const block = Math.floor(i / this.size);
    const rows = this.blocks.get(block);
    if (rows === undefined || this.partial.has(block) && i - block * this.size >= rows.length) this.#ask(block);
    return rows === undefined || rows === "asked" ? this.earlier?.known(i) : rows[i - block * this.size];
  }

  /** @param {number} i @returns {any} the row if it has come, without asking for it */
  known(i) {
    const rows = this.blocks.get(Math.floor(i / this.size));
    return i < 0 || rows === undefined || rows === "asked" ? undefined : rows[i % this.size];
  }

  /** @param {number} block */
  #ask(block) {
    // Blocks far away are forgotten, so that a page stays small however far it is scrolled.
    if (this.blocks.size > 64) {
      for (const known of this.blocks.keys()) if (Math.abs(known - block) > 16) this.blocks.delete(known);
    }
    // What has come of a block is shown until all of it has.
    if (!this.blocks.has(block)) this.blocks.set(block, "asked");
    if (this.asked.has(block)) return;
    this.asked.add(block);
    ask(this.name, { ...this.args, block }, this.abort.signal).then(answer => {
      this.asked.delete(block);
      this.blocks.set(block, answer.rows);
      if (answer.done === false && answer.rows.length < this.size) this.partial.add(block);
      else this.partial.delete(block);
      this.total = Math.max(this.total, answer.total);
      this.changed();
    }, error => {
      if (error.name === "AbortError") return;
      this.error = error.message;
      this.changed();
    });
  }

  /** Ends what has been asked and not answered. */
  close() { this.abort.abort(); }
}
