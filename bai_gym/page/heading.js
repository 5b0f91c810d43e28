/** The top of the page: the choice of a comparison. */

import { report } from "./data.js";
import { h } from "./dom.js";
import { many } from "./format.js";
import { group, onChange } from "./state.js";
import { themeButton } from "./theme.js";

/** @param {HTMLElement} place */
export function heading(place) {
  const title = h("h1");
  place.append(h("div", { class: "title" }, title, themeButton()));
  for (const note of report.notes) place.append(h("p", { class: "notice" }, note));
  const render = () => {
    const shown = group();
    const where = shown.envs.length === 1 ? shown.envs[0] : many(shown.envs.length, "environment");
    title.replaceChildren(`${many(shown.agents.length, "agent")} on `, h("span", { class: "whole" }, where)); // ids have hyphens, and are not broken there
    if (report.groups.length > 1 && !/^\d+ environments/.test(shown.title) && shown.title !== shown.envs[0]) title.textContent = shown.title;
    document.title = `${title.textContent} · bai-gym report`;
  };
  onChange((change) => "group" in change && render());
  render();
}
