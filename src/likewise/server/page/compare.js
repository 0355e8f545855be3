// Two ways to sort the same pictures, side by side: a table of groups with pictures in both.

import { api, state } from "/page/api.js";
import { $, h, picture, some } from "/page/elements.js";
import { zoom } from "/page/zoom.js";

const view = $("view-compare");

export function makeCompare({ complain }) {
  let other = "";

  async function refresh() {
    try {
      const known = (await api.orientations()).map((one) => one.name).filter((name) => name !== state.orientation);
      if (!known.includes(other)) other = known[0] ?? "";
      if (!other) return view.replaceChildren(h("p", { class: "quiet" }, "There is one way to sort only. Begin another with +, answer a few questions, and see here how both go together."));
      show(await api.compare(other), known);
    } catch (error) {
      view.replaceChildren(h("p", { class: "quiet" }, error.message));
    }
    return null;
  }

  function show(found, known) {
    const choose = h("select", { "aria-label": "Compare with", "data-focus": "other" }, known.map((name) => h("option", { value: name, selected: name === other }, name)));
    choose.addEventListener("change", () => { other = choose.value; refresh(); });
    const top = h("tr", {}, h("td", {}), found.columns.map((one) => h("th", { scope: "col", group: one.colour }, one.name)));
    const rows = found.rows.map((one, i) => h("tr", {}, h("th", { scope: "row", group: one.colour }, one.name), found.cells[i].map((cell, j) => box(cell, one, found.columns[j], found))));
    view.replaceChildren(
      h("div", { class: "bar" }, h("p", {}, "by ", h("b", {}, found.first), " (rows) and by "), choose, h("p", {}, `(columns) · ${some(found.n_images, "picture")} · ${words(found.nmi)}`)),
      h("div", { class: "scroll" }, h("table", { class: "compare" }, h("thead", {}, top), h("tbody", {}, rows))));
  }

  function box(cell, row, column, found) {
    const about = `${row.name} and ${column.name}`;
    const all = cell.images.map((id) => ({ id, name: about }));
    const share = found.n_images ? Math.round((cell.n / found.n_images) * 100) : 0;
    const faces = all.map((one, place) => h("button", { type: "button", class: "tile", "aria-label": `Look closer: ${about}`, onclick: () => zoom(all, place) }, picture(one.id, about)));
    return h("td", { class: cell.n ? "" : "none", "data-n": cell.n }, h("b", {}, cell.n.toLocaleString("en")), h("span", { class: "quiet" }, ` ${share} %`), h("div", { class: "tiles" }, faces));
  }

  return { refresh, reset: () => { other = ""; } };
}

function words(nmi) {
  const number = ` (NMI ${nmi.toFixed(2)})`;
  if (nmi < 0.1) return "one says next to nothing about the other" + number;
  if (nmi < 0.5) return "they have something to do with each other" + number;
  return (nmi < 0.9 ? "they go much the same way" : "they are nearly the same") + number;
}
