// Galleries: a group is a lasting name and colour; a picture dragged elsewhere is an answer.

import { api } from "/page/api.js";
import { $, h, picture, some } from "/page/elements.js";
import { zoom } from "/page/zoom.js";

const view = $("view-groups");
const TYPE = "application/x-likewise";

export function makeGalleries({ complain, changed, say }) {
  let found = null;
  const chosen = new Map(); // id -> name
  let dragging = [];

  async function refresh() {
    try {
      found = await api.groups();
    } catch (error) {
      complain(error.message);
      return;
    }
    show();
  }

  async function move(images, key) {
    if (!images.length) return;
    try {
      const moved = await api.move(images, key);
      say(`${some(moved.n_taken, "picture")} moved` + (moved.conflicts.length ? `; ${some(moved.conflicts.length, "contradiction")} to settle under Ask` : ""));
      chosen.clear();
      changed(moved.conflicts[0]);
      await refresh();
    } catch (error) {
      complain(error.message);
    }
  }

  async function splitOff() {
    try {
      const made = await api.split([...chosen.keys()], "");
      say(`${some(chosen.size, "picture")} split off` + (made.conflicts.length ? `; ${some(made.conflicts.length, "contradiction")} to settle under Ask` : ""));
      chosen.clear();
      changed(made.conflicts[0]);
      await refresh();
      view.querySelector(`[data-focus="name-${CSS.escape(made.key)}"]`)?.select(); // a name is wanted next
    } catch (error) {
      complain(error.message);
    }
  }

  async function change(key, what) {
    try {
      await api.changeGroup(key, what);
      changed();
      await refresh();
    } catch (error) {
      complain(error.message);
    }
  }

  function show() {
    const focused = document.activeElement?.dataset?.focus;
    if (!found.groups.length) {
      view.replaceChildren(h("p", { class: "quiet" }, "The first groups come in a moment."));
      return;
    }
    const groups = found.groups.map(group);
    const rest = [gathered("Unsure", found.unsure, found.n_unsure, "Nobody spoke of these, and the model may be wrong."),
      gathered("Bad pictures", found.bad, found.bad.length, "Left out of the groups."),
      gathered("New", found.fresh, found.fresh.length, "Found in the folder just now; they are being looked at.")];
    view.replaceChildren(bar(), ...groups, ...rest.filter(Boolean));
    if (focused) view.querySelector(`[data-focus="${CSS.escape(focused)}"]`)?.focus();
  }

  function bar() {
    const target = h("select", { "aria-label": "Move the chosen pictures to", "data-focus": "target" },
      h("option", { value: "" }, "move to…"), found.groups.map((one) => h("option", { value: one.key }, one.name)));
    target.addEventListener("change", () => target.value && move([...chosen.keys()], target.value));
    const text = chosen.size ? `${some(chosen.size, "picture")} chosen` : "Choose pictures and move them, or drag them to another group; each is an answer.";
    const split = h("button", { type: "button", id: "split", onclick: splitOff }, "Make a new group");
    const none = h("button", { type: "button", onclick: () => { chosen.clear(); show(); } }, "Choose none");
    return h("div", { class: "bar" }, h("p", {}, text), ...(chosen.size ? [target, split, none] : []));
  }

  function group(one) {
    const name = h("input", { value: one.name, "aria-label": `Name of ${one.name}`, maxlength: 100, "data-focus": `name-${one.key}` });
    name.addEventListener("change", () => name.value.trim() && change(one.key, { name: name.value.trim() }));
    const others = found.groups.filter((other) => other.key !== one.key);
    const merge = h("select", { "aria-label": `Merge ${one.name} into` }, h("option", { value: "" }, "merge into…"),
      others.map((other) => h("option", { value: other.key }, other.name)));
    merge.addEventListener("change", () => merge.value && change(one.key, { merge_into: merge.value }));
    const moved = one.n_moved ? `, ${one.n_moved} moved` : "";
    const tiles = h("div", { class: "tiles" }, one.images.map((image) => tile(image, one.images)));
    const section = h("section", { class: "group", group: one.colour, "data-key": one.key, "aria-label": one.name },
      h("header", {}, h("h2", {}, name), h("span", { class: "quiet" }, some(one.n_images, "picture") + moved), ...(others.length > 1 ? [merge] : [])),
      tiles, more(one, tiles));
    section.addEventListener("dragover", (event) => { event.preventDefault(); section.classList.add("over"); });
    section.addEventListener("dragleave", (event) => section.contains(event.relatedTarget) || section.classList.remove("over"));
    section.addEventListener("drop", (event) => { event.preventDefault(); section.classList.remove("over"); move(dragging, one.key); });
    return section;
  }

  function more(one, tiles) {
    if (one.images.length >= one.n_images) return null;
    const button = h("button", { type: "button", onclick: async () => {
      const next = await api.more(one.key, tiles.children.length).catch((error) => complain(error.message));
      if (!next) return;
      tiles.append(...next.images.map((image) => tile(image, next.images)));
      if (tiles.children.length >= next.n_images || !next.images.length) button.remove();
    } }, "Show more");
    return button;
  }

  function tile(image, all) {
    const about = `${image.name}, ${Math.round(image.confidence * 100)} % sure${image.moved ? ", moved" : ""}${image.answered ? ", you spoke of it" : ""}`;
    const element = h("button", { type: "button", class: "tile", draggable: "true", "aria-pressed": String(chosen.has(image.id)), "data-id": image.id, "data-focus": `tile-${image.id}`, title: about },
      picture(image.id, about), image.moved ? h("span", { class: "mark" }, "moved") : null, image.answered ? h("span", { class: "mark answered" }, "✓") : null);
    element.addEventListener("click", () => {
      if (chosen.has(image.id)) chosen.delete(image.id);
      else chosen.set(image.id, image.name);
      show();
    });
    element.addEventListener("dblclick", () => zoom(all, all.indexOf(image)));
    element.addEventListener("keydown", (event) => event.key.toLowerCase() === "z" && zoom(all, all.indexOf(image)));
    element.addEventListener("dragstart", (event) => {
      dragging = chosen.has(image.id) ? [...chosen.keys()] : [image.id];
      event.dataTransfer.setData(TYPE, dragging.join());
      event.dataTransfer.effectAllowed = "move";
    });
    return element;
  }

  const gathered = (title, images, n, about) =>
    n ? h("section", { class: "group", "aria-label": title }, h("header", {}, h("h2", {}, title), h("span", { class: "quiet" }, `${some(n, "picture")}. ${about}`)),
      h("div", { class: "tiles" }, images.map((image) => tile(image, images)))) : null;

  return { refresh, reset: () => chosen.clear(), isBusy: () => chosen.size > 0 || view.contains(document.activeElement) };
}
