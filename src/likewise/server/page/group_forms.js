// Forms inside a view, below its pictures: make a new group, and name a group. They never block the keys of the view.

import { $, button, h, picture } from "/page/dom.js";
import { t } from "/page/texts.js";

// The group with this name, if it is another one than `except`.
export const groupNamed = (groups, name, except) =>
  groups.find((one) => one.id !== except && one.name.toLocaleLowerCase() === name.toLocaleLowerCase());

// A form that makes a group of some of `pictures` ({id, name}). create(images, name) returns a promise.
export function newGroupForm(pictures, create, close) {
  const chosen = new Set(pictures.map(({ id }) => id));
  const tile = ({ id, name }) =>
    h(
      "button",
      {
        type: "button",
        class: "tile",
        "aria-pressed": "true",
        "aria-label": t("{name} is in the new group", { name }),
        onclick: (event) => {
          if (chosen.has(id)) chosen.delete(id);
          else chosen.add(id);
          event.currentTarget.setAttribute("aria-pressed", String(chosen.has(id)));
          save.disabled = !chosen.size;
          name_.focus();
        },
      },
      picture(id, name),
    );
  const name_ = nameField(t("Name of the new group"), t("optional"));
  const save = h("button", { type: "submit", class: "primary" }, t("Make the group"), h("kbd", {}, "Enter"));
  const form = h(
    "form",
    {
      class: "inline-form",
      id: "new-group-form",
      "aria-label": t("New group"),
      onsubmit: submit,
      onkeydown: closeOnEscape(close),
    },
    h("div", { class: "thumbs" }, pictures.map(tile)),
    h("label", {}, t("Name of the new group"), name_),
    save,
    button(t("Cancel"), close, { class: "quiet" }),
  );

  function submit(event) {
    event.preventDefault();
    if (!chosen.size) return;
    save.disabled = true;
    create([...chosen], name_.value.trim()).finally(() => {
      save.disabled = false;
    });
  }
  return form;
}

// "What do you call this group?"; save(name) and later() close it.
export function nameForm(group, save, later) {
  const name = nameField(t("What do you call this group?"), group.name);
  return h(
    "form",
    {
      class: "inline-form",
      id: "name-form",
      "data-group": group.id,
      group: group.colour,
      "aria-label": t("Name a group"),
      onkeydown: closeOnEscape(later),
      onsubmit: (event) => {
        event.preventDefault();
        if (name.value.trim()) save(name.value.trim());
        else later();
      },
    },
    h(
      "div",
      { class: "thumbs" },
      group.images.map((id) => picture(id, "")),
    ),
    h("label", {}, t("What do you call this group?"), name),
    h("button", { type: "submit" }, t("Save"), h("kbd", {}, "Enter")),
    button(t("Not now"), later, { class: "quiet" }),
  );
}

const nameField = (label, placeholder) =>
  h("input", { "aria-label": label, placeholder, maxlength: 100, autocomplete: "off" });

const closeOnEscape = (close) => (event) => {
  if (event.key !== "Escape" || event.isComposing) return;
  event.stopPropagation();
  close();
  $("main").focus();
};
