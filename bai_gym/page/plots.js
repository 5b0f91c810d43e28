/** Draws with plotly, which is opened when the first picture is needed. */

import { decompress } from "./data.js";
import { ink } from "./palette.js";

let library = null;

/** @returns {Promise<Object>} plotly, once */
function plotly() {
  library ??= (async () => {
    const source = await decompress(document.getElementById("library").textContent, "gzip");
    const script = document.createElement("script");
    script.textContent = new TextDecoder().decode(source);
    document.head.append(script);
    if (!window.Plotly) throw new Error("The drawing library did not start.");
    return window.Plotly;
  })();
  return library;
}

/** What all pictures share: no frame, the page's letters and colours, no zooming by accident on a phone. */
export function frame(overrides = {}) {
  const text = ink("--text");
  const axis = { gridcolor: ink("--line"), zeroline: false, linecolor: ink("--line-strong"), ticks: "outside", tickcolor: ink("--line-strong"), automargin: true };
  const { xaxis, yaxis, ...rest } = overrides;
  return {
    autosize: true,
    margin: { l: 56, r: 12, t: 8, b: 48 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: ink("--sans"), size: 13, color: text },
    hoverlabel: { bgcolor: ink("--raised"), bordercolor: ink("--line-strong"), font: { color: text, family: ink("--sans") }, align: "left" },
    showlegend: false,
    dragmode: window.matchMedia("(pointer: coarse)").matches ? false : "zoom",
    xaxis: { ...axis, ...xaxis },
    yaxis: { ...axis, ...yaxis },
    ...rest,
  };
}

/**
 * Draws, or says why not.
 * @param {HTMLElement} element
 * @param {Object[]} traces
 * @param {Object} layout
 */
export async function draw(element, traces, layout) {
  try {
    const drawing = await plotly();
    await drawing.react(element, traces, layout, { displayModeBar: false, responsive: true, doubleClick: "reset" });
    document.getElementById("js-plotly-tester")?.setAttribute("aria-hidden", "true"); // measures letters, shows nothing
    for (const part of element.children) part.setAttribute("aria-hidden", "true"); // the whole has a name
    element.dataset.drawn = String(Number(element.dataset.drawn ?? 0) + 1);
  } catch (error) {
    element.classList.add("undrawn");
    element.replaceChildren(`${error.message} The numbers are in the table below.`);
  }
}

/** Saves the picture as SVG. */
export async function save(element, name) {
  const drawing = await plotly();
  const { width, height } = element.getBoundingClientRect();
  await drawing.downloadImage(element, { format: "svg", filename: name, width: Math.max(width, 640), height });
}

/** A name as plotly shows it unchanged: its labels understand a little HTML. */
export function plain(name) {
  return name.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
