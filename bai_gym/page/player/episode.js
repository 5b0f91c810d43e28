/** A recorded episode: its pulls, and the statistics after each of them. */

import { decompress, packedEpisode, report } from "../data.js";

/**
 * @typedef {Object} Episode
 * @property {Uint8Array|Uint16Array} arms the arm of each pull
 * @property {Float64Array} rewards
 * @property {Object} instance true means, correct recommendation, task, names of the arms
 * @property {number} length pulls
 */

/** @returns {Promise<Episode>} the episode with this number */
export async function openEpisode(index) {
  const facts = report.recorded.episodes[index];
  const bytes = await decompress(packedEpisode(index), "deflate");
  const length = facts.pulls;
  const arms = facts.wide ? planes(bytes, 0, length) : bytes.subarray(0, length);
  const start = facts.wide ? 2 * length : length;
  const rewards = new Float64Array(length);
  if (facts.levels) {
    for (let i = 0; i < length; i += 1) rewards[i] = facts.levels[bytes[start + i]];
  } else {
    const [low, high] = facts.range;
    const steps = planes(bytes, start, length);
    for (let i = 0; i < length; i += 1) rewards[i] = low + ((high - low) * steps[i]) / 65535;
  }
  const instance = report.recorded.instances[facts.instance];
  return { ...facts, length, arms, rewards, instance, stages: expand(facts.stages, instance.means.length) };
}

/** Stages as pairs of the first pull and the set of candidates, made from changes. */
function expand(changes, arms) {
  const left = new Set(Array.from({ length: arms }, (_, arm) => arm));
  return changes.map(([first, gone, back]) => {
    for (const arm of gone) left.delete(arm);
    for (const arm of back) left.add(arm);
    return [first, new Set(left)];
  });
}

/** Numbers of two bytes: all high bytes, then all low ones. */
function planes(bytes, start, length) {
  const values = new Uint16Array(length);
  for (let i = 0; i < length; i += 1) values[i] = bytes[start + i] * 256 + bytes[start + length + i];
  return values;
}

/** The statistics after some pulls; goes forwards pull by pull, and restarts to go back. */
export class Knowledge {
  /** @param {Episode} episode */
  constructor(episode) {
    this.episode = episode;
    const arms = episode.instance.means.length;
    this.pulls = new Uint32Array(arms);
    this.means = new Float64Array(arms);
    this.squares = new Float64Array(arms); // sums of squared deviations from the mean
    this.made = 0;
    this.binary = episode.rewards.every((reward) => reward === 0 || reward === 1);
  }

  /** Goes to the statistics after `pulls` pulls. */
  goTo(pulls) {
    const until = Math.min(pulls, this.episode.length);
    if (until < this.made) {
      for (const numbers of [this.pulls, this.means, this.squares]) numbers.fill(0);
      this.made = 0;
    }
    const { arms, rewards } = this.episode;
    for (; this.made < until; this.made += 1) {
      const arm = arms[this.made];
      const off = rewards[this.made] - this.means[arm]; // B. P. Welford (1962)
      this.pulls[arm] += 1;
      this.means[arm] += off / this.pulls[arm];
      this.squares[arm] += off * (rewards[this.made] - this.means[arm]);
    }
    return this;
  }

  /**
   * The 95 % interval of a mean, or null where none can be estimated: Wilson's for rewards of 0 and 1, else a normal
   * one. Equal rewards are no certainty. As `mean_intervals` in Python: with every pull, a page of finished intervals
   * would be too large.
   * @returns {?[number, number]}
   */
  interval(arm) {
    const n = this.pulls[arm];
    const mean = this.means[arm];
    const { z } = report.recorded;
    if (this.binary) {
      if (!n) return null;
      const centre = (n * mean + z ** 2 / 2) / (n + z ** 2);
      const half = (z * Math.sqrt(n * mean * (1 - mean) + z ** 2 / 4)) / (n + z ** 2);
      return [Math.max(centre - half, 0), Math.min(centre + half, 1)];
    }
    const half = n < 2 ? 0 : z * Math.sqrt(this.squares[arm] / (n - 1) / n);
    return half > 0 ? [mean - half, mean + half] : null;
  }

  /** The arm with the largest mean so far, or -1. */
  get leader() {
    let best = -1;
    for (let arm = 0; arm < this.means.length; arm += 1) {
      if (this.pulls[arm] && (best < 0 || this.means[arm] > this.means[best])) best = arm;
    }
    return best;
  }
}

/** @returns {number} the stage that the next pull after `made` pulls belongs to, -1 before the first */
export function stageAt(episode, made) {
  let stage = -1;
  while (stage + 1 < episode.stages.length && episode.stages[stage + 1][0] <= made) stage += 1;
  return stage;
}

/** @returns {?Set<number>} the arms that are still considered, or null for all */
export function candidatesAt(episode, made) {
  const stage = stageAt(episode, made);
  return stage < 0 ? null : episode.stages[stage][1];
}

/** @returns {string} the name of an arm */
export function armName(episode, arm) {
  return episode.instance.names ? `arm ${arm} (${episode.instance.names[arm]})` : `arm ${arm}`;
}
