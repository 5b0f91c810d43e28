/** The episode player: one or two agents on the same instance, pull by pull. */

import { report } from "../data.js";
import { checkbox, choice, h, newId } from "../dom.js";
import { count, many } from "../format.js";
import { whenSeen } from "../lazy.js";
import { onChange } from "../state.js";
import { onTheme } from "../theme.js";
import { Choices } from "./choices.js";
import { Clock } from "./clock.js";
import { icon } from "./icon.js";
import { Knowledge, openEpisode } from "./episode.js";
import { Panel } from "./panel.js";
import { scaleOf } from "./picture.js";

const SECONDS = 15; // of a whole episode at the default speed
const SPEEDS = [
  { value: "whole", text: `whole episode in ${SECONDS} s` },
  ...[1, 5, 20, 100, 1000].map((rate) => ({ value: String(rate), text: rate === 1 ? "1 pull per second" : `${count(rate)} pulls per second` })),
];

/** @param {HTMLElement} section */
export function player(section) {
  const { leftOut } = report.recorded;
  const note = leftOut ? h("p", { class: "notice" }, leftOut) : null;
  if (report.recorded.episodes.length) new Player(section, note);
  else section.append(note);
}

class Player {
  constructor(section, note) {
    this.step = 0;
    this.trueMeans = false;
    this.speed = "whole";
    this.panels = [];
    this.clock = new Clock(
      (steps) => this.advance(steps),
      (playing) => this.showPlaying(playing),
    );
    const choices = h("div", { class: "controls" });
    const summary = h("summary", {}, "Choose the episode and the agents");
    const folder = h("details", {}, summary, choices);
    const narrow = window.matchMedia("(max-width: 560px)");
    const fold = () => {
      summary.hidden = !narrow.matches; // where there is room, the choices are always open
      folder.open = !narrow.matches;
    };
    narrow.addEventListener("change", fold);
    fold();
    this.stage = h("div", { class: "stage", tabindex: "0", role: "group", "aria-label": "The episode. Space plays and pauses, arrow keys go a pull back or on, Home and End to the start and the end.", onkeydown: (event) => this.key(event) });
    this.task = h("p", { class: "reading" });
    section.append(
      ...[note].filter(Boolean),
      folder,
      this.transport(),
      this.stage,
      this.task,
      this.live,
    );
    this.choices = new Choices(choices, () => this.load());
    this.lazy = whenSeen(section, () => {
      if (!this.loaded) this.choices.follow();
      this.load();
    });
    onChange((change) => {
      if ("group" in change || "env" in change || "budget" in change) {
        this.choices.follow();
        this.lazy.refresh();
      }
    });
    onTheme(() => this.show());
    let width = 0;
    new ResizeObserver(([entry]) => {
      if (Math.abs(entry.contentRect.width - width) > 1 && width) this.layOut();
      width = entry.contentRect.width;
    }).observe(this.stage);
  }

  transport() {
    const button = (shape, label, press) => h("button", { type: "button", "aria-label": label, title: label, onclick: press }, icon(shape));
    this.playButton = h("button", { type: "button", class: "primary", onclick: () => this.toggle() }, "Play");
    const id = newId();
    this.slider = h("input", { type: "range", id, min: 0, value: 0, step: 1, oninput: () => this.goTo(Number(this.slider.value)) });
    this.where = h("output", { for: id, class: "where" });
    this.live = h("p", { class: "hidden", role: "status", "aria-live": "polite" });
    return h(
      "div",
      { class: "transport", role: "group", "aria-label": "Playing" },
      h(
        "div",
        { class: "buttons" },
        button("start", "To the start", () => this.goTo(0)),
        button("stageBack", "Previous stage", () => this.goTo(this.stageBefore())),
        button("back", "One pull back", () => this.goTo(this.step - 1)),
        this.playButton,
        button("on", "One pull on", () => this.goTo(this.step + 1)),
        button("stageOn", "Next stage", () => this.goTo(this.stageAfter())),
        button("end", "To the recommendation", () => this.goTo(this.last)),
      ),
      h("div", { class: "slide" }, h("label", { for: id, class: "hidden" }, "Pulls made"), this.slider, this.where),
      h(
        "div",
        { class: "options" },
        choice("Speed", SPEEDS, this.speed, (value) => {
          this.speed = value;
          this.setRate();
        }),
        checkbox("Show the true means", false, (on) => {
          this.trueMeans = on;
          this.show();
        }),
      ),
    );
  }

