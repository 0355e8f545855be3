// The zoom dialog: one picture as large as the window, by a click at full size; arrow keys go to the next one.

import { $, button, h, large, picture } from "/page/dom.js";

const dialog = $("dialog-zoom");
let showOnMap = null;
export const setShowOnMap = (show) => (showOnMap = show);

export function zoom(pictures, index = 0) {
  const show = (to) => {
    index = (to + pictures.length) % pictures.length;
    const { id, name } = pictures[index];
    const stage = h("div", { class: "stage", onclick: () => stage.classList.toggle("actual") }, picture(id, name, large));
    const other = (text, step) => button(text, () => show(index + step));
    const find = button("Show on the map", () => { dialog.close(); showOnMap?.(id); });
    const close = button("Close", () => dialog.close(), { class: "close" });
    dialog.replaceChildren(stage, h("div", { class: "row" }, h("span", {}, name),
      ...(pictures.length > 1 ? [other("←", -1), other("→", 1)] : []), find, close));
    close.focus();
  };
  dialog.onkeydown = (event) => {
    if (event.key === "ArrowLeft") show(index - 1);
    if (event.key === "ArrowRight") show(index + 1);
    if (event.key === "z") dialog.querySelector(".stage").click();
  };
  if (!dialog.open) dialog.showModal();
  show(index);
}
