// The dialog that adds a criterion for the same pictures.

import { api } from "/page/api.js";
import { $, button, h } from "/page/dom.js";

const dialog = $("dialog-criterion");

export function askNewCriterion(created) {
  const name = h("input", { required: true, maxlength: 200, placeholder: "season, art style, kind of thing…" });
  const n = h("input", { type: "number", min: 2, max: 1000, placeholder: "unknown" });
  const problem = h("p", { class: "badge", role: "alert" });
  const form = h("form", { class: "plain", method: "dialog" }, h("h2", {}, "New criterion"),
    h("label", {}, "Same what? Complete the question in your words", name), h("label", {}, "Number of groups, if you know it", n), problem,
    h("div", { class: "row" }, h("button", { type: "submit" }, "Create"), button("Cancel", () => dialog.close())));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const wanted = name.value.trim();
    try {
      if (!wanted) throw new Error("Enter a criterion, for example season.");
      await api.createCriterion(wanted, n.value ? Number(n.value) : null);
    } catch (error) {
      problem.textContent = error.message;
      name.focus();
      return;
    }
    dialog.close();
    created(wanted);
  });
  dialog.replaceChildren(form);
  dialog.showModal();
}
