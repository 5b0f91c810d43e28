/** The claims and their verdicts. */

import { h } from "./dom.js";
import { group, onChange } from "./state.js";

const SIGNS = { confirmed: "\u2713", refuted: "\u2717", undecided: "?" };

const FEW = 3;

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

/** Where a claim fails or stays open: a few cases in line, many on request. */
function cases(words, list) {
  if (!list.length) return null;
  if (list.length <= FEW) return h("p", { class: "reading" }, `${words}: ${list.join("; ")}`);
  return h("details", {}, h("summary", {}, `${words}: ${list[0]}, and ${list.length - 1} more`), h("ul", { class: "reading" }, list.map((text) => h("li", {}, text))));
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
      cases("Against it", against),
      cases("Undecided", open),
    ),
  );
}
