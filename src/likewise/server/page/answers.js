// The Answers view: search the log, retract and restore entries.

import { api } from "/page/api.js";
import { $, button, count, h, picture } from "/page/dom.js";
import { entryText, language, t } from "/page/texts.js";
import { toast } from "/page/toast.js";

const view = $("view-answers");
const WHEN = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
const PAGE = 50; // entries of one request
const SEARCH_PAUSE = 150; // milliseconds
const N_VIOLATIONS = 20; // shown

export function makeAnswersView({ showProblem, changed }) {
  const search = h("input", {
    type: "search",
    placeholder: t("search names and answers"),
    "aria-label": t("Search the answers"),
  });
  const counts = h("p", {});
  const list = h("ul", { class: "entries" });
  const more = button(t("Show more"), () => load(list.children.length), { hidden: true });
  const violations = h("section", {
    class: "group",
    "aria-label": t("Answers that the groups do not satisfy"),
    hidden: true,
  });
  view.replaceChildren(h("div", { class: "bar" }, search, counts), violations, list, more);
  let timer = 0;
  let nRequests = 0; // an answer to an older one is not shown

  async function load(offset = 0) {
    nRequests += 1;
    const request = nRequests;
    try {
      const found = await api.answers(search.value, offset);
      if (request !== nRequests) return;
      const items = found.answers.map(item);
      if (offset) list.append(...items);
      else list.replaceChildren(...items);
      counts.textContent = countsText(found);
      more.hidden = list.children.length >= found.n;
    } catch (error) {
      showProblem(error.message);
    }
  }

  async function loadViolations() {
    const found = await api.violations().catch(() => []);
    violations.hidden = !found.length;
    violations.replaceChildren();
    if (found.length)
      violations.append(
        h(
          "header",
          {},
          h("h2", {}, t("Not satisfied")),
          h(
            "span",
            { class: "quiet" },
            t(
              "{answers} that the groups cannot satisfy: your answers separate more groups than there are. Retract one, or make a new group.",
              { answers: count(found.length, "answer") },
            ),
          ),
        ),
        h("ul", { class: "entries" }, found.slice(0, N_VIOLATIONS).map(item)),
      );
  }

  function refresh() {
    loadViolations();
    return load();
  }

  function item(entry) {
    const retract = (text, id, message) => button(text, () => change(api.retract(id), message));
    const when = entry.at ? WHEN.format(new Date(entry.at)) : "";
    return h(
      "li",
      { "data-id": entry.id },
      entry.images.slice(0, 2).map((id, i) => picture(id, entry.names[i])),
      h(
        "div",
        { class: "about" },
        h("div", { class: `text ${entry.retracted ? "retracted" : ""}` }, entryText(entry)),
        h(
          "div",
          { class: "quiet" },
          [entry.names.slice(0, 2).join(" · "), entry.who, when].filter(Boolean).join(" — "),
        ),
        entry.is_conflict ? h("div", { class: "badge" }, t("not used: contradicts earlier answers")) : null,
        entry.retracted ? h("div", { class: "quiet" }, t("retracted")) : null,
      ),
      entry.retracted
        ? retract(t("Restore"), entry.retracted_by, t("Restored."))
        : retract(t("Retract"), entry.id, t("Retracted.")),
    );
  }

  // A retraction or a restoration: its message can undo it.
  async function change(request, message) {
    try {
      const { retracted_by: retraction } = await request;
      changed();
      toast(message, { undo: () => change(api.retract(retraction), t("Undone")) });
    } catch (error) {
      showProblem(error.message);
    }
    refresh();
  }

  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => load(), SEARCH_PAUSE);
  });

  // Not while an entry has the focus, or further pages are shown.
  function renew() {
    if (!list.contains(document.activeElement) && list.children.length <= PAGE) refresh();
  }
  return { renew, refresh };
}

// Active answers are counted as in the footer; renames, merges and confirmations are other changes.
function countsText({ n, n_active, n_retracted }) {
  const nOthers = n - n_active - n_retracted;
  return [
    count(n_active, "answer"),
    n_retracted ? t("{n} retracted", { n: n_retracted }) : "",
    nOthers ? count(nOthers, "other change") : "",
  ]
    .filter(Boolean)
    .join(", ");
}