  /** @returns {number} the last step: the recommendation of the longer episode */
  get last() {
    return Math.max(1, ...this.panels.map((panel) => panel.steps));
  }

  async load() {
    this.clock.pause();
    this.loaded = true;
    const { chosen } = this.choices;
    let episodes;
    try {
      episodes = await Promise.all(chosen.map(openEpisode));
    } catch (error) {
      this.stage.replaceChildren(h("p", { class: "notice" }, error.message));
      return;
    }
    if (chosen.join() !== this.choices.chosen.join()) return; // the choice has changed meanwhile
    this.panels = episodes.map((episode) => new Panel(episode));
    this.scale = scaleOf(episodes.map((episode) => new Knowledge(episode).goTo(episode.length)));
    this.stage.replaceChildren(...this.panels.map((panel) => panel.element));
    const [first] = episodes;
    this.task.textContent = `Task: ${first.instance.task}. ${many(first.instance.means.length, "arm")}. Both agents play the same instance. Dots are estimated means with their normal 95 % intervals, bars below count the pulls; arms that the agent has dropped fade. The strip shows the pulls in their order.`;
    this.slider.max = this.last;
    this.setRate();
    this.layOut();
    this.goTo(0, true);
    this.stage.dataset.episodes = chosen.join();
  }

  layOut() {
    for (const panel of this.panels) panel.layOut(this.scale);
    this.show();
  }

  setRate() {
    this.clock.rate = this.speed === "whole" ? this.last / SECONDS : Number(this.speed);
  }

  toggle() {
    if (this.clock.playing) {
      this.clock.pause();
      return;
    }
    if (this.step >= this.last) this.goTo(0);
    this.clock.play();
  }

  showPlaying(playing) {
    this.playButton.textContent = playing ? "Pause" : "Play";
    if (!playing) this.show();
    this.say(playing ? "Playing." : this.sentences());
  }

  /** Plays on; says when arms are dropped, and nothing else: a voice could not keep up. */
  advance(steps) {
    const before = this.step;
    this.step = Math.min(this.step + steps, this.last);
    this.show(true);
    const dropped = this.panels.flatMap((panel) =>
      panel.episode.stages.filter(([first]) => first > before && first <= this.step).map(([first, arms]) => `${panel.episode.agent}: ${many(arms.size, "arm")} left after ${many(first, "pull")}.`),
    );
    if (dropped.length) this.say(dropped.join(" "));
    return this.step < this.last;
  }

  goTo(step, silent = false) {
    this.clock.pause();
    this.step = Math.min(Math.max(step, 0), this.last);
    this.show();
    if (!silent) this.say(this.sentences());
  }

  show(quiet = false) {
    if (!this.panels.length) return;
    for (const panel of this.panels) panel.show(this.step, this.trueMeans, quiet);
    this.slider.value = this.step;
    const made = Math.min(this.step, this.last - 1);
    const text = this.step >= this.last ? `Recommendation, after ${count(this.last - 1)} pulls` : `Pull ${count(made)} of ${count(this.last - 1)}`;
    this.slider.setAttribute("aria-valuetext", text);
    this.where.textContent = text;
    this.stage.dataset.step = this.step;
  }

  sentences() {
    return this.panels.map((panel) => panel.sentence()).join(" ");
  }

  say(text) {
    this.live.textContent = text;
  }

  /** Steps at which some agent begins a stage. */
  get stages() {
    const firsts = this.panels.flatMap((panel) => panel.episode.stages.map(([first]) => first));
    return [...new Set([0, ...firsts, this.last])].sort((a, b) => a - b);
  }

  stageBefore() {
    return this.stages.findLast((first) => first < this.step) ?? 0;
  }

  stageAfter() {
    return this.stages.find((first) => first > this.step) ?? this.last;
  }

  key(event) {
    if (event.target !== this.stage || event.altKey || event.ctrlKey || event.metaKey) return;
    const actions = {
      " ": () => this.toggle(),
      ArrowRight: () => this.goTo(this.step + (event.shiftKey ? 10 : 1)),
      ArrowLeft: () => this.goTo(this.step - (event.shiftKey ? 10 : 1)),
      Home: () => this.goTo(0),
      End: () => this.goTo(this.last),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}
