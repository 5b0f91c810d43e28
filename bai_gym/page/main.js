/** Builds the page: sections in their order, each drawn when it becomes visible. */

import { allocation } from "./allocation.js";
import { claims } from "./claims.js";
import { curves } from "./curves.js";
import { report } from "./data.js";
import { h } from "./dom.js";
import { heading } from "./heading.js";
import { leaderboard } from "./leaderboard.js";
import { overall } from "./overall.js";
import { player } from "./player/player.js";
import { reruns } from "./rerun.js";
import { scores } from "./scores.js";
import { choose, group, onChange } from "./state.js";
import { toolbar } from "./toolbar.js";

/** Sections: their headings, their content, and whether they are shown. */
const SECTIONS = [
  { id: "overall", text: "Overall", fill: overall },
  { id: "leaderboard", text: "Leaderboard", fill: leaderboard },
  { id: "claims", text: "Claims", fill: claims, there: () => group().claims.length > 0, any: () => report.groups.some((g) => g.claims.length) },
  { id: "curves", text: "Error curves", fill: curves },
  { id: "player", text: "Watch an episode", fill: player, any: () => report.recorded.episodes.length > 0 || report.recorded.leftOut },
  { id: "pulls", text: "Where the pulls go", fill: allocation },
  { id: "scores", text: "Performance profiles", fill: scores, there: () => Boolean(group().scores), any: () => report.groups.some((g) => g.scores) },
  { id: "rerun", text: "Run it again", fill: reruns },
];

choose({});
heading(document.getElementById("heading"));
const main = document.getElementById("main");
const links = h("ul");
document.getElementById("contents").append(links);
for (const { id, text, fill, there, any } of SECTIONS) {
  if (any && !any()) continue;
  const section = h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title`, tabindex: "-1" }, text));
  const link = h("li", {}, h("a", { href: `#${id}` }, text));
  main.append(section);
  links.append(link);
  fill(section);
  if (id === "overall") main.append(toolbar()); // what is below it depends on it
  const show = () => {
    link.hidden = section.hidden = there ? !there() : false;
  };
  onChange((change) => "group" in change && show());
  show();
}
requestAnimationFrame(() => setTimeout(() => {
  document.documentElement.dataset.ready = "yes"; // painted: tests measure the time until then
}));
