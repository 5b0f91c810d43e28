/** The answer: which agent is best, and where it cannot be told apart; then the table over all environments, or budgets. */

import { knowledgeOf } from "./agents.js";
import { budgetsOf, report } from "./data.js";
import { estimate, h, scrollBox, table } from "./dom.js";
import { brief, count, knowledgeText, many, withInterval } from "./format.js";
import { group, onChange } from "./state.js";
import { named } from "./swatch.js";
import { onTheme } from "./theme.js";

/** @param {HTMLElement} section */
export function overall(section) {
  const render = () => {
    const { summary, scores, envs } = group();
    const parts = [
      summary && h("p", { class: "answer" }, summary),
      scores?.rows ? scoreTable(scores) : envs.length === 1 && overBudgets(0),
      facts(),
    ];
    section.replaceChildren(section.firstChild, ...parts.filter(Boolean));
  };
  onChange((change) => "group" in change && render());
  onTheme(render);
  render();
}

function scoreTable(found) {
  const [least, most] = found.runs;
  const left = found.leftOut ? ` ${many(found.leftOut, "task is", "tasks are")} left out, because not all agents have played them.` : "";
  const without = found.without.length ? ` Without agents that have played fewer tasks: ${found.without.join(", ")}.` : "";
  const cells = (row) => [row.iqm, row.mean, row.median, row.gap].map((found) => (found[1] === null ? brief(found[0]) : estimate(withInterval(...found))));
  const headings = ["Agent", "Interquartile mean [95 %]", "Mean [95 %]", "Median [95 %]", "Optimality gap [95 %]", "Oracle knowledge"];
  const caption = `Scores over ${many(found.tasks, "task")}`;
  return h(
    "div",
    {},
    scrollBox(
      caption,
      h(
        "table",
        {},
        h("caption", {}, caption),
        h("thead", {}, h("tr", {}, headings.map((text, i) => h("th", { scope: "col", class: i > 0 && i < 5 && "number" }, text)))),
        h("tbody", {}, found.rows.map((row) => h("tr", {}, h("th", { scope: "row" }, named(row.agent)), cells(row).map((text) => h("td", { class: "number" }, text)), h("td", {}, knowledgeText(knowledgeOf(row.agent)))))),
      ),
    ),
    h("p", { class: "reading" }, `A task is an environment with a budget, with ${least === most ? count(least) : `${count(least)} to ${count(most)}`} runs of each agent. ${capital(found.description)}. The interquartile mean leaves out the lowest and the highest quarter of the tasks; the optimality gap is what is missing to 1. Intervals: bootstrap of whole runs.${left}${without}`),
  );
}

function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}

/**
 * The leaderboard over all budgets of an environment.
 * @param {number} env
 * @returns {?HTMLElement} null where there is none
 */
export function overBudgets(env) {
  const board = group().overall.find((found) => found.env === env);
  if (!board) return null;
  const gaps = board.rows.some((row) => row.gap);
  const left = board.leftOut.map((agent) => group().agents[agent]);
  const rows = board.rows.map((row) => [
    named(row.agent),
    estimate(`${row.rank} ${row.rankLow === row.rankHigh ? `[${row.rankLow}]` : `[${row.rankLow}, ${row.rankHigh}]`}`),
    row.low === null ? brief(row.error) : estimate(withInterval(row.error, row.low, row.high)),
    ...(gaps ? [row.gap ? estimate(withInterval(...row.gap)) : "unknown"] : []),
    knowledgeText(knowledgeOf(row.agent)),
  ]);
  const headings = ["Agent", "Rank", "Mean error probability [95 %]", ...(gaps ? ["Excess error [95 %]"] : []), "Oracle knowledge"];
  return h(
    "div",
    {},
    table(`${group().envs[env]}, mean over the budgets ${board.budgets.map(count).join(", ")}`, headings, rows),
    left.length ? h("p", { class: "reading" }, `Not in it, since not played at all budgets: ${left.join(", ")}.`) : null,
  );
}

/** The size of the comparison. */
function facts() {
  const shown = group();
  const tasks = shown.envs.reduce((sum, _, env) => sum + budgetsOf(shown, env).length, 0);
  const runs = shown.rows.filter((row) => row.last).map((row) => row.runs);
  const [least, most] = [Math.min(...runs), Math.max(...runs)];
  const entries = {
    Agents: count(shown.agents.length),
    Environments: count(shown.envs.length),
    [tasks === 1 ? "Budget" : "Environments × budgets"]: tasks === 1 ? `${count(shown.rows[0].budget)} pulls` : count(tasks),
    "Runs of each": least === most ? count(least) : `${count(least)} to ${count(most)}`,
    "Episodes played": count(runs.reduce((a, b) => a + b, 0)),
    [shown.seeds.length > 1 ? "Seeds" : "Seed"]: shown.seeds.join(", ") || "unknown",
    "bai-gym": report.version,
  };
  return h("dl", { class: "facts" }, Object.entries(entries).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}
