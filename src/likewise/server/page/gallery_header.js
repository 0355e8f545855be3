// The header of one section of the gallery: the name of the group, its size, and what can be done with it.

import { button, count, h } from "/page/dom.js";
import { t } from "/page/texts.js";

const OTHERS = {
  bad: ["Bad pictures", "Left out of the groups."],
  new: ["New", "Not in a group yet."],
};

// Returns { element, update }; `update` shows new values and leaves a name that is being typed as it is.
export function makeHeader(kind, { rename, merge, check }) {
  const title = h("h2", {});
  const counts = h("span", { class: "quiet" });
  let one = null;
  let others = [];
  if (kind !== "group") {
    const [name, text] = OTHERS[kind];
    title.append(t(name));
    return {
      element: h("header", {}, title, counts),
      update: (next) => {
        counts.textContent = `${count(next.n_images, "picture")}. ${t(text)}`;
      },
    };
  }
  const name = h("input", { maxlength: 100 });
  name.addEventListener("change", () => {
    const wanted = name.value.trim();
    name.value = wanted || one.name;
    if (wanted && wanted !== one.name) rename(one, wanted);
  });
  name.addEventListener("keydown", (event) => {
    if (event.isComposing) return; // the key belongs to an input method
    if (event.key === "Escape") name.value = one.name;
    if (event.key === "Escape" || event.key === "Enter") name.blur(); // saves a changed name
  });
  const into = h("select", {});
  const fill = () =>
    into.replaceChildren(
      h("option", { value: "" }, t("Merge into…")),
      ...others.map((other) => h("option", { value: other.id }, other.name)),
    );
  for (const event of ["pointerdown", "focus"]) into.addEventListener(event, () => into.options.length > 1 || fill());
  into.addEventListener(
    "change",
    () =>
      into.value &&
      merge(
        one,
        others.find((other) => other.id === into.value),
      ),
  );
  title.append(name);
  const review = button(t("Check"), () => check(one), {
    class: "check-group",
    title: t("Look through the least sure pictures of this group"),
  });

  function update(next, groups) {
    one = next;
    others = groups.filter((other) => other.id !== one.id);
    if (document.activeElement !== name) name.value = one.name;
    name.setAttribute("aria-label", t("Name of {group}", { group: one.name }));
    name.dataset.focus = `name-${one.id}`;
    into.setAttribute("aria-label", t("Merge {group} into", { group: one.name }));
    into.hidden = !others.length;
    if (document.activeElement !== into) into.replaceChildren(h("option", { value: "" }, t("Merge into…")));
    const nShown = one.images.length;
    const shown =
      nShown === one.n_images
        ? count(one.n_images, "picture")
        : t("{n} of {pictures}", { n: nShown, pictures: count(one.n_images, "picture") });
    counts.textContent = one.n_moved ? `${shown}, ${t("{n} moved", { n: one.n_moved })}` : shown;
  }

  return { element: h("header", {}, title, counts, review, into), update };
}
