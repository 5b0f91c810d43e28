/** The top of the page: the choice of a comparison. */

import { report } from "./data.js";
import { h } from "./dom.js";
import { count, many } from "./format.js";
import { group, onChange } from "./state.js";
import { themeButton } from "./theme.js";

/** @param {HTMLElement} place */
export function heading(place) {
  const title = h("h1");
  const facts = h("dl", { class: "facts" });
  place.append(h("div", { class: "title" }, title, themeButton()), facts);
  for (const note of report.notes) place.append(h("p", { class: "notice" }, note));
  const render = () => {
    const shown = group();
    const budgets = new Set(shown.rows.map((row) => `${row.env} ${row.budget}`)).size;
    const ends = shown.rows.filter((row) => row.last);
    const runs = ends.map((row) => row.runs);
    const [least, most] = [Math.min(...runs), Math.max(...runs)];
    title.textContent = shown.envs.length === 1 ? `${many(shown.agents.length, "agent")} on ${shown.envs[0]}` : `${many(shown.agents.length, "agent")} on ${many(shown.envs.length, "environment")}`;
    if (report.groups.length > 1 && !/^\d+ environments/.test(shown.title) && shown.title !== shown.envs[0]) title.textContent = shown.title;
    document.title = `${title.textContent} · bai-gym report`;
    facts.replaceChildren(
      ...Object.entries({
        Agents: count(shown.agents.length),
        Environments: count(shown.envs.length),
        [budgets === 1 ? "Budget" : "Environments × budgets"]: budgets === 1 ? `${count(shown.rows[0].budget)} pulls` : count(budgets),
        "Runs of each": least === most ? count(least) : `${count(least)} to ${count(most)}`,
        "Episodes played": count(runs.reduce((a, b) => a + b, 0)),
        [shown.seeds.length > 1 ? "Seeds" : "Seed"]: shown.seeds.join(", ") || "unknown",
        "bai-gym": report.version,
      }).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
    );
  };
  onChange((change) => "group" in change && render());
  render();
}
