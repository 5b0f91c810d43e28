/** The legend: a checkbox for each agent, which shows or hides it in all pictures. */

import { checkbox, h } from "./dom.js";
import { words } from "./format.js";
import { choose, group, onChange, state } from "./state.js";
import { swatch } from "./swatch.js";

/** @returns {HTMLElement} the legend; it follows the choice */
export function agentToggles() {
  const list = h("div", { class: "toggles" });
  const all = h("button", { type: "button", class: "quiet", onclick: () => choose({ hidden: new Set() }) }, "Show all");
  const none = h("button", { type: "button", class: "quiet", onclick: () => choose({ hidden: new Set(group().agents) }) }, "Hide all");
  const box = h("fieldset", { class: "agents" }, h("legend", {}, "Agents in the pictures"), list, h("div", { class: "pair" }, all, none));
  let shown = null;
  const boxes = new Map();
  const show = () => {
    if (shown !== group()) {
      shown = group();
      boxes.clear();
      list.replaceChildren(...shown.agents.map((name, i) => toggle(name, i, boxes)));
    }
    for (const [name, input] of boxes) input.checked = !state.hidden.has(name);
  };
  onChange(show);
  show();
  return box;
}

function toggle(name, index, boxes) {
  const label = checkbox(name, true, (on) => {
    const hidden = new Set(state.hidden);
    if (on) hidden.delete(name);
    else hidden.add(name);
    choose({ hidden });
  });
  label.classList.add("agent");
  label.querySelector("input").after(swatch(index));
  const told = toldTo(index);
  if (told.length) label.append(h("span", { class: "told" }, `told ${words(told)}`));
  boxes.set(name, label.querySelector("input"));
  return label;
}

/** @returns {string[]} what an agent is told anywhere in the comparison */
export function toldTo(agent) {
  const known = group().rows.filter((row) => row.agent === agent).flatMap((row) => group().told[row.told]);
  return [...new Set(known)];
}

/** @returns {number[]} the agents that pictures show */
export function visibleAgents() {
  return group().agents.map((_, i) => i).filter((i) => !state.hidden.has(group().agents[i]));
}
