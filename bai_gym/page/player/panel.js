/** One agent of the player: its name, its picture, and its numbers. */

import { group } from "../state.js";
import { h, numbers, table } from "../dom.js";
import { brief, count, fixed, knowledgeText, many } from "../format.js";
import { look } from "../palette.js";
import { swatch } from "../swatch.js";
import { armName, candidatesAt, Knowledge, stageAt } from "./episode.js";
import { Picture } from "./picture.js";
import { Timeline } from "./timeline.js";

export class Panel {
  /** @param {import("./episode.js").Episode} episode */
  constructor(episode) {
    this.episode = episode;
    this.knowledge = new Knowledge(episode);
    this.place = Math.max(group().agents.indexOf(episode.agent), 0);
    this.pictureBox = h("div");
    this.timelineBox = h("div");
    this.verdict = h("p", { class: "outcome" });
    this.facts = h("dl", { class: "facts small" });
    this.data = numbers("These arms as a table", () => this.table());
    const knowledge = h("span", { class: "knowledge" }, episode.knows.length ? `oracle knowledge: ${knowledgeText(episode.knows)}` : "no oracle knowledge");
    this.element = h(
      "article",
      { class: "panel" },
      h("h3", {}, swatch(this.place), " ", episode.agent, " ", knowledge),
      this.verdict,
      this.pictureBox,
      this.timelineBox,
      this.facts,
      this.data.element,
    );
  }

  /** Makes the pictures, once the panel is in the page and has a width. */
  layOut(scale) {
    this.picture = new Picture(this.pictureBox, this.episode, scale);
    this.timeline = new Timeline(this.timelineBox, this.episode);
  }

  /** @returns {number} steps of the episode: its pulls and the recommendation */
  get steps() {
    return this.episode.length + 1;
  }

  /**
   * @param {number} step pulls that have been made; one more is the recommendation
   * @param {boolean} trueMeans whether to show them before the end
   * @param {boolean} quiet whether the numbers may wait
   */
  show(step, trueMeans, quiet) {
    const { episode } = this;
    this.step = step;
    this.done = step > episode.length;
    const made = Math.min(step, episode.length);
    this.knowledge.goTo(made);
    const now = made && !this.done ? episode.arms[made - 1] : -1;
    const candidates = candidatesAt(episode, made);
    this.meansShown = trueMeans || this.done;
    this.element.style.setProperty("--agent", look(this.place).colour);
    this.picture.draw(this.knowledge, candidates, {
      now,
      recommended: this.done ? episode.recommendation : [],
      trueMeans: this.meansShown,
      label: `Estimated means of ${this.knowledge.means.length} arms after ${count(made)} pulls. ${this.sentence()}`,
    });
    this.timeline.draw(made, look(this.place).colour);
    const left = candidates ? candidates.size : this.knowledge.means.length;
    const leader = this.knowledge.leader;
    this.facts.replaceChildren(
      fact("Last pull", now < 0 ? "none" : `${armName(episode, now)}: ${brief(episode.rewards[made - 1])}`),
      fact("Largest mean", leader < 0 ? "unknown" : `${armName(episode, leader)}: ${brief(this.knowledge.means[leader])}`),
      fact("Arms left", `${count(left)} of ${count(this.knowledge.means.length)}`),
    );
    this.verdict.className = `outcome ${this.done ? (episode.correct ? "right" : "wrong") : ""}`;
    this.verdict.textContent = this.done ? this.sentence() : "Not yet recommended.";
    if (!quiet) this.data.refresh();
  }

  /** What has happened last, in words. */
  sentence() {
    const { episode } = this;
    const made = Math.min(this.step, episode.length);
    if (this.step > episode.length) {
      const arms = episode.recommendation;
      const named = arms.length ? `${arms.length > 1 ? "arms " : ""}${arms.length > 1 ? arms.join(", ") : armName(episode, arms[0])}` : "no arm";
      const right = episode.correct ? "right" : `wrong, the correct recommendation is ${episode.instance.correct_recommendation.join(", ") || "no arm"}`;
      return `${episode.agent} recommends ${named}: ${right}${episode.regret > 0 ? ` (simple regret ${brief(episode.regret)})` : ""}.`;
    }
    if (!made) return `${episode.agent} has not pulled yet.`;
    const arm = episode.arms[made - 1];
    return `${episode.agent} pulled ${armName(episode, arm)}: ${brief(episode.rewards[made - 1])}.${this.stageWords(made)}`;
  }

  /** Words for a stage that has just begun. */
  stageWords(made) {
    const stage = stageAt(this.episode, made);
    if (stage < 0 || this.episode.stages[stage][0] !== made) return "";
    return ` ${many(this.episode.stages[stage][1].size, "arm")} left.`;
  }

  table() {
    const { knowledge, episode } = this;
    const candidates = candidatesAt(episode, knowledge.made);
    return table(
      `${episode.agent} after ${many(knowledge.made, "pull")}`,
      ["Arm", "Pulls", "Mean", "95 % interval", "State", ...(this.meansShown ? ["True mean"] : [])],
      Array.from(knowledge.pulls, (pulls, arm) => [
        armName(episode, arm),
        count(pulls),
        pulls ? fixed(knowledge.means[arm], 4) : "unknown",
        knowledge.interval(arm)?.map((end) => fixed(end, 4)).join(" to ") ?? "unknown",
        this.done && episode.recommendation.includes(arm) ? "recommended" : candidates && !candidates.has(arm) ? "dropped" : "considered",
        ...(this.meansShown ? [fixed(episode.instance.means[arm], 4)] : []),
      ]),
    );
  }
}

function fact(name, value) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, value));
}
