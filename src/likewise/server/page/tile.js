// One tile of the gallery. It is used for one picture after the other while the person scrolls.

import { explainError, h, small } from "/page/dom.js";
import { t } from "/page/texts.js";

export function makeTile() {
  const image = h("img", { alt: "", decoding: "async", draggable: "false" });
  image.addEventListener("error", () => explainError(image));
  return h(
    "div",
    { class: "tile", role: "option", draggable: "true" },
    image,
    h("span", { class: "mark" }),
    h("span", { class: "placed" }, "✓"),
    h("span", { class: "check" }, "✓"),
  );
}

// about: name, confidence, placed and moved, or undefined until they are loaded.
export function fillTile(tile, id, about, { isSelected, isCursor, isNew }) {
  const [image, mark, placed] = tile.children;
  if (tile.dataset.id !== String(id)) {
    tile.dataset.id = id;
    tile.id = `tile-${id}`;
    image.removeAttribute("src");
    image.className = "";
  }
  const name = about?.name ?? t("Picture");
  if (!image.classList.contains("missing")) image.alt = name;
  tile.title = about ? titleOf(about) : "";
  tile.setAttribute("aria-label", tile.title || name);
  tile.setAttribute("aria-selected", String(isSelected));
  tile.classList.toggle("cursor", isCursor);
  mark.textContent = about?.moved ? t("moved") : isNew ? t("new") : "";
  mark.hidden = !mark.textContent;
  placed.hidden = !about?.placed;
}

export function loadTile(tile) {
  const [image] = tile.children;
  if (!tile.hidden && !image.hasAttribute("src")) image.src = small(tile.dataset.id);
}

function titleOf({ name, confidence, placed, moved }) {
  const sure = placed ? t("placed by you") : t("{percent} % sure", { percent: Math.round(confidence * 100) });
  return [name, sure, moved ? t("moved lately") : ""].filter(Boolean).join(", ");
}
