// The zoom dialog: one picture as large as the window, by a click at full size; arrow keys go to the next one.

import { api } from "/page/api.js";
import { $, button, h, large, picture } from "/page/dom.js";
import { icon } from "/page/icons.js";
import { number, t } from "/page/texts.js";

const dialog = $("dialog-zoom");
let showOnMap = null;
export const setShowOnMap = (show) => (showOnMap = show);

async function showName(id, title) {
  const info = await api.imageInfo(id).catch(() => null);
  if (info) title.textContent = info.name;
}

export function zoom(pictures, index = 0) {
  const show = (to) => {
    index = (to + pictures.length) % pictures.length;
    const { id, name } = pictures[index];
    const title = h("span", {}, name);
    if (!name) showName(id, title);
    const stage = h(
      "div",
      { class: "stage", onclick: () => stage.classList.toggle("actual") },
      picture(id, name, large),
    );
    const other = (label, image, step) =>
      button(icon(image), () => show(index + step), { class: "icon-only", "aria-label": label, title: label });
    const count = h("small", { class: "count" }, `${number(index + 1)} / ${number(pictures.length)}`);
    const find = button(t("Show on the map"), () => {
      dialog.close();
      showOnMap?.(id);
    });
    const close = button(t("Close"), () => dialog.close(), { class: "close" });
    dialog.replaceChildren(
      stage,
      h(
        "div",
        { class: "row" },
        title,
        ...(pictures.length > 1
          ? [count, other(t("Previous picture"), "left", -1), other(t("Next picture"), "right", 1)]
          : []),
        find,
        close,
      ),
    );
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
