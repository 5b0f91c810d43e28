/** Colours, markers and dashes of agents: the same as in the figures. */

import { group } from "./state.js";

/** M. Okabe and K. Ito's colours without their yellow; the last one is the colour of the text, for dark pages too. */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", null];
const MARKERS = ["circle", "square", "triangle-up", "diamond", "triangle-down", "pentagon", "x", "triangle-left"];
const DASHES = ["solid", "dash", "dot", "dashdot"];

/** @returns {{colour: string, marker: string, dash: string}} how an agent is drawn: the same in all comparisons */
export function look(agent) {
  const number = group().looks[agent] ?? agent;
  return {
    colour: COLOURS[number % COLOURS.length] ?? ink("--text"),
    marker: MARKERS[number % MARKERS.length],
    dash: DASHES[Math.floor(number / COLOURS.length) % DASHES.length],
  };
}

/** @returns {string} the value of a variable of the style sheet */
export function ink(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** The same colour, half transparent: for bands. */
export function pale(colour, alpha) {
  const digits = colour.replace("#", "");
  const [r, g, b] = [0, 2, 4].map((at) => Number.parseInt(digits.slice(at, at + 2), 16));
  return `rgba(${r}, ${g}, ${b}, ${alpha})`;
}
