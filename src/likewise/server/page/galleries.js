// The Groups view: all pictures by group. Pictures moved to another group are answers; any action can be undone.

import { makeActions } from "/page/actions.js";
import { api } from "/page/api.js";
import { $, button, h } from "/page/dom.js";
import { chips, makeFilters, selectionTools } from "/page/gallery_bar.js";
import { makeHeader } from "/page/gallery_header.js";
import { groupNamed } from "/page/group_forms.js";
import { makeGrid } from "/page/grid.js";
import { actionOf } from "/page/keys.js";
import { makeGroupReview } from "/page/review_grid.js";
import { addRubberBand, makeSelection } from "/page/selection.js";
import { t } from "/page/texts.js";
import { fillTile, loadTile, makeTile } from "/page/tile.js";
import { zoom } from "/page/zoom.js";

const view = $("view-groups");
const DRAG_TYPE = "application/x-likewise";
const MAX_DETAILS = 400; // pictures of one request
const CONTROLS = "button, input, select, summary, a";

export function makeGalleriesView({ showProblem, changed, openReview }) {
  let groups = [];
  let dragged = [];
  let isDragging = false;
  let isStale = false; // newer groups wait until the person has finished
  let nRequests = 0; // an answer to an older one is not shown
  const sections = new Map(); // id -> { element, box, update }
  const details = new Map(); // id of a picture -> name, confidence, placed, moved
  const newImages = new Set(); // found in the folder since the page was opened
  let hasScanned = false; // the next groups have such pictures
  const query = {};

  const tools = h("div", { class: "row tools" });
  const names = h("div", {});
  const scroller = h("div", { class: "scroller" });
  const note = h("p", { class: "empty" }, t("The first groups will appear soon."));
  const filters = makeFilters(query, { changed: () => refresh(), resized: (size) => grid.setSize(size) });
  const bar = h("div", { class: "bar" }, h("div", { class: "row top" }, filters.element, tools, filters.size), names);
  const selection = makeSelection(() => {
    grid.refill();
    showTools();
    showCursor();
  });
  const grid = makeGrid(scroller, { makeTile, fill, load: loadTile, shown: loadDetails });
  view.replaceChildren(note, bar, scroller);
  grid.setSize(filters.side());
  addRubberBand(scroller, grid, selection, (target) => !target.closest(`.tile, ${CONTROLS}`));

  const actions = makeActions({ showProblem, changed, refresh: () => refresh(), openReview });
  const review = makeGroupReview({ done: actions.done });

  // -- loading --

  const refresh = actions.attempt(async () => {
    nRequests += 1;
    const request = nRequests;
    const found = await api.gallery(query);
    if (request !== nRequests) return;
    isStale = isDragging;
    if (!isStale) show(found);
  });

  // There are newer groups; shown at once unless the person is moving pictures.
  function renew() {
    isStale = isDragging || selection.size > 0;
    if (isStale) showTools();
    else refresh();
  }

  function show(found) {
    const anchors = grid.anchor();
    details.clear();
    groups = found.sections.filter((one) => one.kind === "group");
    const unread = found.sections.find((one) => one.kind === "new");
    if (hasScanned) unread?.images.forEach((id) => newImages.add(id));
    hasScanned = false;
    note.hidden = groups.length > 0;
    [bar.hidden, scroller.hidden] = [!groups.length, !groups.length];
    const shown = groups.length ? found.sections.filter((one) => one.kind === "group" || one.images.length) : [];
    const elements = shown.map((one) => section(one).element);
    if (elements.some((one, i) => one !== scroller.children[i]) || elements.length !== scroller.children.length)
      scroller.replaceChildren(...elements);
    names.replaceChildren(chips(groups, { go: goTo, makeDropTarget }));
    grid.setSections(shown.map((one) => ({ key: one.id, ids: one.images, box: sections.get(one.id).box })));
    grid.restore(anchors);
    selection.keep((id) => grid.sectionOf(id) !== null);
    grid.refill();
    showTools();
  }

  function section(one) {
    if (!sections.has(one.id)) sections.set(one.id, makeSection(one));
    const made = sections.get(one.id);
    made.update(one);
    return made;
  }

  function makeSection({ id, kind }) {
    const header = makeHeader(kind, {
      rename,
      merge,
      check: actions.attempt((one) => review.open(one)),
    });
    const box = h("div", { class: "tiles" });
    const element = h(
      "section",
      { class: "group", ...(kind === "group" ? { "data-group": id } : {}) },
      header.element,
      box,
    );
    box.addEventListener("focus", () => {
      const own = grid.sectionOf(selection.cursor)?.box === box;
      if (!own && box.matches(":focus-visible"))
        selection.move(Number(box.querySelector(".tile:not([hidden])")?.dataset.id));
    });
    if (kind === "group") makeDropTarget(element, id);
    const roles = { role: "listbox", "aria-multiselectable": "true", tabindex: "0" };
    const update = (one) => {
      header.update(one, groups);
      if (one.colour) element.style.setProperty("--group", one.colour);
      element.setAttribute("aria-label", one.name || header.element.querySelector("h2").textContent);
      box.setAttribute("aria-label", t("Pictures of {group}", { group: one.name || kind }));
      for (const [name, value] of Object.entries(roles))
        one.images.length ? box.setAttribute(name, value) : box.removeAttribute(name);
    };
    return { element, box, header: header.element, update };
  }

  // Two groups with one name are one group.
  function rename(one, name) {
    const known = groupNamed(groups, name, one.id);
    if (known) return merge(one, known);
    return actions.change(one.id, { name }, t("Renamed to {group}", { group: name }));
  }

  function merge(one, into) {
    const text = t("Merged {group} into {other}", { group: one.name, other: into.name });
    return actions.change(one.id, { merge_into: into.id }, text);
  }

  async function loadDetails(ids) {
    const wanted = ids.filter((id) => !details.has(id)).slice(0, MAX_DETAILS);
    if (!wanted.length || view.hidden) return;
    const loaded = await api.images(wanted).catch(() => []);
    for (const one of loaded) details.set(one.id, one);
    if (loaded.length) grid.refill();
  }

  function fill(tile, id) {
    fillTile(tile, id, details.get(id), {
      isSelected: selection.has(id),
      isCursor: selection.cursor === id,
      isNew: newImages.has(id),
    });
  }

  function showTools() {
    const made = selectionTools(selection.size, groups, {
      move: (group) => move(selection.list(), group),
      createGroup,
      clear: selection.clear,
    });
    tools.replaceChildren(
      made,
      isStale
        ? button(
            t("Show updated groups"),
            () => {
              selection.clear();
              refresh();
            },
            { id: "renew" },
          )
        : "",
    );
  }

  function showCursor() {
    for (const { box } of sections.values()) box.removeAttribute("aria-activedescendant");
    const at = selection.cursor;
    if (at !== null && grid.tile(at)) grid.sectionOf(at)?.box.setAttribute("aria-activedescendant", `tile-${at}`);
  }

  function goTo(id) {
    const { element } = sections.get(id);
    scroller.scrollTop = element.offsetTop;
  }

  const named = (id) => groups.find((one) => one.id === id);
  const move = (images, group) => actions.move(images, named(group), selection.clear);

  async function createGroup() {
    const id = await actions.createGroup(chosen(), selection.clear);
    const name = id && view.querySelector(`[data-focus="name-${CSS.escape(id)}"]`);
    if (!name) return;
    goTo(id);
    name.focus({ preventScroll: true });
    name.select(); // to type its name
  }

  // The selected pictures, or the one at the cursor.
  const chosen = () => (selection.size || selection.cursor === null ? selection.list() : [selection.cursor]);

  // -- mouse --

  function makeDropTarget(element, group) {
    element.addEventListener("dragover", (event) => {
      event.preventDefault();
      element.classList.add("over");
    });
    element.addEventListener(
      "dragleave",
      (event) => element.contains(event.relatedTarget) || element.classList.remove("over"),
    );
    element.addEventListener("drop", (event) => {
      event.preventDefault();
      element.classList.remove("over");
      const images = dragged.filter((id) => grid.sectionOf(id)?.key !== group);
      if (images.length) move(images, group);
    });
  }

  const idOf = (event) => Number(event.target.closest(".tile")?.dataset.id ?? NaN);

  scroller.addEventListener("click", (event) => {
    const id = idOf(event);
    if (Number.isNaN(id)) return;
    if (event.shiftKey) selection.extend(id, grid.order(), event.ctrlKey || event.metaKey);
    else if (event.ctrlKey || event.metaKey || event.pointerType === "touch" || event.target.closest(".check"))
      selection.toggle(id);
    else selection.only(id);
  });
  scroller.addEventListener("dblclick", (event) => {
    if (!Number.isNaN(idOf(event))) open(idOf(event));
  });
  scroller.addEventListener("dragstart", (event) => {
    const id = idOf(event);
    if (Number.isNaN(id)) return;
    isDragging = true;
    dragged = selection.has(id) ? selection.list() : [id];
    event.target.classList.add("dragged");
    event.dataTransfer.setData(DRAG_TYPE, dragged.join());
    event.dataTransfer.effectAllowed = "move";
  });
  scroller.addEventListener("dragend", () => {
    isDragging = false;
    scroller.querySelector(".dragged")?.classList.remove("dragged");
    if (isStale) renew();
  });

  function open(id) {
    const all = grid.order().map((one) => ({ id: one, name: details.get(one)?.name ?? "" }));
    zoom(
      all,
      all.findIndex((one) => one.id === id),
    );
  }

  // -- keys; returns whether the key was used --

  function pressKey(event) {
    if (!groups.length || event.altKey || (event.target.closest(`dialog, ${CONTROLS}`) && event.key !== "Escape"))
      return false;
    if (event.ctrlKey || event.metaKey) {
      if (event.key.toLowerCase() !== "a") return false;
      selection.set(grid.order());
      return true;
    }
    if (event.key.startsWith("Arrow")) return moveCursor(event);
    return !event.repeat && pressOnce(event.key);
  }

  function pressOnce(key) {
    const at = selection.cursor;
    if (key === "Escape" && selection.size) selection.clear();
    else if (key === " " && at !== null) selection.toggle(at);
    else if ((key === "Enter" || actionOf(key) === "zoom") && at !== null) open(at);
    else if (key === "n" && chosen().length) createGroup();
    else if (key === "/") filters.search.focus();
    else if (/^[1-9]$/.test(key) && groups[key - 1] && chosen().length) moveAndGoOn(groups[key - 1].id);
    else return false;
    return true;
  }

  // A picture at the cursor is moved, and the cursor is at the next one.
  function moveAndGoOn(group) {
    const images = chosen();
    const order = grid.order();
    const next = order[order.indexOf(images.at(-1)) + 1] ?? null;
    move(images, group).then(() => next !== null && grid.sectionOf(next) && selection.move(next));
  }

  function moveCursor(event) {
    const next = grid.neighbour(selection.cursor, event.key);
    if (next === null) return false;
    grid.reveal(next, sections.get(grid.sectionOf(next).key).header.offsetHeight);
    if (event.shiftKey) selection.extend(next, grid.order());
    else selection.move(next);
    grid.sectionOf(next).box.focus({ preventScroll: true });
    return true;
  }

  function reset() {
    selection.clear();
    filters.reset();
    sections.clear();
    isStale = false;
  }

  return {
    refresh: (only) => {
      if (only) filters.show(only);
      grid.layout();
      return refresh();
    },
    markNew: () => {
      hasScanned = true;
      return refresh();
    },
    renew,
    pressKey,
    reset,
  };
}
