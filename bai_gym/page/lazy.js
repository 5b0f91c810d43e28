/** Renders elements when they become visible, so that a long page opens quickly. */

/**
 * @param {HTMLElement} element
 * @param {() => void} render called when the element comes near the window, and after `refresh` if it is there
 * @returns {{refresh: () => void}}
 */
export function whenSeen(element, render) {
  let near = false;
  let stale = true;
  const draw = () => {
    if (!near || !stale) return;
    stale = false;
    render();
  };
  new IntersectionObserver(
    (entries) => {
      near = entries.at(-1).isIntersecting;
      draw();
    },
    { rootMargin: "150px" },
  ).observe(element);
  return {
    refresh() {
      stale = true;
      draw();
    },
  };
}
