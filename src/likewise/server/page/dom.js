// Elements by hand: `h("button", {onclick}, "text", child)`; text never becomes markup.

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

export const large = (id) => `/api/images/${id}`;
export const small = (id) => `/api/images/${id}/thumbnail`;

export function picture(id, name, source = small) {
  const image = h("img", { src: source(id), alt: name, title: name, loading: source === small ? "lazy" : "eager" });
  image.addEventListener("error", () => {
    image.alt = `${name} cannot be shown; its file may have gone.`;
    image.classList.add("gone");
  });
  return image;
}

export const some = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
// For a moment the focus stays in a dialog that was closed: the next key is not meant for it.
export const isTyping = (target) => Boolean(target.closest?.("input, select, textarea, [contenteditable]")?.checkVisibility());
