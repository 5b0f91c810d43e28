// Names and keyboard access for what the theme adds to a page without them.
(() => {
  const name = (element, role, label) => {
    element.setAttribute("role", role);
    element.setAttribute("aria-label", label);
  };

  function repair() {
    document.querySelectorAll(".md-code__nav:not([role])").forEach((bar) => name(bar, "group", "This code"));
    document.querySelectorAll(".md-sidebar nav.md-nav:not([aria-label], [aria-labelledby])").forEach((list) => {
      list.setAttribute("aria-label", list.closest(".md-sidebar--secondary") ? "Headings" : "Pages");
    });
    document.querySelectorAll(".md-typeset__scrollwrap").forEach((box) => {
      if (box.scrollWidth > box.clientWidth) {
        name(box, "group", "Table, wider than the page");
        box.tabIndex = 0;
      } else {
        for (const attribute of ["role", "aria-label", "tabindex"]) box.removeAttribute(attribute);
      }
    });
  }

  new MutationObserver(repair).observe(document.body, { childList: true, subtree: true });
  addEventListener("resize", repair);
  repair();
})();
