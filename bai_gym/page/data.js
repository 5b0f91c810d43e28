/** Reads the data of the page. */

/**
 * @typedef {Object} Row one agent on one environment with one budget (and checkpoint)
 * @property {number} agent index into the agents of the group
 * @property {number} env index into its environments
 * @property {number} budget
 * @property {?number} checkpoint
 * @property {number} error estimated error probability
 */

const data = JSON.parse(document.getElementById("data").textContent);

/** Groups with their columns of numbers turned into rows. */
const groups = data.groups.map((group) => {
  const { rows: columns, ...rest } = group;
  const names = Object.keys(columns);
  const rows = columns.agent.map((_, i) => Object.fromEntries(names.map((name) => [name, columns[name][i]])));
  for (const row of rows) {
    row.error = row.errors / row.runs;
    row.last = row.checkpoint === null || row.checkpoint === row.budget;
  }
  return { ...rest, rows };
});

/** @returns {Object} everything: version, notes, groups, recorded, overall */
export const report = { ...data, groups };

/** @returns {number[]} budgets of an environment, ascending */
export function budgetsOf(group, env) {
  return [...new Set(group.rows.filter((row) => row.env === env).map((row) => row.budget))].sort((a, b) => a - b);
}

/** @returns {Row[]} rows at the end of the runs */
export function finalRows(group, env, budget) {
  return group.rows.filter((row) => row.env === env && row.budget === budget && row.last);
}

/**
 * Opens base64 of compressed bytes.
 * @param {string} text
 * @param {"gzip"|"deflate"} format
 * @returns {Promise<Uint8Array>}
 */
export async function decompress(text, format) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("This browser cannot open compressed data (DecompressionStream); a version from 2023 or later can.");
  }
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

let lines = null;
/** @returns {string} the packed pulls of a recorded episode */
export function packedEpisode(index) {
  lines ??= document.getElementById("recordings").textContent.split("\n");
  return lines[index];
}
