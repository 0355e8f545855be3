// Galleries: a group is a lasting name and colour; a picture dragged elsewhere is an answer.

import { api } from "/page/api.js";
import { $, h, isTyping, picture, some } from "/page/elements.js";
import { actionOf } from "/page/keys.js";
import { zoom } from "/page/zoom.js";

const view = $("view-groups");
const TYPE = "application/x-likewise";

export function makeGalleries({ complain, changed, say, settle }) {
  let found = null;
  const chosen = new Map(); // id -> name
  const fresh = new Set(); // pictures found in the folder since this page is open
  let dragging = [];
  let isDragging = false; // something is in the hand: what lies on the page stays where it is
  let limit = 60; // pictures of a group; more once somebody wanted more
  let nStayed = 0; // pictures that earlier answers hold where they are
  let isStale = false; // there are newer groups, but somebody is at work with these

  const isTypingHere = () => view.contains(document.activeElement) && isTyping(document.activeElement);
  const refresh = () => look(true);

  // Groups that nobody waits for are not shown if somebody began to type a name meanwhile.
  async function look(isWanted) {
    let newest = null;
    try {
      newest = await api.groups(limit);
    } catch (error) {
      complain(error.message);
      return;
    }
    isStale = isDragging || (!isWanted && isTypingHere());
    if (isStale) return;
    found = newest;
    for (const one of found.fresh) fresh.add(one.id);
    show();
  }

  // Newer groups are there; they do not take from under the hand what it is about to take.
  function renew() {
    isStale = isDragging || chosen.size > 0 || isTypingHere();
    if (!isStale) look(false);
    else if (!isDragging && !isTypingHere()) show();
  }

  function done(what, n, { conflicts }) {
    nStayed = conflicts.length;
    say(n > nStayed ? `${some(n - nStayed, "picture")} ${what}` : "");
    chosen.clear();
    changed(conflicts[0]);
  }

  async function move(images, key) {
    if (!images.length) return;
    try {
      done("moved", images.length, await api.move(images, key));
      await refresh();
    } catch (error) {
      complain(error.message);
    }
  }

  async function splitOff() {
    try {
      const made = await api.split([...chosen.keys()], "");
      done("split off", chosen.size, made);
      await refresh();
      view.querySelector(`[data-focus="name-${CSS.escape(made.key)}"]`)?.select(); // a name is wanted next
    } catch (error) {
      complain(error.message);
    }
  }

  async function change(key, what, note = "") {
    try {
      await api.changeGroup(key, what);
      if (note) say(note);
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
    const text = chosen.size ? `${some(chosen.size, "picture")} chosen` : "Choose pictures and move them, or drag them to a group; each is an answer.";
    const button = (words, act, id) => h("button", { type: "button", id, onclick: act }, words);
    const tools = chosen.size ? [target, button("Make a new group", splitOff, "split"), button("Choose none", () => { chosen.clear(); show(); })] : [];
    if (isStale) tools.push(button("Show the new groups", () => { chosen.clear(); refresh(); }, "renew"));
    const stayed = nStayed ? h("p", { class: "stayed", role: "status" }, `${some(nStayed, "picture")} stayed: earlier answers of yours say otherwise. `,
      button("Settle it", () => { nStayed = 0; settle(); }, "settle-it")) : null;
    return h("div", { class: "bar" }, h("div", { class: "row" }, h("p", {}, text), ...tools), stayed, chips());
  }

  // The groups at a glance: a click goes there, and pictures may be dropped here without scrolling.
  function chips() {
    const chip = (one) => {
      const element = h("button", { type: "button", class: "chip", group: one.colour, "data-to": one.key, onclick: () => view.querySelector(`section[data-key="${CSS.escape(one.key)}"]`).scrollIntoView() },
        h("i", { class: "dot" }), one.name, h("span", { class: "quiet" }, one.n_images.toLocaleString("en")));
      takesPictures(element, one.key);
      return element;
    };
    return h("div", { class: "chips", role: "group", "aria-label": "Groups" }, found.groups.map(chip));
  }

  function takesPictures(element, key) {
    element.addEventListener("dragover", (event) => { event.preventDefault(); element.classList.add("over"); });
    element.addEventListener("dragleave", (event) => element.contains(event.relatedTarget) || element.classList.remove("over"));
    element.addEventListener("drop", (event) => { event.preventDefault(); element.classList.remove("over"); move(dragging, key); });
  }

  function group(one) {
    const name = h("input", { value: one.name, "aria-label": `Name of ${one.name}`, maxlength: 100, "data-focus": `name-${one.key}` });
    name.addEventListener("change", () => {
      const wanted = name.value.trim();
      name.value = wanted || one.name;
      if (wanted && wanted !== one.name) change(one.key, { name: wanted });
    });
    name.addEventListener("keydown", (event) => {
      if (event.isComposing) return; // the key is not meant for us
      if (event.key === "Escape") name.value = one.name;
      if (event.key === "Escape" || event.key === "Enter") name.blur(); // which saves what is new; the next key is a key again
    });
    const others = found.groups.filter((other) => other.key !== one.key);
    const merge = h("select", { "aria-label": `Merge ${one.name} into` }, h("option", { value: "" }, "merge into…"),
      others.map((other) => h("option", { value: other.key }, other.name)));
    merge.addEventListener("change", () => merge.value && change(one.key, { merge_into: merge.value }, `${one.name} and ${merge.selectedOptions[0].text} are one now; undo takes that back`));
    const nNew = one.images.filter((image) => fresh.has(image.id)).length;
    const moved = (one.n_moved ? `, ${one.n_moved} moved` : "") + (nNew ? `, ${nNew} new` : "");
    const tiles = h("div", { class: "tiles" }, one.images.map((image) => tile(image, one.images)));
    const section = h("section", { class: "group", group: one.colour, "data-key": one.key, "aria-label": one.name },
      h("header", {}, h("h2", {}, name), h("span", { class: "quiet" }, some(one.n_images, "picture") + moved), ...(others.length > 1 ? [merge] : [])),
      tiles, more(one, tiles));
    takesPictures(section, one.key);
    return section;
  }

  function more(one, tiles) {
    if (one.images.length >= one.n_images) return null;
    const button = h("button", { type: "button", onclick: async () => {
      const next = await api.more(one.key, tiles.children.length).catch((error) => complain(error.message));
      if (!next) return;
      tiles.append(...next.images.map((image) => tile(image, next.images)));
      limit = Math.min(500, Math.max(limit, tiles.children.length));
      if (tiles.children.length >= next.n_images || !next.images.length) button.remove();
    } }, "Show more");
    return button;
  }

  function mark(image) {
    const word = image.moved ? "moved" : fresh.has(image.id) ? "new" : "";
    return word ? h("span", { class: "mark" }, word) : null;
  }

  function tile(image, all) {
    const about = `${image.name}, ${Math.round(image.confidence * 100)} % sure${image.moved ? ", moved" : ""}${image.answered ? ", you spoke of it" : ""}`;
    const element = h("button", { type: "button", class: "tile", draggable: "true", "aria-pressed": String(chosen.has(image.id)), "data-id": image.id, "data-focus": `tile-${image.id}`, title: about },
      picture(image.id, about), mark(image), image.answered ? h("span", { class: "mark answered" }, "✓") : null);
    element.addEventListener("click", () => {
      if (chosen.has(image.id)) chosen.delete(image.id);
      else chosen.set(image.id, image.name);
      show();
    });
    element.addEventListener("dblclick", () => zoom(all, all.indexOf(image)));
    element.addEventListener("keydown", (event) => actionOf(event.key) === "zoom" && !event.ctrlKey && !event.metaKey && zoom(all, all.indexOf(image)));
    element.addEventListener("dragstart", (event) => {
      isDragging = true;
      dragging = chosen.has(image.id) ? [...chosen.keys()] : [image.id];
      event.dataTransfer.setData(TYPE, dragging.join());
      event.dataTransfer.effectAllowed = "move";
    });
    element.addEventListener("dragend", () => {
      isDragging = false;
      if (isStale) renew();
    });
    return element;
  }

  const gathered = (title, images, n, about) =>
    n ? h("section", { class: "group", "aria-label": title }, h("header", {}, h("h2", {}, title), h("span", { class: "quiet" }, `${some(n, "picture")}. ${about}`)),
      h("div", { class: "tiles" }, images.map((image) => tile(image, images)))) : null;

  // Nothing is left to settle: nobody needs to be told of it.
  function settled() {
    if (!nStayed) return;
    nStayed = 0;
    if (!view.hidden) show();
  }

  return { refresh, renew, settled, reset: () => { chosen.clear(); [nStayed, isStale] = [0, false]; } };
}
