/** Makes elements. Text is never parsed as markup. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * @param {string} tag
 * @param {Object<string, any>} [attributes] `on...` adds a listener, `class` and all others are attributes; false and null: none.
 * @param {...(Node|string|number|null|false|Array)} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. @returns {SVGElement} */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== false && child !== undefined));
  return element;
}

/** Sets attributes that have changed. */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    const text = String(value);
    if (element.getAttribute(name) !== text) element.setAttribute(name, text);
  }
}

let ids = 0;
/** @returns {string} an id that no other element has */
export function newId() {
  ids += 1;
  return `n${ids}`;
}

/**
 * A labelled choice.
 * @param {string} label
 * @param {Array<{value: string, text: string}>} options
 * @param {string} value
 * @param {(value: string) => void} onChange
 */
export function choice(label, options, value, onChange) {
  const id = newId();
  const select = h("select", { id, onchange: () => onChange(select.value) }, options.map((o) => h("option", { value: o.value }, o.text)));
  select.value = value;
  return h("div", { class: "field" }, h("label", { for: id }, label), select);
}

/** A labelled checkbox. */
export function checkbox(label, checked, onChange) {
  const box = h("input", { type: "checkbox", onchange: () => onChange(box.checked) });
  box.checked = checked;
  return h("label", { class: "check" }, box, h("span", {}, label));
}

/**
 * A table in a box that scrolls on narrow pages.
 * @param {string} caption
 * @param {string[]} headings
 * @param {Array<Array<Node|string|number>>} rows the first cell of each is its heading
 */
export function table(caption, headings, rows) {
  return scrollBox(
    caption,
    h(
      "table",
      {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, headings.map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, i) => h(i ? "td" : "th", i ? {} : { scope: "row" }, cell))))),
    ),
  );
}

/** A box that scrolls sideways, by keyboard too. */
export function scrollBox(label, content) {
  return h("div", { class: "scroll", role: "region", "aria-label": label, tabindex: "0" }, content);
}

/** The numbers of a picture as a table, made when it is opened. */
export function numbers(summary, make) {
  const box = h("details", { class: "numbers" }, h("summary", {}, summary));
  const show = () => {
    while (box.childNodes.length > 1) box.lastChild.remove();
    if (box.open) box.append(make());
  };
  box.addEventListener("toggle", show);
  return { element: box, refresh: show };
}

/** An estimate and its uncertainty, such as "0.12 [0.08, 0.17]", which breaks between the two where space is short. */
export function estimate(text) {
  const [value, ...range] = text.split(" ");
  return range.length ? [h("b", {}, value), " ", h("span", { class: "range" }, range.join(" "))] : [value];
}
