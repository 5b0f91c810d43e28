/** Error probability (or simple regret) against budget, pulls, arms or environments, with intervals. */

import { agentToggles, visibleAgents } from "./agents.js";
import { axesOf, logTicks } from "./axes.js";
import { finalRows } from "./data.js";
import { checkbox, choice, h, table } from "./dom.js";
import { figure } from "./figure.js";
import { brief, count, knowledgeText, withError, withInterval } from "./format.js";
import { ink, look, pale } from "./palette.js";
import { draw, frame, plain } from "./plots.js";
import { choose, group, onChange, state } from "./state.js";
import { drawStopping, stoppingRows, stoppingTable } from "./stopping.js";

const SHIFT = 0.008; // between agents, as a share of the axis
const DENSE = 25; // points of a curve from which on it has a band instead of bars

/** The quantities of curves: value, interval, description. */
const MEASURES = {
  error: {
    text: "Error probability",
    value: (row) => row.error,
    low: (row) => row.low,
    high: (row) => row.high,
    say: (row) => `${withInterval(row.error, row.low, row.high)}, ${count(row.errors)} of ${count(row.runs)} runs`,
    interval: "Wilson intervals at 95 %",
  },
  regret: {
    text: "Simple regret",
    value: (row) => row.regret,
    low: (row) => Math.max(row.regretLow ?? row.regret, 0),
    high: (row) => row.regretHigh ?? row.regret,
    say: (row) => withError(row.regret, row.regretSe),
    interval: "normal intervals at 95 %",
  },
  pulls: {
    text: "Pulls asked for",
    value: (row) => row.pulls,
    low: (row) => row.pullsLow,
    high: (row) => row.pullsHigh,
    say: (row) => `${count(row.pulls)} pulls on average, 90 % of the runs ${count(row.pullsLow)} to ${count(row.pullsHigh)}`,
    interval: "mean, and from the 5 % to the 95 % quantile",
  },
  stopping: { text: "Share of runs that have not stopped" },
};

/** The relevant quantities: pulls and stopping times only if agents decide when to stop. */
function measuresHere() {
  const varies = group().rows.some((row) => row.env === state.env && row.pullsLow !== row.pullsHigh);
  return Object.entries(MEASURES).filter(([id]) => (id === "pulls" ? varies : id === "stopping" ? stoppingRows().length : true));
}

/** What the reader has chosen; if nothing, stopping times where all agents decide when to stop, else errors. */
function currentMeasure() {
  const chosen = Object.fromEntries(measuresHere())[state.measure];
  const all = finalRows(group(), state.env, state.budget).every((row) => row.stopping);
  return chosen ?? (all ? MEASURES.stopping : MEASURES.error);
}

/** @param {HTMLElement} section */
export function curves(section) {
  const controls = h("div", { class: "controls" });
  const stops = () => currentMeasure() === MEASURES.stopping;
  const picture = figure({
    name: "bai-gym-curves",
    label: "Curves of all agents",
    render: (plot) => (stops() ? drawStopping(plot) : drawCurves(plot)),
    table: () => (stops() ? stoppingTable() : curveTable()),
  });
  let stopped = null; // as the controls are built; they stay where they are otherwise, and keep the focus
  const build = () => {
    stopped = stops();
    const axes = axesOf(group(), state.env, state.budget);
    const axis = currentAxis();
    controls.replaceChildren(
      choice("Vertical axis", measuresHere().map(([value, m]) => ({ value, text: m.text })), Object.keys(MEASURES).find((id) => MEASURES[id] === currentMeasure()), (measure) => choose({ measure })),
      stops() ? "" : choice("Horizontal axis", axes.map((a) => ({ value: a.id, text: a.text })), axis.id, (id) => choose({ axis: id })),
      stops() ? "" : checkbox("Logarithmic vertical axis", state.logY, (logY) => choose({ logY })),
      axis.categories && !stops() ? "" : checkbox("Logarithmic horizontal axis", state.logX, (logX) => choose({ logX })),
    );
  };
  onChange((change) => {
    if ("group" in change || "env" in change || "budget" in change || stopped !== stops()) build();
  });
  build();
  section.append(h("div", { class: "beside" }, h("div", {}, controls, picture.element), agentToggles()));
}

function currentAxis() {
  const axes = axesOf(group(), state.env, state.budget);
  return axes.find((axis) => axis.id === state.axis) ?? axes[0];
}

/** Rows of each visible agent on the axis, from left to right. */
function curvesOf(axis) {
  return visibleAgents().map((agent) => ({
    agent,
    rows: group()
      .rows.filter((row) => row.agent === agent && axis.of(row))
      .sort((a, b) => (axis.categories ? a.env - b.env : axis.at(a) - axis.at(b))),
  }));
}

