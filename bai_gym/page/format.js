/** Formats numbers for display. */

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** @returns {string} 12345 as "12,345" */
export function count(value) {
  return whole.format(value);
}

/** Decimals that show two digits of an uncertainty, as in the tables of the command line. */
function decimals(uncertainty) {
  if (!(Number.isFinite(uncertainty) && uncertainty > 0)) return 4;
  return Math.min(Math.max(1 - Math.floor(Math.log10(uncertainty)), 2), 8);
}

/** @returns {string} such as "0.123 [0.101, 0.149]" */
export function withInterval(value, low, high) {
  const places = decimals((high - low) / 2);
  return `${fixed(value, places)} [${fixed(low, places)}, ${fixed(high, places)}]`;
}

/** @returns {string} such as "0.0123 ± 0.0011" */
export function withError(value, error) {
  const places = decimals(error);
  return `${fixed(value, places)} ± ${error === null ? "unknown" : fixed(error, places)}`;
}

/** A fixed number of decimals, with a true minus sign. */
export function fixed(value, places) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "unknown";
  const text = value.toFixed(places);
  return text.startsWith("-") ? `\u2212${text.slice(1)}` : text;
}

/** Three digits, without trailing zeros. */
export function brief(value) {
  if (!Number.isFinite(value)) return "unknown";
  return String(Number(value.toPrecision(3))).replace("-", "\u2212");
}

/** @returns {string} such as "0.05" or "a, b" or "none" */
export function knowledgeText(list) {
  return list.length ? list.join(", ") : "none";
}

/** "1 arm", "2 arms". */
export function many(number, one, several = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : several}`;
}
