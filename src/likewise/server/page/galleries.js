// The Groups view: a gallery for each group. A picture dragged to another group is an answer.

import { api } from "/page/api.js";
import { $, button, count, h, isTyping, picture } from "/page/dom.js";
import { actionOf } from "/page/keys.js";
import { zoom } from "/page/zoom.js";

const view = $("view-groups");
const DRAG_TYPE = "application/x-likewise";
const MAX_LIMIT = 500; // pictures of a group in one request

export function makeGalleriesView({ showProblem, changed, announce, openReview }) {
  let found = null; // the groups as they are shown
  const selected = new Map(); // image id -> name
  const newImages = new Set(); // found in the folder since the page was opened
  let dragged = [];
  let isDragging = false;
  let limit = 60; // pictures of a group; grows with "Show more"
  let nNotMoved = 0; // pictures that earlier answers keep in their group
  let isStale = false; // newer groups wait until the person has finished

  const isTypingHere = () => view.contains(document.activeElement) && isTyping(document.activeElement);
  const refresh = () => load(true);

  // `isWanted`: the person waits for the groups. Others are not shown while a name is typed.
  async function load(isWanted) {
    let newest = null;
    try {
      newest = await api.groups(limit);
    } catch (error) {
      showProblem(error.message);
      return;
    }
    isStale = isDragging || (!isWanted && isTypingHere());
    if (isStale) return;
    found = newest;
    for (const image of found.new) newImages.add(image.id);
    show();
  }

  // There are newer groups; shown at once unless the person is moving pictures or typing.
  function renew() {
    isStale = isDragging || selected.size > 0 || isTypingHere();
    if (!isStale) load(false);
    else if (!isDragging && !isTypingHere()) show();
  }

  // -- changes --

  function moved(text, n, { conflicts }) {
    nNotMoved = conflicts.length;
    announce(n > nNotMoved ? `${count(n - nNotMoved, "picture")} ${text}` : "");
    selected.clear();
    changed(conflicts[0]);
  }

  async function move(images, group) {
    if (!images.length) return;
    try {
      moved("moved", images.length, await api.move(images, group));
      await refresh();
    } catch (error) {
      showProblem(error.message);
    }
  }

  async function createGroup() {
    try {
      const made = await api.createGroup([...selected.keys()], "");
      moved("moved to a new group", selected.size, made);
      await refresh();
      view.querySelector(`[data-focus="name-${CSS.escape(made.id)}"]`)?.select(); // to type its name
    } catch (error) {
      showProblem(error.message);
    }
  }

  async function change(id, values, message = "") {
    try {
      await api.changeGroup(id, values);
      if (message) announce(message);
      changed();
      await refresh();
    } catch (error) {
      showProblem(error.message);
    }
  }

  // -- on the screen --

  function show() {
    const focused = document.activeElement?.dataset?.focus;
    if (!found.groups.length) {
      view.replaceChildren(h("p", { class: "quiet" }, "The first groups will appear soon."));
      return;
    }
    const others = [imageSection("Unsure", found.unsure, found.n_unsure, "Not answered yet; the model is unsure about these."),
      imageSection("Bad pictures", found.bad, found.bad.length, "Left out of the groups."),
      imageSection("New", found.new, found.new.length, "Just found in the folder; not in a group yet.")];
    view.replaceChildren(bar(), ...found.groups.map(groupSection), ...others.filter(Boolean));
    if (focused) view.querySelector(`[data-focus="${CSS.escape(focused)}"]`)?.focus();
  }

  function clearSelection() {
    selected.clear();
    show();
  }

  function bar() {
    const target = h("select", { "aria-label": "Move the selected pictures to", "data-focus": "target" },
      h("option", { value: "" }, "move to…"), found.groups.map((one) => h("option", { value: one.id }, one.name)));
    target.addEventListener("change", () => target.value && move([...selected.keys()], target.value));
    const text = selected.size ? `${count(selected.size, "picture")} selected` : "Select pictures to move them, or drag them to a group. Each move is an answer.";
    const tools = selected.size ? [target, button("New group", createGroup, { id: "new-group" }), button("Clear selection", clearSelection)] : [];
    if (isStale) tools.push(button("Show updated groups", () => { selected.clear(); refresh(); }, { id: "renew" }));
    const notMoved = nNotMoved ? h("p", { class: "not-moved", role: "status" }, `${count(nNotMoved, "picture")} not moved: earlier answers contradict it. `,
      button("Review", () => { nNotMoved = 0; openReview(); }, { id: "review" })) : null;
    return h("div", { class: "bar" }, h("div", { class: "row" }, h("p", {}, text), ...tools), notMoved, chips());
  }

  // All groups in one row: a click scrolls to a group, and pictures can be dropped here.
  function chips() {
    const chip = (one) => {
      const scroll = () => view.querySelector(`section[data-group="${CSS.escape(one.id)}"]`).scrollIntoView();
      const element = h("button", { type: "button", class: "chip", group: one.colour, "data-to": one.id, onclick: scroll },
        h("i", { class: "dot" }), one.name, h("span", { class: "quiet" }, one.n_images.toLocaleString("en")));
      makeDropTarget(element, one.id);
      return element;
    };
    return h("div", { class: "chips", role: "group", "aria-label": "Groups" }, found.groups.map(chip));
  }

  function makeDropTarget(element, group) {
    element.addEventListener("dragover", (event) => { event.preventDefault(); element.classList.add("over"); });
    element.addEventListener("dragleave", (event) => element.contains(event.relatedTarget) || element.classList.remove("over"));
    element.addEventListener("drop", (event) => { event.preventDefault(); element.classList.remove("over"); move(dragged, group); });
  }

  function groupSection(one) {
    const others = found.groups.filter((other) => other.id !== one.id);
    const nNew = one.images.filter((image) => newImages.has(image.id)).length;
    const changes = (one.n_moved ? `, ${one.n_moved} moved` : "") + (nNew ? `, ${nNew} new` : "");
    const tiles = h("div", { class: "tiles" }, one.images.map((image) => tile(image, one.images)));
    const section = h("section", { class: "group", group: one.colour, "data-group": one.id, "aria-label": one.name },
      h("header", {}, h("h2", {}, nameInput(one)), h("span", { class: "quiet" }, count(one.n_images, "picture") + changes), ...(others.length > 1 ? [mergeSelect(one, others)] : [])),
      tiles, moreButton(one, tiles));
    makeDropTarget(section, one.id);
    return section;
  }

  function nameInput(one) {
    const name = h("input", { value: one.name, "aria-label": `Name of ${one.name}`, maxlength: 100, "data-focus": `name-${one.id}` });
    name.addEventListener("change", () => {
      const wanted = name.value.trim();
      name.value = wanted || one.name;
      if (wanted && wanted !== one.name) change(one.id, { name: wanted });
    });
    name.addEventListener("keydown", (event) => {
      if (event.isComposing) return; // the key belongs to an input method
      if (event.key === "Escape") name.value = one.name;
      if (event.key === "Escape" || event.key === "Enter") name.blur(); // saves a changed name
    });
    return name;
  }

  function mergeSelect(one, others) {
    const merge = h("select", { "aria-label": `Merge ${one.name} into` }, h("option", { value: "" }, "merge into…"),
      others.map((other) => h("option", { value: other.id }, other.name)));
    merge.addEventListener("change", () => merge.value && change(one.id, { merge_into: merge.value }, `${one.name} merged into ${merge.selectedOptions[0].text}; undo restores both`));
    return merge;
  }

  function moreButton(one, tiles) {
    if (one.images.length >= one.n_images) return null;
    const more = button("Show more", async () => {
      const next = await api.group(one.id, tiles.children.length).catch((error) => showProblem(error.message));
      if (!next) return;
      tiles.append(...next.images.map((image) => tile(image, next.images)));
      limit = Math.min(MAX_LIMIT, Math.max(limit, tiles.children.length));
      if (tiles.children.length >= next.n_images || !next.images.length) more.remove();
    });
    return more;
  }

  function tile(image, all) {
    const title = `${image.name}, ${Math.round(image.confidence * 100)} % sure${image.moved ? ", moved" : ""}${image.answered ? ", in your answers" : ""}`;
    const mark = image.moved ? "moved" : newImages.has(image.id) ? "new" : "";
    const element = h("button", { type: "button", class: "tile", draggable: "true", "aria-pressed": String(selected.has(image.id)), "data-id": image.id, "data-focus": `tile-${image.id}`, title },
      picture(image.id, title), mark ? h("span", { class: "mark" }, mark) : null, image.answered ? h("span", { class: "mark answered" }, "✓") : null);
    const enlarge = () => zoom(all, all.indexOf(image));
    element.addEventListener("click", () => {
      if (selected.has(image.id)) selected.delete(image.id);
      else selected.set(image.id, image.name);
      show();
    });
    element.addEventListener("dblclick", enlarge);
    element.addEventListener("keydown", (event) => actionOf(event.key) === "zoom" && !event.ctrlKey && !event.metaKey && enlarge());
    element.addEventListener("dragstart", (event) => {
      isDragging = true;
      dragged = selected.has(image.id) ? [...selected.keys()] : [image.id];
      event.dataTransfer.setData(DRAG_TYPE, dragged.join());
      event.dataTransfer.effectAllowed = "move";
    });
    element.addEventListener("dragend", () => {
      isDragging = false;
      if (isStale) renew();
    });
    return element;
  }

  const imageSection = (title, images, n, text) =>
    n ? h("section", { class: "group", "aria-label": title }, h("header", {}, h("h2", {}, title), h("span", { class: "quiet" }, `${count(n, "picture")}. ${text}`)),
      h("div", { class: "tiles" }, images.map((image) => tile(image, images)))) : null;

  // No conflict is left: the message about pictures that were not moved goes.
  function noConflicts() {
    if (!nNotMoved) return;
    nNotMoved = 0;
    if (!view.hidden) show();
  }

  return { refresh, renew, noConflicts, reset: () => { selected.clear(); [nNotMoved, isStale] = [0, false]; } };
}
