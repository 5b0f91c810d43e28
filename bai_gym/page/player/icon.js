/** Pictures of the buttons: letters for them are missing on many machines. */

import { svg } from "../dom.js";

const SHAPES = {
  start: "M4 3h2v10H4zM13 3v10L6.5 8z",
  stageBack: "M8 3v10L2 8zM14 3v10L8 8z",
  back: "M11 3v10L5 8z",
  on: "M5 3v10l6-5z",
  stageOn: "M2 3v10l6-5zM8 3v10l6-5z",
  end: "M10 3h2v10h-2zM3 3v10l6.5-5z",
};

/** @param {keyof SHAPES} name */
export function icon(name) {
  return svg("svg", { class: "icon", width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false" }, svg("path", { d: SHAPES[name] }));
}
