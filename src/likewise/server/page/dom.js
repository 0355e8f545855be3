// Build elements: `h("button", {onclick}, "text", child)`. Strings become text nodes, never markup.

import { t } from "/page/texts.js";

export { count } from "/page/texts.js";

export const $ = (id) => document.getElementById(id);

export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "group") element.style.setProperty("--group", value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const button = (text, onclick, attributes = {}) => h("button", { type: "button", ...attributes, onclick }, text);

export const large = (id) => `/api/images/${id}`;
export const small = (id) => `/api/images/${id}/thumbnail`;

export function picture(id, name, source = small) {
  const image = h("img", { src: source(id), alt: name, title: name, loading: source === small ? "lazy" : "eager" });
  image.addEventListener("error", () => explainError(image));
  return image;
}

// A picture that was not loaded: either its file is missing, or the program does not respond; then it waits.
export async function explainError(image) {
  const { src } = image;
  const reply = await fetch(src).catch(() => null);
  if (image.src !== src || image.classList.contains("missing")) return;
  if (!reply) {
    image.classList.add("waiting");
    return;
  }
  image.alt = t("{name} cannot be shown; the file may be missing.", { name: image.alt });
  image.classList.add("missing");
}

// Load the pictures that were not loaded while the program did not respond.
export function loadWaitingPictures() {
  for (const image of document.querySelectorAll("img.waiting")) {
    image.classList.remove("waiting");
    const { src } = image;
    image.removeAttribute("src");
    image.src = src;
  }
}

// A closed dialog keeps the focus for a moment; keys pressed then are not typed into it.
export const isTyping = (target) =>
  Boolean(target.closest?.("input, select, textarea, [contenteditable]")?.checkVisibility());
