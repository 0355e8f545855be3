// The Compare view: a contingency table of two criteria, with pictures in each cell.

import { api, state } from "/page/api.js";
import { $, count, h, picture } from "/page/dom.js";
import { zoom } from "/page/zoom.js";

const view = $("view-compare");

export function makeCompareView() {
  let other = "";

  async function refresh() {
    try {
      const names = (await api.criteria()).map((one) => one.name).filter((name) => name !== state.criterion);
      if (!names.includes(other)) other = names[0] ?? "";
      if (!other) return showText("There is only one criterion. Add another with +, answer a few questions, and compare the two here.");
      show(await api.compare(other), names);
    } catch (error) {
      showText(error.message);
    }
    return null;
  }

  const showText = (text) => view.replaceChildren(h("p", { class: "quiet" }, text));

  function show(table, names) {
    const choose = h("select", { "aria-label": "Compare with", "data-focus": "other" }, names.map((name) => h("option", { value: name, selected: name === other }, name)));
    choose.addEventListener("change", () => { other = choose.value; refresh(); });
    const top = h("tr", {}, h("td", {}), table.columns.map((one) => h("th", { scope: "col", group: one.colour }, one.name)));
    const rows = table.rows.map((row, i) =>
      h("tr", {}, h("th", { scope: "row", group: row.colour }, row.name), table.cells[i].map((cell, j) => cellView(cell, row, table.columns[j], table.n_images))));
    view.replaceChildren(
      h("div", { class: "bar" }, h("p", {}, h("b", {}, table.first), " (rows) and "), choose, h("p", {}, `(columns) · ${count(table.n_images, "picture")} · ${strength(table.nmi)}`)),
      h("div", { class: "scroll" }, h("table", { class: "compare" }, h("thead", {}, top), h("tbody", {}, rows))));
  }

  function cellView(cell, row, column, nImages) {
    const title = `${row.name} and ${column.name}`;
    const all = cell.images.map((id) => ({ id, name: title }));
    const share = nImages ? Math.round((cell.n / nImages) * 100) : 0;
    const tiles = all.map((one, i) => h("button", { type: "button", class: "tile", "aria-label": `Enlarge: ${title}`, onclick: () => zoom(all, i) }, picture(one.id, title)));
    return h("td", { class: cell.n ? "" : "none", "data-n": cell.n }, h("b", {}, cell.n.toLocaleString("en")), h("span", { class: "quiet" }, ` ${share} %`), h("div", { class: "tiles" }, tiles));
  }

  return { refresh, reset: () => { other = ""; } };
}

function strength(nmi) {
  const text = nmi < 0.1 ? "nearly unrelated" : nmi < 0.5 ? "weakly related" : nmi < 0.9 ? "strongly related" : "nearly identical";
  return `${text} (NMI ${nmi.toFixed(2)})`;
}
