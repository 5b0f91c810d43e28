// Tables within `.filterable` get a field of text, and a choice for each column that `data-filters` names.
(() => {
  const slug = (text) => text.trim().toLowerCase().replace(/[^a-z]+/g, "-");
  const words = (cell) => cell.textContent.split(",").map((word) => word.trim());

  function choice(title, column, rows, update) {
    const select = document.createElement("select");
    select.setAttribute("aria-label", title);
    const values = [...new Set(rows.flatMap((row) => words(row.cells[column])))].sort();
    select.append(new Option(`${title}: any`, ""), ...values.map((value) => new Option(`${title}: ${value}`, value)));
    select.addEventListener("change", update);
    return { shows: (row) => !select.value || words(row.cells[column]).includes(select.value), select };
  }

  function equip(block) {
    const table = block.querySelector("table");
    const rows = [...table.tBodies[0].rows];
    const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
    const field = document.createElement("input");
    field.type = "search";
    field.placeholder = "filter";
    field.setAttribute("aria-label", "filter rows by text");
    const count = document.createElement("output");
    const choices = block.dataset.filters
      .split(" ")
      .map((wanted) => heads.findIndex((head) => slug(head) === wanted))
      .map((column) => choice(heads[column], column, rows, update));

    function update() {
      const parts = field.value.toLowerCase().split(/\s+/);
      let shown = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !(parts.every((part) => text.includes(part)) && choices.every((one) => one.shows(row)));
        shown += !row.hidden;
      }
      count.textContent = `${shown} of ${rows.length}`;
    }

    const bar = document.createElement("div");
    bar.className = "filters";
    bar.append(field, ...choices.map((one) => one.select), count);
    block.prepend(bar);
    field.addEventListener("input", update);
    update();
  }

  document.querySelectorAll(".filterable").forEach(equip);
})();
