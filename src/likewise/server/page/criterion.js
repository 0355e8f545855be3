// A criterion: a form that adds one, and a dialog that changes its wording and its number of groups.

import { api, state } from "/page/api.js";
import { $, button, h } from "/page/dom.js";
import { defaultText } from "/page/question.js";
import { t } from "/page/texts.js";

const dialog = $("dialog-criterion");
const EXAMPLES = [
  t("season"),
  t("kind of thing"),
  t("place"),
  t("art style"),
  t("main colour"),
  t("indoors or outdoors"),
];

// The fields of a criterion. `known`: an existing criterion, whose name stays.
function fields(known) {
  const name = h("input", {
    required: true,
    maxlength: 200,
    placeholder: t("for example: season"),
    value: known?.name,
    id: "criterion-name",
  });
  const texts = ["pair", "choice"].map((kind) =>
    h("input", { maxlength: 200, id: `criterion-${kind}`, value: known?.[`${kind}_text`] }),
  );
  const n = h("input", {
    type: "number",
    min: 2,
    max: 1000,
    placeholder: t("not known"),
    value: known?.n_clusters,
    id: "criterion-n",
  });
  const preview = () =>
    ["pair", "choice"].forEach((kind, i) => {
      texts[i].placeholder = defaultText(kind, name.value.trim() || known?.name || "…");
    });
  name.addEventListener("input", preview);
  preview();
  const [pair, choice] = texts;
  const values = () => ({
    n_clusters: n.value ? Number(n.value) : null,
    pair_text: pair.value.trim(),
    choice_text: choice.value.trim(),
  });
  const label = (text, field) => h("label", {}, text, field);
  const wording = h(
    "fieldset",
    {},
    h("legend", {}, t("How questions will read; rewrite them if you like")),
    label(t("Two pictures"), pair),
    label(t("A picture and the groups"), choice),
  );
  return { name, values, wording, groups: label(t("Number of groups, if you know it"), n) };
}

function submitTo(form, problem, act) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await act();
    } catch (error) {
      problem.textContent = error.message;
      form.querySelector("input").focus();
    }
  });
}

// The form that adds a criterion; created(name) is called afterwards.
export function criterionForm(created, label, ...more) {
  const { name, values, wording, groups } = fields();
  const problem = h("p", { class: "badge", role: "alert" });
  const example = (text) =>
    button(
      text,
      () => {
        name.value = text;
        name.dispatchEvent(new Event("input"));
        name.focus();
      },
      { class: "chip" },
    );
  const form = h(
    "form",
    { class: "plain", method: "dialog" },
    h("label", {}, t("What do you want to group by?"), name),
    h("div", { class: "row examples-row" }, EXAMPLES.map(example)),
    wording,
    groups,
    problem,
    h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, label), more),
  );
  submitTo(form, problem, async () => {
    const wanted = name.value.trim();
    if (!wanted) throw new Error(t("Enter a criterion, for example season."));
    await api.createCriterion({ name: wanted, ...values() });
    created(wanted);
  });
  return form;
}

export function askNewCriterion(created) {
  const form = criterionForm(
    (name) => {
      dialog.close();
      created(name);
    },
    t("Create"),
    button(t("Cancel"), () => dialog.close()),
  );
  dialog.setAttribute("aria-label", t("New criterion"));
  dialog.replaceChildren(h("h2", {}, t("New criterion")), form);
  dialog.showModal();
  form.querySelector("input").focus();
}

export function changeCriterion(known, nGroups, changed) {
  const { values, wording, groups } = fields(known);
  const problem = h("p", { class: "badge", role: "alert" });
  const hint = known.n_clusters
    ? t("There are {n} groups now. Leave the number empty if it may change.", { n: nGroups })
    : t("There are {n} groups now; the number changes with your answers.", { n: nGroups });
  const form = h(
    "form",
    { class: "plain", method: "dialog" },
    wording,
    groups,
    h("p", { class: "quiet" }, hint),
    problem,
    h(
      "div",
      { class: "row" },
      h("button", { type: "submit", class: "primary" }, t("Save")),
      button(t("Cancel"), () => dialog.close()),
    ),
  );
  submitTo(form, problem, async () => {
    await api.changeCriterion(values());
    dialog.close();
    changed();
  });
  dialog.setAttribute("aria-label", t("Change the criterion"));
  dialog.replaceChildren(h("h2", {}, state.criterion), form);
  dialog.showModal();
}
