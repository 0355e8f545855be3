// The dialog with the files of the folder that are not shown, by the reason.

import { api } from "/page/api.js";
import { $, button, count, h } from "/page/dom.js";
import { t } from "/page/texts.js";

const MAX_NAMES = 200; // of one reason

export async function showSkipped() {
  const files = await api.skipped().catch(() => []);
  const reasons = Map.groupBy(files, (file) => file.reason);
  const lists = [...reasons].map(([reason, found]) =>
    h(
      "details",
      { open: reasons.size === 1 },
      h("summary", {}, `${count(found.length, "file")}: ${reason}`),
      h(
        "ul",
        {},
        found.slice(0, MAX_NAMES).map((file) => h("li", {}, file.name)),
      ),
    ),
  );
  const dialog = $("dialog-skipped");
  const close = button(t("Close"), () => dialog.close(), { class: "close" });
  dialog.replaceChildren(h("h2", {}, t("Files that are not shown")), ...lists, h("div", { class: "row" }, close));
  dialog.showModal();
  close.focus();
}
