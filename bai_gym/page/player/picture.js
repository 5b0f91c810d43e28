/** The arms of an episode: means with intervals above, pulls as bars below. */

import { set, svg } from "../dom.js";
import { brief } from "../format.js";

const HEIGHT = 300;
const MARGIN = { left: 44, right: 8, top: 10 };
const BARS = { top: 214, height: 56 };
const SPLIT = 200; // the lower end of the upper part

/**
 * The common scale of two episodes on one instance: every estimate at the end, and the true means.
 * @param {Array<import("./episode.js").Knowledge>} ends knowledge at the end of each
 */
export function scaleOf(ends) {
  let [low, high] = [Infinity, -Infinity];
  for (const end of ends) {
    const { means } = end.episode.instance;
    for (let arm = 0; arm < means.length; arm += 1) {
      const seen = end.pulls[arm] ? [end.means[arm], ...(end.interval(arm) ?? [])] : [];
      low = Math.min(low, means[arm], ...seen);
      high = Math.max(high, means[arm], ...seen);
    }
  }
  const pad = (high - low || 1) * 0.05;
  const most = Math.max(1, ...ends.map((end) => Math.max(...end.pulls)));
  return { low: low - pad, high: high + pad, most };
}

/** One picture; `draw` moves what has changed. */
export class Picture {
  /**
   * @param {HTMLElement} place
   * @param {import("./episode.js").Episode} episode
   * @param {{low: number, high: number, most: number}} scale
   */
  constructor(place, episode, scale) {
    this.episode = episode;
    this.scale = scale;
    this.arms = episode.instance.means.length;
    this.width = Math.max(place.clientWidth, 240);
    this.step = (this.width - MARGIN.left - MARGIN.right) / this.arms;
    this.root = svg("svg", { class: "arms", width: this.width, height: HEIGHT, viewBox: `0 0 ${this.width} ${HEIGHT}`, role: "img", "aria-label": "Estimated means of the arms" });
    this.clip(place);
    this.axis();
    this.marks = Array.from({ length: this.arms }, (_, arm) => this.mark(arm));
    place.replaceChildren(this.root);
  }

  clip() {
    this.area = svg("svg", { x: 0, y: 0, width: this.width, height: SPLIT, overflow: "hidden" });
    this.root.append(this.area);
  }

  x(arm) {
    return MARGIN.left + (arm + 0.5) * this.step;
  }

  y(value) {
    const { low, high } = this.scale;
    const share = (value - low) / (high - low);
    return Math.min(Math.max(SPLIT - share * (SPLIT - MARGIN.top), -1000), 2000);
  }

  axis() {
    for (const value of ticks(this.scale.low, this.scale.high, 4)) {
      const y = this.y(value);
      this.area.append(svg("path", { class: "grid", d: `M${MARGIN.left} ${y}H${this.width - MARGIN.right}` }), svg("text", { class: "tick", x: MARGIN.left - 6, y: y + 4, "text-anchor": "end" }, brief(value)));
    }
    const base = BARS.top + BARS.height;
    this.root.append(
      svg("path", { class: "base", d: `M${MARGIN.left} ${base}H${this.width - MARGIN.right}` }),
      svg("text", { class: "tick", x: MARGIN.left - 6, y: BARS.top + 10, "text-anchor": "end" }, brief(this.scale.most)),
      svg("text", { class: "tick", x: MARGIN.left - 6, y: base, "text-anchor": "end" }, "0"),
    );
    const every = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((n) => n * this.step >= 24) ?? 1000;
    for (let arm = 0; arm < this.arms; arm += every) {
      this.root.append(svg("text", { class: "tick", x: this.x(arm), y: base + 16, "text-anchor": "middle" }, String(arm)));
    }
  }

  mark(arm) {
    const x = this.x(arm);
    const thick = Math.max(Math.min(this.step * 0.7, 14), 1);
    const parts = {
      interval: svg("path", { class: "interval", "stroke-width": Math.max(Math.min(thick * 0.55, 5), 1) }),
      trueMean: svg("path", { class: "true-mean" }),
      dot: svg("circle", { class: "dot", cx: x, r: Math.max(Math.min(thick * 0.4, 4.5), 1.6) }),
      ring: svg("circle", { class: "ring", cx: x, r: Math.max(Math.min(thick * 0.4, 4.5), 1.6) + 3.5 }),
      bar: svg("rect", { class: "pulls", x: x - thick / 2, width: thick }),
    };
    const upper = svg("g", { class: "arm" }, parts.interval, parts.trueMean, parts.dot, parts.ring);
    const lower = svg("g", { class: "arm" }, parts.bar);
    this.area.append(upper);
    this.root.append(lower);
    return { ...parts, upper, lower, thick };
  }

  /**
   * @param {import("./episode.js").Knowledge} knowledge
   * @param {?Set<number>} candidates
   * @param {{now: number, recommended: number[], trueMeans: boolean, label: string}} show the arm that was just pulled (or -1),
   *   the recommended arms (none before the end), and whether to show the true means
   */
  draw(knowledge, candidates, { now, recommended, trueMeans, label }) {
    const base = BARS.top + BARS.height;
    for (let arm = 0; arm < this.arms; arm += 1) {
      const mark = this.marks[arm];
      const pulls = knowledge.pulls[arm];
      const x = this.x(arm);
      const y = this.y(knowledge.means[arm]);
      const interval = knowledge.interval(arm);
      const height = (pulls / this.scale.most) * BARS.height;
      const state = candidates && !candidates.has(arm) ? "arm dropped" : arm === now ? "arm now" : "arm";
      set(mark.upper, { class: state });
      set(mark.lower, { class: state });
      set(mark.bar, { y: base - height, height });
      set(mark.dot, { cy: y, visibility: pulls ? "visible" : "hidden" });
      set(mark.interval, { d: interval ? `M${x} ${this.y(interval[0])}V${this.y(interval[1])}` : "M0 0" });
      set(mark.ring, { cy: y, visibility: recommended.includes(arm) ? "visible" : "hidden" });
      const at = this.y(this.episode.instance.means[arm]);
      const best = this.episode.instance.correct_recommendation.includes(arm);
      const half = Math.max(mark.thick * 0.6, 2.5);
      set(mark.trueMean, { d: trueMeans ? `M${x - half} ${at}H${x + half}` : "M0 0", class: best ? "true-mean best" : "true-mean" });
    }
    set(this.root, { "aria-label": label });
  }
}

/** Round numbers between two others. */
function ticks(low, high, about) {
  const raw = (high - low) / about;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = size * ([1, 2, 5, 10].find((n) => n * size >= raw) ?? 10);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high; i += 1) found.push(Number((i * step).toPrecision(12)));
  return found;
}
