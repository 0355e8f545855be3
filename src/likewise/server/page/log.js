// The list of answers: search it, and take back any of them.

import { api } from "/page/api.js";
import { $, h, picture, some } from "/page/elements.js";

const view = $("view-answers");

export function makeLog({ complain, changed }) {
  const search = h("input", { type: "search", placeholder: "search names and answers", "aria-label": "Search the answers" });
  const count = h("p", {});
  const list = h("ul", { class: "entries" });
  const more = h("button", { type: "button", hidden: true }, "Show more");
  view.replaceChildren(h("div", { class: "bar" }, search, count), list, more);
  let wait = 0;

  async function refresh(offset = 0) {
    try {
      const found = await api.log(search.value, offset);
      const items = found.answers.map(item);
      if (offset) list.append(...items);
      else list.replaceChildren(...items);
      count.textContent = some(found.n, "answer");
      more.hidden = list.children.length >= found.n;
    } catch (error) {
      complain(error.message);
    }
  }

  function item(entry) {
    const take = h("button", { type: "button", onclick: async () => {
      await api.takeBack(entry.id).then(() => changed(), (error) => complain(error.message));
      refresh();
    } }, "Take back");
    const when = entry.at ? new Date(entry.at).toLocaleString() : "";
    return h("li", { "data-id": entry.id }, entry.images.slice(0, 2).map((id, i) => picture(id, entry.names[i])),
      h("div", { class: "about" }, h("div", { class: `says ${entry.stands ? "" : "fell"}` }, entry.says),
        h("div", { class: "quiet" }, [entry.names.slice(0, 2).join(" · "), entry.who, when].filter(Boolean).join(" — ")),
        entry.aside ? h("div", { class: "badge" }, "set aside: contradicts earlier answers") : null),
      entry.stands ? take : h("span", { class: "quiet" }, "taken back"));
  }

  search.addEventListener("input", () => {
    clearTimeout(wait);
    wait = setTimeout(() => refresh(), 150);
  });
  more.addEventListener("click", () => refresh(list.children.length));
  return { refresh: () => refresh() };
}
