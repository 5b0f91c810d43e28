/** How each line can be run again: commands to copy. */

import { h } from "./dom.js";
import { group, onChange } from "./state.js";

const NO_COMMAND = "The agent or the environment is an object of the user's own Python session: no command makes it.";

/** @returns {Node} a button that copies the command, or why there is none */
export function copyButton(command, agent) {
  if (!command) return h("span", { class: "faint", title: NO_COMMAND }, "by Python only");
  const said = h("span", { class: "hidden", role: "status" });
  const button = h(
    "button",
    {
      type: "button",
      class: "quiet copy",
      title: command,
      "aria-label": `Copy the command for ${agent}`,
      onclick: async () => {
        const done = await copy(command);
        button.textContent = done ? "Copied" : "Select it below";
        said.textContent = done ? "Copied" : "The command is at the end of the page";
        setTimeout(() => {
          button.textContent = "Copy";
          said.textContent = "";
        }, 1600);
      },
    },
    "Copy",
  );
  return h("span", {}, button, said);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = h("textarea", { class: "hidden", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** The section with all commands. @param {HTMLElement} section */
export function reruns(section) {
  const place = h("div");
  section.append(h("p", { class: "reading" }, "The same seed gives the same bytes, for any number of workers."), place);
  const render = () => {
    const { commands, reruns: lines } = group();
    const single = lines.filter(Boolean);
    place.replaceChildren(
      ...commands.map((command) => line(command, "the whole comparison")),
      single.length
        ? h("details", {}, h("summary", {}, `${single.length} commands, one for each line of the leaderboards`), h("div", {}, single.map((command) => line(command, command))))
        : h("p", {}, commands.length ? "" : NO_COMMAND),
    );
  };
  onChange((change) => "group" in change && render());
  render();
}

function line(command, what) {
  return h("div", { class: "command" }, h("code", { tabindex: "0", role: "region", "aria-label": `Command: ${command}` }, command), copyButton(command, what));
}
