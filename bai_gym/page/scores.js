/** Performance profiles over all environments and budgets. */

import { visibleAgents } from "./agents.js";
import { choice, h, table } from "./dom.js";
import { figure } from "./figure.js";
import { brief, withInterval } from "./format.js";
import { look, pale } from "./palette.js";
import { draw, frame, plain } from "./plots.js";
import { group, onChange } from "./state.js";

const PROFILES = {
  tasks: { text: "by score: share of the tasks", x: "score", y: "share of tasks with a higher score" },
  runs: { text: "by simple regret: share of the runs", x: "simple regret, in units of a typical mistake", y: "share of runs with at most so much" },
};
let shown = "tasks";

/** @param {HTMLElement} section */
export function scores(section) {
  const place = h("div");
  const picture = figure({ name: "bai-gym-profiles", label: "Performance profiles", render: drawProfile, table: profileTable });
  const pick = choice("Performance profile", Object.entries(PROFILES).map(([value, { text }]) => ({ value, text })), shown, (value) => {
    shown = value;
    picture.refresh();
  });
  const lower = h("div", {}, h("div", { class: "controls" }, pick), picture.element);
  section.append(place, lower);
  const render = () => {
    const found = group().scores;
    lower.hidden = !found?.rows;
    place.replaceChildren(...(found && !found.rows ? [h("p", { class: "notice" }, `No scores over environments: ${found.reason}.`)] : []));
  };
  onChange((change) => "group" in change && render());
  render();
}

function profileShown() {
  const visible = new Set(visibleAgents());
  const profile = group().scores?.profiles?.find(({ of }) => of === shown);
  return profile && { ...profile, curves: profile.curves.filter((curve) => visible.has(curve.agent)) };
}

function drawProfile(plot) {
  const profile = profileShown();
  if (!profile) return { label: "No performance profile.", sentence: "" };
  const x = profile.thresholds;
  const traces = profile.curves.flatMap(({ agent, share, low, high }) => {
    const { colour, dash } = look(agent);
    const edge = { type: "scatter", mode: "lines", x, line: { width: 0, shape: "hv" }, hoverinfo: "skip" };
    return [
      { ...edge, y: low },
      { ...edge, y: high, fill: "tonexty", fillcolor: pale(colour, 0.14) },
      {
        type: "scatter",
        mode: "lines",
        x,
        y: share,
        line: { color: colour, width: 2, dash, shape: "hv" },
        hovertemplate: `<b>${plain(group().agents[agent])}</b><br>at %{x:.3g}: %{y:.1%}<extra></extra>`,
      },
    ];
  });
  const { x: title, y, text } = PROFILES[shown];
  draw(plot, traces, frame({ height: 380, hovermode: "closest", xaxis: { title: { text: title } }, yaxis: { title: { text: y }, tickformat: ".0%", range: [0, 1.02] } }));
  return {
    label: `Performance profile ${text}, ${profile.curves.length} agents. The same numbers are in the table below.`,
    sentence: "Higher is better, everywhere along the axis. Bands: bootstrap intervals at 95 %, each for itself.",
  };
}

function profileTable() {
  const profile = profileShown();
  if (!profile) return h("p", {}, "There is no profile.");
  const places = profile.thresholds.map((_, i) => i).filter((i) => i % 10 === 0);
  return table(
    PROFILES[shown].text,
    ["Agent", ...places.map((i) => brief(profile.thresholds[i]))],
    profile.curves.map(({ agent, share, low, high }) => [group().agents[agent], ...places.map((i) => (low[i] === null ? brief(share[i]) : withInterval(share[i], low[i], high[i])))]),
  );
}
