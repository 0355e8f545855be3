// The review of a group: its least sure pictures, many at a time. Those that do not belong are ticked; Enter answers
// for all.

import { api } from "/page/api.js";
import { button, h, picture } from "/page/dom.js";
import { parts, t } from "/page/texts.js";
import { zoom } from "/page/zoom.js";

const MOST = 40; // pictures of one answer
const SIDE = 150; // pixels of a picture with its margin

// `done(text, reply)` shows a message that can undo the answer, and loads the groups again.
export function makeGroupReview({ done }) {
  const dialog = document.body.appendChild(h("dialog", { id: "dialog-review", "aria-label": t("Check a group") }));
  let group = null;
  let images = [];
  let example = null; // a picture of the group that is not asked about
  let shownAt = 0;
  let isSending = false;

  async function open(one) {
    group = one;
    if (!dialog.open) dialog.showModal();
    await load();
  }

  // The least sure pictures of the group that no answer has placed.
  async function load() {
    const n = Math.max(
      6,
      Math.min(MOST, Math.floor((innerWidth * 0.9) / SIDE) * Math.max(2, Math.floor((innerHeight * 0.9 - 150) / SIDE))),
    );
    const { sections } = await api.gallery({ order: "unsure" });
    const all = sections.find((one) => one.id === group.id)?.images ?? [];
    const about = all.length ? await api.images(all.slice(0, n)) : [];
    images = about.filter((one) => !one.placed);
    const rest = all.filter((id) => !images.some((one) => one.id === id));
    example = rest.at(-1) ?? null;
    show();
  }

  function show() {
    shownAt = performance.now();
    isSending = false;
    const title = h("h2", {}, parts("Tick those that do NOT belong to {group}", { group: h("b", {}, group.name) }));
    const close = button(t("Close"), () => dialog.close(), { class: "close" });
    if (!images.length) {
      dialog.replaceChildren(
        h("h2", {}, group.name),
        h("p", {}, t("You have placed every picture of this group.")),
        h("div", { class: "row" }, close),
      );
      close.focus();
      return;
    }
    const send = button([t("The others belong"), h("kbd", {}, "Enter")], answer, {
      class: "primary",
      id: "review-send",
    });
    const grid = h(
      "div",
      { class: "grid", role: "group", "aria-label": title.textContent, onkeydown: move },
      images.map(tile),
    );
    dialog.replaceChildren(
      title,
      h("p", { class: "quiet" }, t("The least sure pictures first. Space or a click ticks, Z enlarges.")),
      grid,
      h("p", { class: "badge", role: "alert", id: "review-problem" }),
      h("div", { class: "row" }, send, close),
    );
    grid.firstElementChild.focus();
  }

  const tile = (one, i) =>
    h(
      "button",
      {
        type: "button",
        class: "tile",
        "data-id": one.id,
        "aria-pressed": "false",
        "aria-label": t("{name} does not belong", { name: one.name }),
        onclick: ({ currentTarget: own }) =>
          own.setAttribute("aria-pressed", String(own.getAttribute("aria-pressed") !== "true")),
        ondblclick: () => zoom(images, i),
      },
      picture(one.id, one.name),
      h("span", { class: "cross", "aria-hidden": "true" }, "✕"),
    );

  const ticked = () => [...dialog.querySelectorAll(".tile[aria-pressed=true]")].map((one) => Number(one.dataset.id));

  // If the answer cannot be sent, the ticks stay; the same answer sent again is stored once.
  async function answer() {
    if (isSending) return;
    isSending = true;
    const wrong = ticked();
    const question = { kind: "grid", images: images.map((one) => one.id), groups: [group.id], representative: example };
    try {
      const reply = await api.answer(question, "ticked", (performance.now() - shownAt) / 1000, { ticked: wrong });
      const text = wrong.length
        ? t("Checked {n}: {wrong} do not belong to {group}", {
            n: images.length,
            wrong: wrong.length,
            group: group.name,
          })
        : t("Checked {n} of {group}", { n: images.length, group: group.name });
      done(text, { entry: reply.id, conflicts: reply.conflict ? [reply.conflict] : [] });
      await load();
    } catch (error) {
      isSending = false;
      dialog.querySelector("#review-problem")?.replaceChildren(error.message);
    }
  }

  function move(event) {
    const tiles = [...event.currentTarget.children];
    const at = tiles.indexOf(document.activeElement);
    if (event.key === "z") zoom(images, Math.max(0, at));
    const columns = tiles.filter((one) => one.offsetTop === tiles[0].offsetTop).length;
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
    if (step) tiles[at + step]?.focus();
    if (step) event.preventDefault();
  }

  dialog.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target.matches(".close") || !images.length) return;
    event.preventDefault(); // Enter answers; a space ticks
    if (!event.repeat) answer();
  });

  return { open };
}
