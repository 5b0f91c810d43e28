/** The leaderboard: a sortable table for the chosen environment and budget. */

import { knowledgeOf } from "./agents.js";
import { budgetsOf, finalRows } from "./data.js";
import { estimate, h, scrollBox, svg } from "./dom.js";
import { count, knowledgeText, withError, withInterval } from "./format.js";
import { overBudgets } from "./overall.js";
import { look } from "./palette.js";
import { copyButton } from "./rerun.js";
import { group, onChange, state } from "./state.js";
import { censored, morePulls, overBound } from "./stopping.js";
import { named } from "./swatch.js";
import { onTheme } from "./theme.js";

let order = { column: "error", down: false };

/** @param {HTMLElement} section */
export function leaderboard(section) {
  const place = h("div");
  const words_ = h("p", { class: "reading" });
  section.append(words_, place);
  const render = (focus) => {
    const rows = finalRows(group(), state.env, state.budget);
    const columns = columnsOf(rows);
    if (!columns.some((column) => column.id === order.column)) order = { column: "error", down: false };
    const column = columns.find((c) => c.id === order.column);
    const sorted = [...rows].sort((a, b) => compare(column.key(a), column.key(b)) * (order.down ? -1 : 1) || a.error - b.error || a.agent - b.agent);
    words_.textContent = reading(rows);
    const caption = `${group().envs[state.env]}, budget ${count(state.budget)}`;
    const head = h("tr", {}, columns.map((c) => heading(c, render)));
    const body = sorted.map((row) => h("tr", {}, columns.map((c) => h(c.id === "agent" ? "th" : "td", { class: c.class, scope: c.id === "agent" && "row" }, c.cell(row)))));
    const board = h("table", { class: "leaderboard" }, h("caption", {}, caption), h("thead", {}, head), h("tbody", {}, body));
    place.replaceChildren(scrollBox(`Leaderboard: ${caption}`, board), footnotes(rows), allBudgets());
    if (focus) place.querySelector(`[data-column="${focus}"]`)?.focus();
  };
  onChange((change) => {
    if ("group" in change || "env" in change || "budget" in change) render();
  });
  onTheme(() => render());
  render();
}

function compare(a, b) {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1;
  if (b === null || b === undefined) return -1;
  return a < b ? -1 : 1;
}

function heading(column, render) {
  const active = order.column === column.id;
  const attributes = { scope: "col", class: column.class, "aria-sort": active && (order.down ? "descending" : "ascending") };
  if (!column.sorts) return h("th", attributes, column.text);
  const press = () => {
    order = { column: column.id, down: active && !order.down };
    render(column.id);
  };
  return h("th", attributes, h("button", { type: "button", class: "sort", "data-column": column.id, onclick: press }, column.text));
}

/** The columns that are relevant here. */
function columnsOf(rows) {
  const varies = rows.some((row) => row.truncated || row.pullsLow !== row.pullsHigh);
  const right = "number";
  const bars = scale(rows);
  return [
    rows.some((row) => row.rank !== null) && { id: "rank", text: "Rank", class: right, sorts: true, key: (row) => row.rank, cell: rank },
    { id: "agent", text: "Agent", sorts: true, key: (row) => group().agents[row.agent].toLowerCase(), cell: name },
    { id: "error", text: "Error probability [95 %]", class: right, sorts: true, key: (row) => row.error, cell: (row) => estimate(withInterval(row.error, row.low, row.high)) },
    { id: "bar", class: "interval-picture", text: h("span", { class: "hidden" }, "Picture of the interval"), cell: (row) => bar(row, bars) },
    { id: "knows", text: "Oracle knowledge", sorts: true, key: (row) => knowledgeText(group().knows[row.knows]), cell: knowledge },
    rows.some((row) => row.gap !== null) && {
      id: "gap",
      text: "Excess error [95 %]",
      class: right,
      sorts: true,
      key: (row) => row.gap,
      cell: (row) => (row.gap === null ? "unknown" : estimate(withInterval(row.gap, row.gapLow, row.gapHigh))),
    },
    { id: "regret", text: "Simple regret ± se", class: right, sorts: true, key: (row) => row.regret, cell: (row) => estimate(withError(row.regret, row.regretSe)) },
    varies && {
      id: "pulls",
      text: "Pulls: mean / median / 95 %",
      class: right,
      sorts: true,
      key: (row) => row.pulls,
      cell: (row) => `${censored(row)}${count(row.pulls)} / ${count(row.pullsMedian)} / ${count(row.pullsHigh)}`,
    },
    rows.some((row) => row.delta !== null) && { id: "delta", text: "Delta", class: right, sorts: true, key: (row) => row.delta, cell: (row) => row.delta ?? "" },
    rows.some((row) => row.overBound !== null) && { id: "bound", text: "Mean pulls / lower bound", class: right, sorts: true, key: (row) => row.overBound, cell: overBound },
    rows.some((row) => row.morePulls) && { id: "more", text: "More pulls than the fewest [95 %]", class: right, sorts: true, key: (row) => row.pulls, cell: morePulls },
    rows.some((row) => row.favourite) && { id: "favourite", text: "Most recommended", sorts: true, key: (row) => row.favourite?.[0] ?? "", cell: (row) => (row.favourite ? `${row.favourite[0]} (${Math.round(100 * row.favourite[1])} %)` : "") },
    rows.some((row) => row.truncated) && { id: "truncated", text: "Stopped by the cap", class: right, sorts: true, key: (row) => row.truncated / row.runs, cell: (row) => `${((100 * row.truncated) / row.runs).toFixed(1)} %` },
    { id: "rerun", text: "Run it again", cell: (row) => copyButton(group().reruns[row.rerun], group().agents[row.agent]) },
  ].filter(Boolean);
}

