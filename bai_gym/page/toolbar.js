/** The choices that hold for the whole page: comparison, environment, budget. */

import { budgetsOf, report } from "./data.js";
import { choice, h } from "./dom.js";
import { count } from "./format.js";
import { choose, group, onChange, state } from "./state.js";

/** @returns {HTMLElement} the toolbar */
export function toolbar() {
  const place = h("div", { class: "toolbar", role: "group", "aria-label": "What is shown below" });
  const fields = {};
  const build = () => {
    const focused = Object.keys(fields).find((name) => fields[name].contains(document.activeElement));
    if (report.groups.length > 1) {
      fields.group = choice("Comparison", report.groups.map((g, i) => ({ value: String(i), text: g.title })), String(state.group), (value) =>
        choose({ group: Number(value) }),
      );
    }
    fields.env = choice("Environment", group().envs.map((name, i) => ({ value: String(i), text: name })), String(state.env), (value) =>
      choose({ env: Number(value) }),
    );
    const budgets = budgetsOf(group(), state.env);
    fields.budget = choice("Budget", budgets.map((b) => ({ value: String(b), text: `${count(b)} pulls` })), String(state.budget), (value) =>
      choose({ budget: Number(value) }),
    );
    place.replaceChildren(...Object.values(fields));
    if (focused) fields[focused].querySelector("select").focus();
  };
  onChange((change) => {
    if ("group" in change || "env" in change || "budget" in change) build();
  });
  build();
  return place;
}
