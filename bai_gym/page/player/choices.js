/** The choice of an episode: environment, budget, run, and two agents. */

import { finalRows, report } from "../data.js";
import { choice } from "../dom.js";
import { count } from "../format.js";
import { group, state } from "../state.js";

const NONE = "";

/** The place of an agent in the comparison; those of other comparisons come last. */
function order(agent) {
  const index = group().agents.indexOf(agent);
  return index < 0 ? group().agents.length : index;
}

/** The agent that errs least where the episode was played, of those that were recorded. */
function best(episodes, { env, budget }) {
  const rows = finalRows(group(), group().envs.indexOf(env), Number(budget)).sort((a, b) => a.error - b.error);
  const names = rows.map((row) => group().agents[row.agent]);
  return names.find((name) => episodes.some((e) => e.agent === name));
}

/** Episodes of one name are of one instance: the seed, the run, and which of its instances it is. */
function runOf({ seed, run, draw }) {
  return `${seed}/${run}/${draw}`;
}

/** The choices of the player; each one keeps those after it possible. */
export class Choices {
  /** @param {HTMLElement} place @param {() => void} onChange */
  constructor(place, onChange) {
    this.place = place;
    this.onChange = onChange;
    this.episodes = report.recorded.episodes.map((episode, index) => ({ ...episode, index }));
    this.values = {};
  }

  /** Goes where the rest of the page is, if there are recordings. */
  follow() {
    this.values = { ...this.values, env: group().envs[state.env], budget: String(state.budget) };
    this.settle();
  }

  /** Makes the choices possible, and shows them. */
  settle() {
    const { values } = this;
    const focused = document.activeElement?.closest("#player .field")?.dataset.name;
    const pick = (name, options, text = (value) => value) => {
      const unique = [...new Set(options)];
      if (!unique.includes(values[name])) values[name] = unique[0];
      return { name, options: unique.map((value) => ({ value, text: text(value) })) };
    };
    let left = this.episodes;
    const env = pick("env", left.map((e) => e.env));
    left = left.filter((e) => e.env === values.env);
    const budget = pick("budget", left.map((e) => String(e.budget)), (value) => `${count(Number(value))} pulls`);
    left = left.filter((e) => String(e.budget) === values.budget);
    const run = pick("run", left.map(runOf), (value) => {
      const [seed, number, draw] = value.split("/");
      return `${number} (seed ${seed}${draw === "0" ? "" : `, instance ${Number(draw) + 1}`})`;
    });
    left = left.filter((e) => runOf(e) === values.run).toSorted((a, b) => order(a.agent) - order(b.agent));
    if (!left.some((e) => e.agent === values.first)) values.first = best(left, values);
    const first = pick("first", left.map((e) => e.agent));
    if (!left.some((e) => e.agent === values.second) && values.second !== NONE) values.second = left.find((e) => e.agent !== values.first)?.agent ?? NONE;
    const second = { name: "second", options: [{ value: NONE, text: "none" }, ...first.options] };
    this.left = left;
    const labels = { env: "Environment of the episode", budget: "Budget of the episode", run: "Run", first: "Agent", second: "Second agent" };
    const fields = [env, budget, run, first, second].map(({ name, options }) => {
      const field = choice(labels[name], options, values[name], (value) => {
        values[name] = value;
        this.settle();
        this.onChange();
      });
      field.dataset.name = name;
      return field;
    });
    this.place.replaceChildren(...fields);
    if (focused) this.place.querySelector(`[data-name="${focused}"] select`)?.focus();
  }

  /** @returns {number[]} the numbers of the chosen episodes, one or two */
  get chosen() {
    const names = [this.values.first, this.values.second].filter((name) => name !== NONE);
    return names.map((name) => this.left.find((e) => e.agent === name)?.index).filter((index) => index !== undefined);
  }
}
