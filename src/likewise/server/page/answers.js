// The Answers view: search the log, retract and restore entries.

import { api } from "/page/api.js";
import { $, button, count, h, picture } from "/page/dom.js";

const view = $("view-answers");
const PAGE = 50; // entries of one request
const N_VIOLATIONS = 20; // shown

export function makeAnswersView({ showProblem, changed }) {
  const search = h("input", { type: "search", placeholder: "search names and answers", "aria-label": "Search the answers" });
  const counts = h("p", {});
  const list = h("ul", { class: "entries" });
  const more = button("Show more", () => load(list.children.length), { hidden: true });
  const violations = h("section", { class: "group", "aria-label": "Answers that the groups do not satisfy", hidden: true });
  view.replaceChildren(h("div", { class: "bar" }, search, counts), violations, list, more);
  let timer = 0;

  async function load(offset = 0) {
    try {
      const found = await api.answers(search.value, offset);
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
    if (found.length) violations.append(h("header", {}, h("h2", {}, "Not satisfied"),
      h("span", { class: "quiet" }, `${count(found.length, "answer")} that the groups cannot satisfy: your answers separate more groups than there are. Retract one, or make a new group.`)),
      h("ul", { class: "entries" }, found.slice(0, N_VIOLATIONS).map(item)));
  }

  function refresh() {
    loadViolations();
    return load();
  }

  function item(entry) {
    const retract = (text, id) => button(text, async () => {
      await api.retract(id).then(changed, (error) => showProblem(error.message));
      load();
    });
    const when = entry.at ? new Date(entry.at).toLocaleString() : "";
    return h("li", { "data-id": entry.id }, entry.images.slice(0, 2).map((id, i) => picture(id, entry.names[i])),
      h("div", { class: "about" }, h("div", { class: `text ${entry.retracted ? "retracted" : ""}` }, entry.text),
        h("div", { class: "quiet" }, [entry.names.slice(0, 2).join(" · "), entry.who, when].filter(Boolean).join(" — ")),
        entry.is_conflict ? h("div", { class: "badge" }, "not used: contradicts earlier answers") : null,
        entry.retracted ? h("div", { class: "quiet" }, "retracted") : null),
      entry.retracted ? retract("Restore", entry.retracted_by) : retract("Retract", entry.id));
  }

  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(load, 150);
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
  return [count(n_active, "answer"), n_retracted ? `${n_retracted.toLocaleString("en")} retracted` : "", nOthers ? count(nOthers, "other change") : ""].filter(Boolean).join(", ");
}
