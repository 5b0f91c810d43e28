/** The pulls in their order: time from left to right, arms from top to bottom. */

import { h } from "../dom.js";
import { ink } from "../palette.js";

const HEIGHT = 84;
const MOST = 20_000; // marks

export class Timeline {
  /** @param {HTMLElement} place @param {import("./episode.js").Episode} episode */
  constructor(place, episode) {
    this.episode = episode;
    this.arms = episode.instance.means.length;
    this.width = Math.max(place.clientWidth, 240);
    const ratio = window.devicePixelRatio || 1;
    this.canvas = h("canvas", { class: "timeline", width: Math.round(this.width * ratio), height: Math.round(HEIGHT * ratio), style: `height:${HEIGHT}px`, "aria-hidden": "true" });
    this.context = this.canvas.getContext("2d");
    this.context.scale(ratio, ratio);
    place.replaceChildren(this.canvas);
  }

  /** Draws the pulls until now; those to come are not shown. */
  draw(made, colour) {
    const { context, width, episode } = this;
    const length = Math.max(episode.length, 1);
    const rows = HEIGHT - 4;
    const size = Math.max(Math.min(rows / this.arms, 6), 1.2);
    const long = Math.max(width / length, 1);
    context.clearRect(0, 0, width, HEIGHT);
    context.fillStyle = colour;
    const stride = Math.ceil(length / MOST); // more marks than that are indistinguishable
    for (let i = 0; i < Math.min(made, length); i += stride) {
      context.fillRect((i / length) * width, 2 + (episode.arms[i] / this.arms) * rows, long, size);
    }
    context.fillStyle = ink("--faint");
    for (const [first] of episode.stages) {
      if (first > 0 && first <= made) context.fillRect((first / length) * width, 0, 1, HEIGHT);
    }
    context.fillStyle = ink("--text");
    context.fillRect(Math.min((made / length) * width, width - 1.5), 0, 1.5, HEIGHT);
  }
}
