// Help: the keys, which may be changed here, and the person's name for the log.

import { state } from "/page/api.js";
import { $, h } from "/page/elements.js";
import { ACTIONS, keysOf, nameOf, remap, resetKeys } from "/page/keys.js";

const dialog = $("dialog-help");

export function help(changed) {
  const said = h("p", { class: "badge", role: "status" });
  const list = h("dl", { class: "keys" });
  const fill = () => list.replaceChildren(...ACTIONS.flatMap(([action, text]) => row(action, text)), ...fixed("1 … 9", "that group"), ...fixed("Ctrl+Z", "undo"), ...fixed("?", "this help"));

  function row(action, text) {
    const change = h("button", { type: "button", class: "change", "aria-label": `Change the key for ${text}`, "data-action": action }, "change");
    change.addEventListener("click", () => {
      change.textContent = "press a key…";
      change.addEventListener("keydown", (event) => {
        event.preventDefault();
        event.stopPropagation();
        said.textContent = event.key === "Escape" ? "" : remap(action, event.key);
        fill();
        list.querySelector(`[data-action="${action}"]`).focus();
        changed();
      }, { once: true });
    });
    return [h("dt", {}, keysOf(action).flatMap((key) => [h("kbd", {}, nameOf(key)), " "])), h("dd", {}, text, " ", change)];
  }

  fill();
  const who = h("input", { value: state.who, maxlength: 100, placeholder: "nobody in particular" });
  who.addEventListener("input", () => {
    state.who = who.value.trim();
    localStorage.setItem("likewise-who", state.who);
  });
  const reset = h("button", { type: "button", onclick: () => { resetKeys(); said.textContent = ""; fill(); changed(); } }, "Usual keys");
  dialog.replaceChildren(h("h2", {}, "Keys"), list, said,
    h("p", { class: "quiet" }, "Pictures and answers stay on this machine. Every answer is on disk before the next question shows."),
    h("label", { class: "row" }, "Your name, noted with answers", who),
    h("div", { class: "row" }, h("button", { type: "button", class: "close", onclick: () => dialog.close() }, "Close"), reset));
  dialog.showModal();
  dialog.querySelector(".close").focus();
}

const fixed = (key, text) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)];
