/** The small picture beside an agent's name: its line and marker. */

import { h, svg } from "./dom.js";
import { look } from "./palette.js";
import { group } from "./state.js";

const DASH = { solid: "none", dash: "6 3", dot: "2 3", dashdot: "8 3 2 3" };
const SHAPES = {
  circle: "M15 7m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
  square: "M11.5 3.5h7v7h-7z",
  "triangle-up": "M15 2.5l4.5 8h-9z",
  "triangle-down": "M15 11.5l-4.5-8h9z",
  "triangle-left": "M10.5 7l8-4.5v9z",
  diamond: "M15 2l5 5l-5 5l-5-5z",
  pentagon: "M15 2.6l4.4 3.2l-1.7 5.2h-5.4l-1.7-5.2z",
  x: "M11 4.2l1.2-1.2l2.8 2.8l2.8-2.8l1.2 1.2l-2.8 2.8l2.8 2.8l-1.2 1.2l-2.8-2.8l-2.8 2.8l-1.2-1.2l2.8-2.8z",
};

/** @param {number} agent its place in the comparison */
export function swatch(agent) {
  const { colour, marker, dash } = look(agent);
  return svg(
    "svg",
    { class: "swatch", width: 30, height: 14, viewBox: "0 0 30 14", "aria-hidden": "true", focusable: "false" },
    svg("path", { d: "M0 7h30", stroke: colour, "stroke-width": 2, "stroke-dasharray": DASH[dash], fill: "none" }),
    svg("path", { d: SHAPES[marker], fill: colour }),
  );
}

/** An agent's name in a table, with its picture. @param {...Node} marks after it */
export function named(agent, ...marks) {
  return h("span", { class: "named" }, swatch(agent), h("span", {}, group().agents[agent]), marks);
}
