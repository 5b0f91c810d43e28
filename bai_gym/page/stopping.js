/** Stopping times of agents that decide when to stop: the share of runs that have not stopped yet. */

import { visibleAgents } from "./agents.js";
import { finalRows } from "./data.js";
import { table } from "./dom.js";
import { count } from "./format.js";
import { look } from "./palette.js";
import { draw, frame, plain } from "./plots.js";
import { group, state } from "./state.js";

/** @returns {Object[]} the rows with stopping times in the chosen environment, with the chosen cap */
export function stoppingRows() {
  return finalRows(group(), state.env, state.budget).filter((row) => row.stopping);
}

function rowsShown() {
  const shown = new Set(visibleAgents());
  return stoppingRows().filter((row) => shown.has(row.agent));
}

/** Draws a step curve for each agent; one that does not come down to 0 ends at the share of runs stopped by the cap. */
export function drawStopping(plot) {
  const rows = rowsShown();
  const least = Math.min(...rows.map((row) => row.stopping[0][0])) / 1.1;
  const traces = rows.map((row) => {
    const { colour, dash } = look(row.agent);
    const [at, share] = row.stopping;
    return {
      type: "scatter",
      mode: "lines",
      x: [least, ...at],
      y: [1, ...share],
      line: { color: colour, width: 2, dash, shape: "hv" },
      hovertemplate: `<b>${plain(group().agents[row.agent])}</b><br>%{x:,.0f} pulls: %{y:.1%} of the runs have not stopped<extra></extra>`,
    };
  });
  draw(
    plot,
    traces,
    frame({
      height: 430,
      hovermode: "closest",
      xaxis: { title: { text: "pulls" }, type: state.logX ? "log" : "linear" },
      yaxis: { title: { text: "share of runs that have not stopped" }, range: [0, 1.02], tickformat: ".0%" },
    }),
  );
  const where = `${group().envs[state.env]}, at most ${count(state.budget)} pulls`;
  return {
    label: `Share of the runs of ${rows.length} agents that have not stopped after a number of pulls, ${where}. The same numbers are in the table below.`,
    sentence: `${where}. Further left is better: an agent stops when it is confident of its recommendation. A curve that reaches the cap ends at the share of runs stopped by it.`,
  };
}

/** @returns {string} how many more pulls than the agent with the fewest, with interval and p-value */
export function morePulls(row) {
  if (!row.morePulls) return stoppingRows().length > 1 && row.stopping ? "fewest" : "";
  const [difference, low, high, p] = row.morePulls;
  const signed = (value) => (value === null ? "unknown" : `${value < 0 ? "\u2212" : "+"}${count(Math.abs(value))}`);
  return `${signed(difference)} [${signed(low)}, ${signed(high)}], p ${p < 1e-4 ? "< 0.0001" : `= ${p.toFixed(4)}`}`;
}

/** @returns {string} runs that the cap ended count with the cap, which makes the mean too small */
export function censored(row) {
  return row.truncated ? "at least " : "";
}

/** @returns {string} the mean number of pulls over its lower bound */
export function overBound(row) {
  return row.overBound === null ? "unknown" : `${censored(row)}${row.overBound.toFixed(2)}`;
}

export function stoppingTable() {
  return table(
    "Number of pulls",
    ["Agent", "Mean", "Median", "25 %", "75 %", "95 %", "99 %", "Maximum", "Stopped by the cap", "Delta", "Mean / lower bound", "More than the fewest [95 %], paired t-test"],
    rowsShown().map((row) => [
      group().agents[row.agent],
      `${censored(row)}${count(row.pulls)}`,
      count(row.pullsMedian),
      ...[1, 3, 4, 5, 6].map((place) => (row.pullsQuantiles[place] === null ? "unknown" : count(row.pullsQuantiles[place]))),
      `${((100 * row.truncated) / row.runs).toFixed(1)} %`,
      row.delta ?? "",
      overBound(row),
      morePulls(row),
    ]),
  );
}
