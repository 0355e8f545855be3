// One picture, large; a click shows it larger still. Arrows go to the next one.

import { $, h, large, picture } from "/page/elements.js";

const dialog = $("dialog-zoom");
let onMap = null;
export const setOnMap = (show) => (onMap = show);

export function zoom(pictures, place = 0) {
  const show = (to) => {
    place = (to + pictures.length) % pictures.length;
    const { id, name } = pictures[place];
    const stage = h("div", { class: "stage", onclick: () => stage.classList.toggle("actual") }, picture(id, name, large));
    const other = (text, step) => h("button", { type: "button", onclick: () => show(place + step) }, text);
    const find = h("button", { type: "button", onclick: () => { dialog.close(); onMap?.(id); } }, "Find on the map");
    const close = h("button", { type: "button", class: "close", onclick: () => dialog.close() }, "Close");
    dialog.replaceChildren(stage, h("div", { class: "row" }, h("span", {}, name),
      ...(pictures.length > 1 ? [other("←", -1), other("→", 1)] : []), find, close));
    close.focus();
  };
  dialog.onkeydown = (event) => {
    if (event.key === "ArrowLeft") show(place - 1);
    if (event.key === "ArrowRight") show(place + 1);
    if (event.key === "z") dialog.querySelector(".stage").click();
  };
  if (!dialog.open) dialog.showModal();
  show(place);
}
