/** The horizontal axes of curves: what differs between the rows of a comparison. */

import { budgetsOf } from "./data.js";

/**
 * @typedef {Object} Axis
 * @property {string} id
 * @property {string} text label of the choice
 * @property {string} title of the axis
 * @property {(row: Object) => boolean} of whether a row lies on these curves
 * @property {(row: Object) => number|string} at where
 * @property {string[]} [categories] names, where places are no numbers
 */

/**
 * @param {Object} group
 * @param {number} env the chosen environment
 * @param {number} budget the chosen budget
 * @returns {Axis[]} at least one; the most informative one first
 */
export function axesOf(group, env, budget) {
  const found = [];
  const here = group.rows.filter((row) => row.env === env);
  const points = new Set(here.filter((row) => row.budget === budget && row.checkpoint !== null).map((row) => row.checkpoint));
  if (points.size > 1) {
    found.push({
      id: "checkpoint",
      text: "pulls within a run",
      title: "pulls made",
      of: (row) => row.env === env && row.budget === budget && row.checkpoint !== null,
      at: (row) => row.checkpoint,
    });
  }
  const across = acrossEnvironments(group);
  if (budgetsOf(group, env).length > 1) {
    found.push({ id: "budget", text: "budget", title: "budget (pulls)", of: (row) => row.env === env && row.last, at: (row) => row.budget });
  }
  if (across) found.push(across);
  if (found.length) return found;
  const of = (row) => row.env === env && row.budget === budget && row.last;
  return [{ id: "agent", text: "agent", title: "", of, at: (row) => group.agents[row.agent], categories: group.agents }];
}

/** Environments side by side, where each has one budget: by the one number in their names that differs, or by name. */
function acrossEnvironments(group) {
  const envs = group.envs.map((_, i) => i);
  if (envs.length < 2 || envs.some((env) => budgetsOf(group, env).length > 1)) return null;
  const numbers = differingNumber(group.envs);
  const of = (row) => row.last;
  if (numbers === null) {
    return { id: "env", text: "environment", title: "", of, at: (row) => group.envs[row.env], categories: group.envs };
  }
  const arms = numbers.values.every((value, i) => value === group.arms[i]);
  const title = arms ? "number of arms K" : numbers.name;
  return { id: "env", text: title, title, of, at: (row) => numbers.values[row.env] };
}

const NUMBER = /\d+(?:\.\d+)?(?:e[+-]?\d+)?/g;

/**
 * @param {string[]} labels such as "BAI-LinearStatic16-v0(gap=0.1)"
 * @returns {?{values: number[], name: string}} the one number in which they differ
 */
function differingNumber(labels) {
  const shapes = new Set(labels.map((label) => label.replace(NUMBER, "#")));
  if (shapes.size > 1) return null;
  const table = labels.map((label) => label.match(NUMBER) ?? []);
  const places = (table[0] ?? []).map((_, i) => i).filter((i) => new Set(table.map((row) => row[i])).size > 1);
  if (places.length !== 1 || new Set(table.map((row) => row[places[0]])).size < labels.length) return null;
  const before = [...shapes][0].split("#")[places[0]];
  const word = before.match(/([A-Za-z_]+)\W*$/)?.[1] ?? "";
  return { values: table.map((row) => Number(row[places[0]])), name: word.replaceAll("_", " ") || "number" };
}

/**
 * Round places for the labels of a logarithmic axis: 1, 2, 5, 10, ... or powers of ten where those are many.
 * @param {number[]} values that the axis shows, positive
 */
export function logTicks(values) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const powers = [];
  for (let power = Math.floor(Math.log10(least)); power <= Math.ceil(Math.log10(most)); power += 1) powers.push(power);
  const digits = powers.length > 5 ? [1] : powers.length > 2 ? [1, 2, 5] : [1, 2, 3, 4, 5, 6, 8];
  return powers.flatMap((power) => digits.map((digit) => Number((digit * 10 ** power).toPrecision(3))));
}
