// The Compare view: a contingency table of two criteria, with pictures in each cell.

import { api, state } from "/page/api.js";
import { $, count, h, picture } from "/page/dom.js";
import { number, parts, t } from "/page/texts.js";
import { zoom } from "/page/zoom.js";

const view = $("view-compare");

export function makeCompareView() {
  let other = "";

  async function refresh() {
    try {
      const names = (await api.criteria()).map((one) => one.name).filter((name) => name !== state.criterion);
      if (!names.includes(other)) other = names[0] ?? "";
      if (!view.firstElementChild) showText(t("Comparing…"));
      if (!other)
        return showText(
          t("There is only one criterion. Add another with +, answer a few questions, and compare the two here."),
        );
      show(await api.compare(other), names);
    } catch (error) {
      showText(error.message);
    }
    return null;
  }

  const showText = (text) => view.replaceChildren(h("p", { class: "empty" }, text));

  function show(table, names) {
    const choose = h(
      "select",
      { "aria-label": t("Compare with"), "data-focus": "other" },
      names.map((name) => h("option", { value: name, selected: name === other }, name)),
    );
    choose.addEventListener("change", () => {
      other = choose.value;
      refresh();
    });
    const top = h(
      "tr",
      {},
      h("td", {}),
      table.columns.map((one) => h("th", { scope: "col", group: one.colour }, one.name)),
    );
    const rows = table.rows.map((row, i) =>
      h(
        "tr",
        {},
        h("th", { scope: "row", group: row.colour }, row.name),
        table.cells[i].map((cell, j) => cellView(cell, row, table.columns[j], table.n_images)),
      ),
    );
    view.replaceChildren(
      h(
        "div",
        { class: "bar" },
        h("p", {}, parts("{criterion} (rows) and", { criterion: h("b", {}, table.first) })),
        choose,
        h("p", {}, t("(columns)"), ` · ${count(table.n_images, "picture")} · ${strength(table.nmi)}`),
      ),
      h("div", { class: "scroll" }, h("table", { class: "compare" }, h("thead", {}, top), h("tbody", {}, rows))),
    );
  }

  function cellView(cell, row, column, nImages) {
    const title = t("{first} and {second}", { first: row.name, second: column.name });
    const all = cell.images.map((id) => ({ id, name: title }));
    const share = nImages ? Math.round((cell.n / nImages) * 100) : 0;
    const tiles = all.map((one, i) =>
      h(
        "button",
        {
          type: "button",
          class: "tile",
          "aria-label": t("Enlarge {name}", { name: title }),
          onclick: () => zoom(all, i),
        },
        picture(one.id, title),
      ),
    );
    return h(
      "td",
      { class: cell.n ? "" : "none", "data-n": cell.n },
      h("b", {}, number(cell.n)),
      h("span", { class: "quiet" }, ` ${share} %`),
      h("div", { class: "tiles" }, tiles),
    );
  }

  return {
    refresh,
    reset: () => {
      other = "";
      view.replaceChildren();
    },
  };
}

function strength(nmi) {
  return nmi < 0.1
    ? t("nearly unrelated")
    : nmi < 0.5
      ? t("weakly related")
      : nmi < 0.9
        ? t("strongly related")
        : t("nearly identical");
}
