// A grid question: tick the pictures that do not belong to one group; Enter answers for all.

import { button, h, picture } from "/page/dom.js";
import { t } from "/page/texts.js";

export function gridView({ images, names, offered: [group] }) {
  const tile = (id, i) =>
    h(
      "button",
      {
        type: "button",
        class: "tile",
        "data-id": id,
        "aria-pressed": "false",
        "aria-label": t("{name} does not belong", { name: names[i] }),
        onclick: toggle,
      },
      picture(id, names[i]),
      h("span", { class: "cross", "aria-hidden": "true" }, "✕"),
    );
  const grid = h(
    "div",
    { class: "grid", role: "group", "aria-labelledby": "question", onkeydown: (event) => move(event, grid) },
    images.map(tile),
  );
  const example = h(
    "figure",
    { class: "example", group: group.colour },
    h("figcaption", {}, group.name),
    [group.representative, ...group.members.slice(0, 2)].map((id) => picture(id, group.name)),
  );
  return h("div", { class: "pictures by-grid" }, example, grid);
}

export const gridAnswers = (answer) =>
  button([t("The rest belong"), h("kbd", {}, "Enter")], () => answer("ticked", { ticked: ticked() }), {
    class: "primary",
    "data-answer": "ticked",
  });

export const ticked = () =>
  [...document.querySelectorAll("#view-ask .grid [aria-pressed=true]")].map((one) => Number(one.dataset.id));

function toggle({ currentTarget: tile }) {
  tile.setAttribute("aria-pressed", String(tile.getAttribute("aria-pressed") !== "true"));
}

// Keys: arrows move, space ticks (the browser presses the focused button), Enter answers. Returns whether the key
// was used.
export function pressGridKey(view, key) {
  const grid = view.querySelector(".grid");
  if (key === "enter") view.querySelector("[data-answer=ticked]").click();
  else if (key.startsWith("arrow")) grid.firstElementChild.focus();
  else return false;
  return true;
}

function move(event, grid) {
  const tiles = [...grid.children];
  const columns = tiles.filter((one) => one.offsetTop === tiles[0].offsetTop).length;
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
  if (event.key === "Enter") {
    // answers; a space ticks
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat) grid.closest("main").querySelector("[data-answer=ticked]").click();
  }
  if (!step) return;
  event.preventDefault();
  event.stopPropagation();
  tiles[tiles.indexOf(document.activeElement) + step]?.focus();
}
