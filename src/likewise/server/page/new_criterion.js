// Beginning another way to sort the same pictures: a dialog asks by what.

import { api } from "/page/api.js";
import { $, h } from "/page/elements.js";

const dialog = $("dialog-orientation");

export function askOrientation(begin) {
  const name = h("input", { required: true, maxlength: 200, placeholder: "mood, season, in or out of doors…" });
  const n = h("input", { type: "number", min: 2, max: 1000, placeholder: "as many as there are" });
  const wrong = h("p", { class: "badge", role: "alert" });
  const form = h("form", { class: "plain", method: "dialog" }, h("h2", {}, "Sort the same pictures in another way"),
    h("label", {}, "By what, in your words?", name), h("label", {}, "How many groups, if you know?", n), wrong,
    h("div", { class: "row" }, h("button", { type: "submit" }, "Begin"), h("button", { type: "button", onclick: () => dialog.close() }, "Cancel")));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const wanted = name.value.trim();
    try {
      if (!wanted) throw new Error("Say in a word or two what to sort by.");
      await api.addOrientation(wanted, n.value ? Number(n.value) : null);
    } catch (error) {
      wrong.textContent = error.message;
      name.focus();
      return;
    }
    dialog.close();
    begin(wanted);
  });
  dialog.replaceChildren(form);
  dialog.showModal();
}
