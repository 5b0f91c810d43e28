/** The legend: a checkbox for each agent, which shows or hides it in all pictures. */

import { checkbox, h } from "./dom.js";
import { knowledgeText } from "./format.js";
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
    const agents = agentsHere();
    const now = `${state.group}: ${agents.join()}`;
    if (shown !== now) {
      shown = now;
      boxes.clear();
      list.replaceChildren(...agents.map((i) => toggle(group().agents[i], i, boxes)));
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
  const known = knowledgeOf(index);
  if (known.length) label.append(h("span", { class: "knowledge" }, `oracle knowledge: ${knowledgeText(known)}`));
  boxes.set(name, label.querySelector("input"));
  return label;
}

/** @returns {number[]} the agents that play in the chosen environment, or have scores over all of them */
function agentsHere() {
  const playing = group().rows.filter((row) => row.env === state.env).map((row) => row.agent);
  const scored = (group().scores?.rows ?? []).map((row) => row.agent);
  return [...new Set([...playing, ...scored])].sort((a, b) => a - b);
}

/** @returns {string[]} an agent's oracle knowledge anywhere in the comparison */
export function knowledgeOf(agent) {
  const known = group().rows.filter((row) => row.agent === agent).flatMap((row) => group().knows[row.knows]);
  return [...new Set(known)];
}

/** @returns {number[]} the agents that pictures show */
export function visibleAgents() {
  return group().agents.map((_, i) => i).filter((i) => !state.hidden.has(group().agents[i]));
}
