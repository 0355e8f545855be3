// The help dialog: the keys, which can be changed here, and the person's name for the log.

import { state } from "/page/api.js";
import { $, button, h } from "/page/dom.js";
import { ACTIONS, keysOf, nameOf, remap, resetKeys } from "/page/keys.js";

const dialog = $("dialog-help");

export function showHelp(changed) {
  const problem = h("p", { class: "badge", role: "status" });
  const list = h("dl", { class: "keys" });
  const fill = () => list.replaceChildren(...ACTIONS.flatMap(([action, text]) => row(action, text)), ...fixed("1 … 9", "the group with this number"), ...fixed("Ctrl+Z", "undo"), ...fixed("?", "this help"));

  function row(action, text) {
    const change = button("change", () => {
      change.textContent = "press a key…";
      change.addEventListener("keydown", (event) => {
        event.preventDefault();
        event.stopPropagation();
        problem.textContent = event.key === "Escape" ? "" : remap(action, event.key);
        fill();
        list.querySelector(`[data-action="${action}"]`).focus();
        changed();
      }, { once: true });
    }, { class: "change", "aria-label": `Change the key for ${text}`, "data-action": action });
    return [h("dt", {}, keysOf(action).flatMap((key) => [h("kbd", {}, nameOf(key)), " "])), h("dd", {}, text, " ", change)];
  }

  fill();
  const who = h("input", { value: state.who, maxlength: 100, placeholder: "optional" });
  who.addEventListener("input", () => {
    state.who = who.value.trim();
    localStorage.setItem("likewise-who", state.who);
  });
  const reset = button("Default keys", () => { resetKeys(); problem.textContent = ""; fill(); changed(); });
  dialog.replaceChildren(h("h2", {}, "Keys"), list, problem,
    h("p", { class: "quiet" }, "Pictures and answers stay on this machine. Every answer is saved before the next question is shown."),
    h("label", { class: "row" }, "Your name, saved with your answers", who),
    h("div", { class: "row" }, button("Close", () => dialog.close(), { class: "close" }), reset));
  dialog.showModal();
  dialog.querySelector(".close").focus();
}

const fixed = (key, text) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)];
