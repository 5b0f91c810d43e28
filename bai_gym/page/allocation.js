/** Where the pulls go: the share of each arm, or of each true rank where the best arm differs from run to run. */

import { visibleAgents } from "./agents.js";
import { finalRows } from "./data.js";
import { table } from "./dom.js";
import { figure } from "./figure.js";
import { count } from "./format.js";
import { ink } from "./palette.js";
import { draw, frame, plain } from "./plots.js";
import { group, state } from "./state.js";

/** @param {HTMLElement} section */
export function allocation(section) {
  section.append(figure({ name: "bai-gym-pulls", label: "Shares of the pulls", render: drawShares, table: shareTable }).element);
}

/** The rows by true rank; where no row knows it (an earlier version wrote them), those by arm. */
function rowsShown() {
  const shown = new Set(visibleAgents());
  const rows = finalRows(group(), state.env, state.budget)
    .filter((row) => shown.has(row.agent) && row.share)
    .sort((a, b) => a.agent - b.agent);
  const byRank = rows.some((row) => row.byRank);
  const names = byRank ? [] : group().armNames[state.env];
  const label = (arm) => names[arm] ?? String(arm + (byRank ? 1 : 0));
  return { byRank, named: names.length > 0, label, rows: rows.filter((row) => row.byRank === byRank) };
}

function drawShares(plot) {
  const { byRank, named, label, rows } = rowsShown();
  const arms = group().arms[state.env];
  const names = rows.map((row) => plain(group().agents[row.agent]));
  const narrow = plot.clientWidth < 560;
  draw(
    plot,
    [
      {
        type: "heatmap",
        z: rows.map((row) => row.share.map((share) => share / 100)),
        x: Array.from({ length: arms }, (_, arm) => (named ? plain(label(arm)) : arm + (byRank ? 1 : 0))),
        y: names,
        colorscale: [[0, ink("--shade-0")], [0.5, ink("--shade-1")], [1, ink("--shade-2")]], // one hue, so that no pair of colours is mixed up
        zmin: 0,
        zmax: Math.max(...rows.flatMap((row) => row.share), 1) / 100,
        xgap: arms <= 64 && !narrow ? 1 : 0,
        ygap: 2,
        colorbar: { title: { text: "% of pulls", side: "right" }, thickness: 12, outlinewidth: 0, ticksuffix: " %", ...(narrow ? { orientation: "h", nticks: 4, yref: "container", y: 0, yanchor: "bottom", x: 0.5, title: { text: "" } } : {}) },
        hovertemplate: `<b>%{y}</b><br>${byRank ? "true rank" : "arm"} %{x}<br>%{z:.2f} % of its pulls<extra></extra>`,
      },
    ],
    frame({
      height: 110 + 34 * Math.max(rows.length, 1) + (narrow ? 70 : 0),
      margin: { l: 8, r: 8, t: 8, b: narrow ? 110 : 44 },
      xaxis: { title: { text: byRank ? "true rank of the arm" : "arm" }, showgrid: false, ...(named ? { type: "category" } : {}), dtick: [1, 2, 5, 10, 20, 50, 100].find((step) => arms / step <= (narrow ? 8 : 20)) ?? 500, tickangle: named ? "auto" : 0 },
      yaxis: { autorange: "reversed", showgrid: false, ticks: "", type: "category" },
    }),
  );
  const where = `${group().envs[state.env]}, budget ${count(state.budget)}`;
  return {
    label: `Share of the pulls that each of ${arms} arms gets from ${rows.length} agents, ${where}. The same numbers are in the table below.`,
    sentence: `${where}: what share of its pulls each agent gives to ${byRank ? "the arm of each true rank (1: the best arm of the run)" : named ? "each arm" : "each arm (counted from 0)"}, averaged over all runs.`,
  };
}

function shareTable() {
  const { byRank, label, rows } = rowsShown();
  const arms = Array.from({ length: group().arms[state.env] }, (_, arm) => arm);
  return table(
    "Share of the pulls, in %",
    [byRank ? "True rank" : "Arm", ...rows.map((row) => group().agents[row.agent])],
    arms.map((arm) => [label(arm), ...rows.map((row) => (row.share[arm] / 100).toFixed(2))]),
  );
}