const LOWER_BOUND = " Lower bound: kl(delta, 1 \u2212 delta) T*, from the true means; no agent that errs with probability at most delta on all instances takes fewer pulls on average.";

function rank(row) {
  if (row.rank === null) return "";
  const range = row.rankLow === row.rankHigh ? `[${row.rankLow}]` : `[${row.rankLow}, ${row.rankHigh}]`;
  return estimate(`${row.rank} ${range}`);
}

function name(row) {
  const marks = row.notes.map((note) => noteNumber(row, note)).join(", ");
  return named(row.agent, marks && h("sup", {}, marks));
}

function knowledge(row) {
  const known = group().knows[row.knows];
  return known.length ? known.map((word) => h("span", { class: "chip" }, word)) : h("span", { class: "faint" }, "none");
}

let noteOrder = [];  // notes of the rows that are shown, in their order
function noteNumber(row, note) {
  return String(noteOrder.indexOf(note) + 1);
}

function footnotes(rows) {
  return noteOrder.length ? h("ol", { class: "footnotes" }, noteOrder.map((note) => h("li", {}, group().notes[note]))) : h("span");
}

function reading(rows) {
  noteOrder = [...new Set(rows.flatMap((row) => row.notes))];
  const runs = [...new Set(rows.map((row) => row.runs))];
  const each = runs.length === 1 ? `${count(runs[0])} runs` : `${count(Math.min(...runs))} to ${count(Math.max(...runs))} runs`;
  const ranked = rows.some((row) => row.rank !== null);
  const stops = rows.some((row) => row.truncated || row.pullsLow !== row.pullsHigh);
  const best = group().best[group().envs[state.env]];
  const kind = group().rewards[state.env];
  const when = stops ? `when it stops by itself, at the latest after ${count(state.budget)} pulls` : `after ${count(state.budget)} pulls`;
  return `How often each agent recommends wrongly ${when}: ${each} each, on the same drawn instances. Brackets: Wilson intervals at 95 %${
    ranked ? ", and the ranks that the runs leave possible" : ""
  }. Oracle knowledge makes the task easier.${kind ? ` Rewards: ${kind}.` : ""}${best ? ` ${best}` : ""}${rows.some((row) => row.overBound !== null) ? LOWER_BOUND : ""}`;
}

/** The same over all budgets of the environment, collapsed; where it is the only one, the page begins with it. */
function allBudgets() {
  const board = group().envs.length > 1 && overBudgets(state.env);
  return board ? h("details", {}, h("summary", {}, `Leaderboard over all ${count(budgetsOf(group(), state.env).length)} budgets of this environment`), board) : h("span");
}

/** The bars share one scale, from 0 to the largest upper end. */
function scale(rows) {
  return Math.max(...rows.map((row) => row.high), 1e-9);
}

function bar(row, top) {
  const x = (value) => 4 + (112 * value) / top;
  const { colour } = look(row.agent);
  return svg(
    "svg",
    { class: "bar", width: 120, height: 16, viewBox: "0 0 120 16", "aria-hidden": "true", focusable: "false" },
    svg("path", { d: "M4 8H116", stroke: "var(--line)", "stroke-width": 1 }),
    svg("path", { d: `M${x(row.low)} 8H${x(row.high)}`, stroke: colour, "stroke-width": 5, "stroke-linecap": "round", opacity: 0.35 }),
    svg("circle", { cx: x(row.error), cy: 8, r: 4, fill: colour }),
  );
}
