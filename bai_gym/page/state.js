/** What the reader has chosen, and who wants to know. */

import { budgetsOf, report } from "./data.js";

const listeners = new Set();

/** The choice: a comparison, an environment and budget in it, agents that are hidden, how curves are drawn. */
export const state = { group: 0, env: 0, budget: 0, hidden: new Set(), measure: null, axis: null, logY: true, logX: true };

/** @returns {Object} the comparison that is shown */
export function group() {
  return report.groups[state.group];
}

/** Changes the choice, keeps it possible, and tells everybody. */
export function choose(change) {
  Object.assign(state, change);
  if ("group" in change) Object.assign(state, { env: 0, axis: null, hidden: new Set() });
  const budgets = budgetsOf(group(), state.env);
  if (!budgets.includes(state.budget)) state.budget = budgets.at(-1);
  for (const listener of [...listeners]) listener(change);
}

/** Calls back after every change. */
export function onChange(listener) {
  listeners.add(listener);
}
