// The bar above the gallery: orders, filters and search; the groups to drop pictures on; what to do with the selection.

import { button, count, h } from "/page/dom.js";
import { icon } from "/page/icons.js";
import { number, t } from "/page/texts.js";

const ORDERS = { surest: "Surest first", unsure: "Least sure first", newest: "Newest first", name: "By name" };
const SHOWN = {
  all: "All pictures",
  review: "To review",
  unsure: "Unsure",
  placed: "Placed by you",
  moved: "Moved lately",
};
const SIZES = [84, 128, 200, 320]; // pixels
const STORE = "likewise-gallery";
const SEARCH_PAUSE = 200; // milliseconds

const stored = () => {
  try {
    return JSON.parse(localStorage.getItem(STORE)) ?? {};
  } catch {
    return {};
  }
};

// query: { order, only, below, search }; `changed` loads the gallery again, `resized` changes the size of the tiles.
export function makeFilters(query, { changed, resized }) {
  const kept = stored();
  Object.assign(query, { order: ORDERS[kept.order] ? kept.order : "surest", only: "all", below: 0.6, search: "" });
  const save = (values) => localStorage.setItem(STORE, JSON.stringify(Object.assign(kept, values)));

  const order = select(t("Order"), ORDERS, query.order, (value) => {
    query.order = value;
    save({ order: value });
    changed();
  });
  const below = h("input", {
    type: "range",
    min: 5,
    max: 100,
    step: 5,
    value: 60,
    "aria-label": t("Unsure below"),
    id: "below",
  });
  const limit = h("output", {}, "60 %");
  const slider = h("label", { class: "row slider", hidden: true }, t("below"), below, limit);
  const only = select(t("Show"), SHOWN, "all", (value) => {
    query.only = value;
    slider.hidden = value !== "unsure";
    changed();
  });
  below.addEventListener("input", () => {
    limit.textContent = `${below.value} %`;
    later(() => {
      query.below = below.value / 100;
    });
  });
  const search = h("input", {
    type: "search",
    id: "search-names",
    placeholder: t("File name"),
    "aria-label": t("Search by file name"),
  });
  search.addEventListener("input", () =>
    later(() => {
      query.search = search.value;
    }),
  );
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !search.value) search.blur();
    if (event.key === "Enter") search.blur();
  });
  const size = h("input", {
    type: "range",
    min: 0,
    max: SIZES.length - 1,
    step: 1,
    value: kept.size ?? 1,
    "aria-label": t("Size of the pictures"),
    class: "size",
  });
  size.addEventListener("input", () => {
    save({ size: Number(size.value) });
    resized(SIZES[size.value]);
  });

  let timer = 0;
  function later(act) {
    clearTimeout(timer);
    timer = setTimeout(() => {
      act();
      changed();
    }, SEARCH_PAUSE);
  }

  function show(wanted) {
    [only.value, search.value, order.value] = [wanted, "", "unsure"];
    slider.hidden = wanted !== "unsure";
    Object.assign(query, { only: wanted, search: "", order: "unsure" });
  }

  function reset() {
    [only.value, search.value, slider.hidden] = ["all", "", true];
    Object.assign(query, { only: "all", search: "" });
  }

  return {
    element: h("div", { class: "row filters" }, order, only, slider, search),
    size,
    side: () => SIZES[size.value] ?? SIZES[1],
    search,
    show,
    reset,
  };
}

function select(label, options, value, chosen) {
  const element = h(
    "select",
    { "aria-label": label },
    Object.entries(options).map(([key, text]) => h("option", { value: key, selected: key === value }, t(text))),
  );
  element.addEventListener("change", () => {
    chosen(element.value);
    element.blur();
  }); // keys move pictures again
  return element;
}

// All groups in one row: a click scrolls to a group, a digit moves the selection there; pictures can be dropped.
export function chips(groups, { go, makeDropTarget }) {
  const chip = (one, i) => {
    const key = i < 9 ? h("kbd", {}, String(i + 1)) : null;
    const element = h(
      "button",
      { type: "button", class: "chip", group: one.colour, "data-to": one.id, onclick: () => go(one.id) },
      h("i", { class: "dot" }),
      h("span", { class: "name" }, one.name),
      h("span", { class: "quiet" }, number(one.n_images)),
      key,
    );
    makeDropTarget(element, one.id);
    return element;
  };
  return h("div", { class: "chips", role: "group", "aria-label": t("Groups") }, groups.map(chip));
}

export function selectionTools(n, groups, { move, createGroup, clear }) {
  if (!n)
    return h("p", { class: "quiet hint" }, t("Select pictures and press the number of a group, or drag them there."));
  const target = h(
    "select",
    { "aria-label": t("Move the selected pictures to"), "data-focus": "target" },
    h("option", { value: "" }, t("Move to…")),
    groups.map((one) => h("option", { value: one.id }, one.name)),
  );
  target.addEventListener("change", () => target.value && move(target.value));
  return h(
    "div",
    { class: "row selected" },
    h("b", {}, t("{pictures} selected", { pictures: count(n, "picture") })),
    target,
    button(t("New group"), createGroup, { id: "new-group" }),
    button(icon("close"), clear, {
      class: "icon-only plain",
      "aria-label": t("Clear selection"),
      title: t("Clear selection"),
    }),
  );
}
