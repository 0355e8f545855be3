// The help dialog: the keys, which can be changed here, and the person's name for the log.

import { state } from "/page/api.js";
import { $, button, h } from "/page/dom.js";
import { ACTIONS, describe, keysOf, nameOf, remap, resetKeys } from "/page/keys.js";
import { chooseLanguage, chosenLanguage, languages, t } from "/page/texts.js";

const dialog = $("dialog-help");
const EVERYWHERE = [
  ["1…9", t("the group with this number")],
  ["Ctrl+Z", t("undo")],
  ["?", t("this help")],
];
const GALLERY = [
  ["← ↑ ↓ →", t("go to a picture")],
  ["Shift+→", t("select a range")],
  ["Space", t("select or deselect the picture")],
  ["Ctrl+A", t("select all pictures")],
  ["Esc", t("clear the selection")],
  ["Enter", t("enlarge the picture")],
  ["1…9", t("move to the group with this number")],
  ["N", t("make a new group of the selection")],
  ["/", t("search by file name")],
];
const MAP = [
  ["← ↑ ↓ →", t("move the map")],
  ["+ -", t("zoom in and out")],
  ["Enter", t("show the picture in the middle")],
  ["Space", t("select or deselect the picture in the middle")],
];

export function showHelp(changed) {
  const problem = h("p", { class: "badge", role: "status" });
  const list = h("dl", { class: "keys" });
  const fill = () =>
    list.replaceChildren(...ACTIONS.map(([action]) => row(action, describe(action))), ...EVERYWHERE.map(fixed));

  function row(action, text) {
    const change = button(
      t("change"),
      () => {
        change.textContent = t("press a key…");
        change.addEventListener(
          "keydown",
          (event) => {
            event.preventDefault();
            event.stopPropagation();
            problem.textContent = event.key === "Escape" ? "" : remap(action, event.key);
            fill();
            list.querySelector(`[data-action="${action}"]`).focus();
            changed();
          },
          { once: true },
        );
      },
      { class: "change", "aria-label": t("Change the key for {action}", { action: text }), "data-action": action },
    );
    return h(
      "div",
      {},
      h(
        "dt",
        {},
        keysOf(action).flatMap((key) => [h("kbd", {}, nameOf(key)), " "]),
      ),
      h("dd", {}, text, change),
    );
  }

  fill();
  const who = h("input", { value: state.who, maxlength: 100, placeholder: t("optional") });
  who.addEventListener("input", () => {
    state.who = who.value.trim();
    localStorage.setItem("likewise-who", state.who);
  });
  const language = h(
    "select",
    { id: "language" },
    [["", t("that of the browser")], ...languages].map(([code, name]) =>
      h("option", { value: code, selected: code === chosenLanguage() }, name),
    ),
  );
  language.addEventListener("change", () => chooseLanguage(language.value));
  const reset = button(t("Default keys"), () => {
    resetKeys();
    problem.textContent = "";
    fill();
    changed();
  });
  dialog.replaceChildren(
    h("h2", {}, t("Keys")),
    list,
    problem,
    h("h3", {}, t("In the groups")),
    h("dl", { class: "keys" }, GALLERY.map(fixed)),
    h("h3", {}, t("On the map")),
    h("dl", { class: "keys" }, MAP.map(fixed)),
    h("h3", {}, t("Settings")),
    h(
      "div",
      { class: "settings" },
      h("label", {}, t("Your name, saved with your answers"), who),
      h("label", {}, t("Language"), language),
    ),
    h(
      "p",
      { class: "quiet" },
      t("Pictures and answers stay on this machine. Every answer is saved before the next question is shown."),
    ),
    h(
      "div",
      { class: "row" },
      button(t("Close"), () => dialog.close(), { class: "primary close" }),
      reset,
    ),
  );
  dialog.showModal();
  dialog.querySelector(".close").focus({ preventScroll: true });
  dialog.scrollTop = 0;
}

const fixed = ([keys, text]) =>
  h(
    "div",
    {},
    h(
      "dt",
      {},
      keys.split(" ").flatMap((key) => [h("kbd", {}, key === "Space" ? t("Space") : key), " "]),
    ),
    h("dd", {}, text),
  );