function drawCurves(plot) {
  const axis = currentAxis();
  const measure = currentMeasure();
  const lines = curvesOf(axis);
  const ticks = [...new Set(lines.flatMap(({ rows }) => rows.map(axis.at)))];
  const logX = state.logX && !axis.categories && ticks.every((x) => x > 0);
  const traces = lines.flatMap(({ agent, rows }, i) => tracesOf(agent, rows, axis, measure, beside(axis, ticks, logX, i - (lines.length - 1) / 2)));
  const optimum = optimumTrace(axis);
  if (optimum) traces.push(optimum);
  const heights = traces.flatMap((trace) => trace.y).filter((y) => y > 0);
  draw(
    plot,
    traces,
    frame({
      height: 430,
      hovermode: "closest",
      xaxis: {
        title: { text: axis.title },
        type: axis.categories ? "category" : logX ? "log" : "linear",
        ...(axis.categories ? { categoryorder: "array", categoryarray: ticks.map(plain) } : ticks.length <= 12 ? labelled(ticks) : logX ? labelled(logTicks(ticks)) : {}),
      },
      yaxis: {
        title: { text: measure.text.toLowerCase() },
        type: state.logY ? "log" : "linear",
        rangemode: "tozero",
        ...(state.logY ? labelled(logTicks(heights)) : {}),
      },
    }),
  );
  const where = axis.id === "env" ? group().title : `${group().envs[state.env]}${axis.id === "checkpoint" || axis.id === "agent" ? `, budget ${count(state.budget)}` : ""}`;
  return {
    label: `${measure.text} of ${lines.length} agents against ${axis.text}, ${where}. The same numbers are in the table below.`,
    sentence: `${where}. Lower is better; ${measure.interval}.${
      state.logY ? " Where no run was wrong, a logarithmic axis has no place for the 0: a hollow triangle marks the upper end of the interval." : ""
    }${optimum ? " Dotted: the best possible agent that knows the prior alone." : ""}`,
  };
}

/** Where agents are drawn: a little beside each other, so that bars at the same budget do not cover each other. */
function beside(axis, ticks, logX, steps) {
  if (axis.categories || ticks.length >= DENSE) return (at) => (axis.categories ? plain(at) : at);
  const [least, most] = [Math.min(...ticks), Math.max(...ticks)];
  if (logX) return (at) => at * (most > least ? most / least : 1.5) ** (SHIFT * steps);
  return (at) => at + SHIFT * steps * (most > least ? most - least : Math.abs(at) || 1);
}

function labelled(ticks) {
  return { tickvals: ticks, ticktext: ticks.map(tick) };
}

function tick(value) {
  return typeof value === "number" ? (Number.isInteger(value) ? count(value) : brief(value)) : plain(value);
}

/**
 * A line with markers and bars; for many points a line with a band. A logarithmic axis has no place for a value of 0:
 * such points are no part of the line, which would seem to rise to them, and separate markers show their limits.
 */
function tracesOf(agent, rows, axis, measure, placed) {
  const { colour, marker, dash } = look(agent);
  const place = (row) => placed(axis.at(row));
  const hidden = (row) => state.logY && measure.value(row) <= 0;
  const floor = (row) => (state.logY ? Math.max(measure.low(row), measure.value(row) / 1e3) : measure.low(row));
  const name = plain(group().agents[agent]);
  const label = (row) => `<b>${name}</b><br>${plain(String(tick(axis.at(row))))} ${axis.categories ? "" : plain(axis.title)}<br>${measure.say(row)}<br>oracle knowledge: ${plain(knowledgeText(group().knows[row.knows]))}`;
  const points = (shown, y, mode) => ({
    type: "scatter",
    mode,
    name,
    x: shown.map(place),
    y: shown.map(y),
    text: shown.map(label),
    hovertemplate: "%{text}<extra></extra>",
    line: { color: colour, width: 2, dash },
  });
  if (rows.length < DENSE) {
    const seen = rows.filter((row) => !hidden(row));
    const limits = rows.filter(hidden);
    const line = {
      ...points(seen, measure.value, "lines+markers"),
      marker: { color: colour, size: 9, symbol: marker },
      error_y: {
        type: "data",
        symmetric: false,
        color: colour,
        thickness: 1.3,
        width: 4,
        array: seen.map((row) => measure.high(row) - measure.value(row)),
        arrayminus: seen.map((row) => measure.value(row) - floor(row)),
      },
    };
    if (!limits.length) return [line];
    const triangles = { color: colour, size: 9, symbol: "triangle-down-open", line: { width: 1.5 } };
    return [line, { ...points(limits, measure.high, "markers"), marker: triangles }];
  }
  const edge = { type: "scatter", mode: "lines", x: rows.map(place), line: { width: 0, color: colour }, hoverinfo: "skip" };
  return [
    { ...edge, y: rows.map((row) => (hidden(row) ? measure.high(row) / 10 : floor(row))) },
    { ...edge, y: rows.map((row) => measure.high(row)), fill: "tonexty", fillcolor: pale(colour, 0.16) },
    points(rows, (row) => (hidden(row) ? null : measure.value(row)), "lines"),
  ];
}

/** The error of the best possible agent, where it is known: an agent's error minus its gap. */
function optimumTrace(axis) {
  if (currentMeasure() !== MEASURES.error || axis.id !== "budget") return null;
  const known = new Map(group().rows.filter((row) => axis.of(row) && row.gap !== null).map((row) => [axis.at(row), row.error - row.gap]));
  if (!known.size) return null;
  const x = [...known.keys()].sort((a, b) => a - b);
  return {
    type: "scatter",
    mode: "lines",
    x,
    y: x.map((at) => known.get(at)),
    line: { color: ink("--faint"), width: 1.5, dash: "dot" },
    text: x.map((at) => `<b>best possible agent</b><br>${tick(at)} pulls<br>${brief(known.get(at))} (exact)`),
    hovertemplate: "%{text}<extra></extra>",
  };
}

function curveTable() {
  const axis = currentAxis();
  const measure = currentMeasure();
  const lines = curvesOf(axis);
  const places = [...new Set(lines.flatMap(({ rows }) => rows.map(axis.at)))];
  if (!axis.categories) places.sort((a, b) => a - b); // agents may have played at different ones
  const cell = (rows, place) => {
    const row = rows.find((r) => axis.at(r) === place);
    return row ? measure.say(row) : "";
  };
  return table(
    `${measure.text} against ${axis.text}`,
    ["Agent", ...places.map((place) => String(tick(place)))],
    lines.map(({ agent, rows }) => [group().agents[agent], ...places.map((place) => cell(rows, place))]),
  );
}
