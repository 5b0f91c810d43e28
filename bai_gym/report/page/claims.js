/** What was claimed, and what the runs say about it. */

import { h } from "./dom.js";
import { group, onChange } from "./state.js";

const SIGNS = { confirmed: "\u2713", refuted: "\u2717", undecided: "?" };

/** @param {HTMLElement} section */
export function claims(section) {
  const place = h("div");
  section.append(place);
  const render = () => {
    place.replaceChildren(
      ...group().claims.flatMap((block) => [
        h("p", { class: "reading" }, `${block.are}, at joint level 95 % each.`),
        h("ul", { class: "claims" }, block.list.map(claim)),
      ]),
    );
  };
  onChange((change) => "group" in change && render());
  render();
}

function claim({ text, verdict, against, open }) {
  return h(
    "li",
    { class: `claim ${verdict}` },
    h("span", { class: "verdict" }, h("span", { "aria-hidden": "true" }, `${SIGNS[verdict] ?? ""} `), verdict),
    h(
      "div",
      {},
      h("p", {}, text),
      against.length ? h("p", { class: "reading" }, `Against it: ${against.join("; ")}`) : null,
      open.length ? h("p", { class: "reading" }, `Undecided: ${open.join("; ")}`) : null,
    ),
  );
}
