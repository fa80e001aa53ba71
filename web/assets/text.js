// How numbers and times are written.

const grouped = new Intl.NumberFormat("en-US");

/** A count with commas. @param {number} n */
export const count = n => grouped.format(n);

/** A value at an axis. What is as large as this is an address, and read as one. @param {number} n */
export const number = n => Math.abs(n) >= 2 ** 40 && Number.isSafeInteger(n) ? "0x" + n.toString(16) : grouped.format(n);

/** @param {number} n @param {string} noun */
export const plural = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;

/** Trace files count from 1970, or by the clock of a stub: only what lies after 2000 is a date. */
const epoch = 946684800e6;

/**
 * A time as show prints it: the time of day, or the number where it is no date.
 * @param {number | null | undefined} microseconds
 */
export function clock(microseconds) {
  if (microseconds === null || microseconds === undefined) return "";
  if (microseconds < epoch) return String(microseconds);
  const date = new Date(microseconds / 1000);
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(microseconds % 1e6).padStart(6, "0")}`;
}

/** A duration with its unit. @param {number} microseconds */
export function duration(microseconds) {
  const n = Math.abs(microseconds);
  const short = (/** @type {number} */ v) => String(Number(v.toPrecision(4)));
  if (n >= 60e6) return short(microseconds / 60e6) + " min";
  if (n >= 1e6) return short(microseconds / 1e6) + " s";
  if (n >= 1e3) return short(microseconds / 1e3) + " ms";
  return short(microseconds) + " µs";
}

/** The least of 1, 2, 5, 10 … that makes at most so many steps. @param {number} span @param {number} most */
export function step(span, most) {
  const power = 10 ** Math.floor(Math.log10(Math.max(span / Math.max(most, 1), 1e-9)));
  return [1, 2, 5, 10].map(n => n * power).find(n => span / n <= most) || power * 10;
}
