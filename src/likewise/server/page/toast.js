// A toast: one short message about the last action, with a button that undoes it.
//
//   toast("Moved 5 to Sketch", { undo })          undo: a function; the button disappears once it is pressed
//   toast(text, { actions: [["Review", open]] })  further buttons

import { $, button, h } from "/page/dom.js";
import { t } from "/page/texts.js";

const SECONDS = 8; // with a button longer than without; paused while the pointer or the focus is on it
const SECONDS_PLAIN = 4;

let timer = 0;

export function toast(text, { undo = null, actions = [] } = {}) {
  const close = () => hideToast();
  const act = (action) => () => {
    close();
    return action();
  };
  const all = undo ? [...actions, [t("Undo"), undo, "toast-undo"]] : actions;
  const buttons = all.map(([label, action, id]) => button(label, act(action), { id }));
  const box = h(
    "div",
    { class: "toast" },
    h("span", {}, text),
    ...buttons,
    button("×", close, { class: "close", "aria-label": t("Close") }),
  );
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(close, (all.length ? SECONDS : SECONDS_PLAIN) * 1000);
  };
  for (const event of ["pointerenter", "focusin"]) box.addEventListener(event, () => clearTimeout(timer));
  for (const event of ["pointerleave", "focusout"]) box.addEventListener(event, wait);
  $("toasts").replaceChildren(box);
  wait();
}

export function hideToast() {
  clearTimeout(timer);
  const isFocused = $("toasts").contains(document.activeElement);
  $("toasts").replaceChildren();
  if (isFocused) $("main").focus();
}
