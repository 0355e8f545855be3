// The list of answers: search it, and take back any of them.

import { api } from "/page/api.js";
import { $, h, picture, some } from "/page/elements.js";

const view = $("view-answers");
const PAGE = 50; // answers that come at a time

export function makeLog({ complain, changed }) {
  const search = h("input", { type: "search", placeholder: "search names and answers", "aria-label": "Search the answers" });
  const count = h("p", {});
  const list = h("ul", { class: "entries" });
  const more = h("button", { type: "button", hidden: true }, "Show more");
  const wrong = h("section", { class: "group", "aria-label": "Answers that the groups do not honour", hidden: true });
  view.replaceChildren(h("div", { class: "bar" }, search, count), wrong, list, more);
  let wait = 0;

  async function refresh(offset = 0) {
    try {
      const found = await api.log(search.value, offset);
      const items = found.answers.map(item);
      if (offset) list.append(...items);
      else list.replaceChildren(...items);
      count.textContent = counted(found);
      more.hidden = list.children.length >= found.n;
    } catch (error) {
      complain(error.message);
    }
  }

  async function check() {
    const found = await api.violations().catch(() => []);
    wrong.hidden = !found.length;
    wrong.replaceChildren(); // nothing is wrong most of the time
    if (found.length) wrong.append(h("header", {}, h("h2", {}, "Not honoured"), h("span", { class: "quiet" }, `${some(found.length, "answer")} that the groups as they are cannot honour; there may be more groups than places. Take one back, or split off a group.`)),
      h("ul", { class: "entries" }, found.slice(0, 20).map(item)));
  }

  function item(entry) {
    const act = (words, id) => h("button", { type: "button", onclick: async () => {
      await api.takeBack(id).then(() => changed(), (error) => complain(error.message));
      refresh();
    } }, words);
    const when = entry.at ? new Date(entry.at).toLocaleString() : "";
    return h("li", { "data-id": entry.id }, entry.images.slice(0, 2).map((id, i) => picture(id, entry.names[i])),
      h("div", { class: "about" }, h("div", { class: `says ${entry.stands ? "" : "fell"}` }, entry.says),
        h("div", { class: "quiet" }, [entry.names.slice(0, 2).join(" · "), entry.who, when].filter(Boolean).join(" — ")),
        entry.aside ? h("div", { class: "badge" }, "set aside: contradicts earlier answers") : null,
        entry.stands ? null : h("div", { class: "quiet" }, "taken back")),
      entry.stands ? act("Take back", entry.id) : act("Bring back", entry.taken_back_by));
  }

  search.addEventListener("input", () => {
    clearTimeout(wait);
    wait = setTimeout(() => refresh(), 150);
  });
  more.addEventListener("click", () => refresh(list.children.length));
  // Nothing is taken from under the hand, or from under the eye of who reads further down.
  function renew() {
    if (list.contains(document.activeElement) || list.children.length > PAGE) return;
    check();
    refresh();
  }
  return { renew, refresh: () => { check(); return refresh(); } };
}

// Answers that stand are counted as they are below the page; names, merged groups and the like are none.
function counted({ n, n_standing, n_taken_back }) {
  const others = n - n_standing - n_taken_back;
  return [some(n_standing, "answer"), n_taken_back ? `${n_taken_back.toLocaleString("en")} taken back` : "", others ? some(others, "other change") : ""].filter(Boolean).join(", ");
}
