/** Light and dark: the reader's system decides, until a button is pressed. */

import { h } from "./dom.js";

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();
let chosen = null;

function isDark() {
  return chosen === null ? dark.matches : chosen === "dark";
}

function apply() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  for (const listener of listeners) listener();
}

/** Calls back when colours have changed. */
export function onTheme(listener) {
  listeners.add(listener);
}

/** @returns {HTMLButtonElement} the switch */
export function themeButton() {
  const label = () => (isDark() ? "Light colours" : "Dark colours");
  const button = h("button", { type: "button", class: "quiet" }, "");
  const show = () => {
    button.textContent = label();
  };
  button.addEventListener("click", () => {
    chosen = isDark() ? "light" : "dark";
    apply();
  });
  dark.addEventListener("change", apply);
  onTheme(show);
  apply();
  return button;
}
