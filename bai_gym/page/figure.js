/** A figure: a picture, a sentence, the numbers as a table, and buttons. */

import { h, numbers } from "./dom.js";
import { whenSeen } from "./lazy.js";
import { save } from "./plots.js";
import { onChange } from "./state.js";
import { onTheme } from "./theme.js";

/**
 * @param {Object} options
 * @param {string} options.name of the file that is saved
 * @param {string} options.label of the picture until it is drawn
 * @param {(plot: HTMLElement) => {label: string, sentence: string}} options.render draws into the element
 * @param {() => Node} options.table the same numbers
 * @returns {{element: HTMLElement, refresh: () => void}}
 */
export function figure({ name, label, render, table }) {
  const plot = h("div", { class: "plot", role: "img", "aria-label": label });
  const sentence = h("figcaption", { class: "reading" });
  const data = numbers("The numbers of this picture as a table", table);
  const button = h("button", { type: "button", class: "quiet", onclick: () => save(plot, name) }, "Save as SVG");
  const element = h("figure", {}, plot, sentence, h("div", { class: "under" }, data.element, button));
  const lazy = whenSeen(element, () => {
    const said = render(plot);
    plot.setAttribute("aria-label", said.label);
    sentence.textContent = said.sentence;
    data.refresh();
  });
  onChange(lazy.refresh);
  onTheme(lazy.refresh);
  return { element, refresh: lazy.refresh };
}
