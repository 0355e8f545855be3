// Find a group by typing a part of its name: a text field with a list of groups and their pictures.

import { api } from "/page/api.js";
import { h, picture } from "/page/dom.js";
import { t } from "/page/texts.js";

const MAX_LISTED = 6;

// exclude: keys of groups that are offered already; choose(group): called with the chosen one
export function findGroup(exclude, choose) {
  let groups = null; // loaded when the field gets the focus
  let found = [];
  let current = 0;
  const list = h("ul", { id: "find-list", role: "listbox", "aria-label": t("Groups"), hidden: true });
  const input = h("input", {
    id: "find-group",
    type: "search",
    role: "combobox",
    autocomplete: "off",
    "aria-expanded": "false",
    "aria-controls": "find-list",
    placeholder: t("Another group: type its name (F)"),
    "aria-label": t("Find another group"),
    maxlength: 100,
  });

  async function show() {
    groups ??= api.groups(1).then(
      (all) => all.groups.filter((one) => !exclude.includes(one.id)),
      () => [],
    );
    const wanted = input.value.trim().toLocaleLowerCase();
    const all = await groups;
    found = wanted ? all.filter((one) => one.name.toLocaleLowerCase().includes(wanted)).slice(0, MAX_LISTED) : [];
    current = 0;
    draw(Boolean(wanted));
  }

  function draw(isOpen) {
    list.hidden = !isOpen;
    input.setAttribute("aria-expanded", String(isOpen));
    list.replaceChildren(...found.map(item));
    if (!found.length) list.append(h("li", { class: "quiet" }, t("No group has this name.")));
    if (found.length) input.setAttribute("aria-activedescendant", `find-${current}`);
    else input.removeAttribute("aria-activedescendant");
  }

  const item = (group, i) =>
    h(
      "li",
      {
        id: `find-${i}`,
        role: "option",
        group: group.colour,
        "aria-selected": String(i === current),
        onmousedown: (event) => {
          event.preventDefault();
          choose(group);
        },
      },
      group.images.slice(0, 1).map((one) => picture(one.id, "")),
      h("span", {}, group.name),
      h("span", { class: "quiet" }, String(group.n_images)),
    );

  input.addEventListener("focus", show);
  input.addEventListener("input", show);
  input.addEventListener("blur", () => draw(false));
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return; // the key belongs to an input method
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length) {
      event.preventDefault();
      current = (current + step + found.length) % found.length;
      draw(true);
    }
    if (event.key === "Enter" && found.length) choose(found[current]);
    if (event.key === "Escape") {
      input.value = "";
      input.blur();
    }
  });
  return h("div", { class: "find" }, input, list);
}
