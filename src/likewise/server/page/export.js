// The Export menu: files to download, export to folders, and a rescan of the picture folder.

import { api } from "/page/api.js";
import { $, button, count, h } from "/page/dom.js";
import { t } from "/page/texts.js";

const FILES = {
  csv: t("Table (CSV)"),
  parquet: t("Table (Parquet)"),
  html: t("Gallery page (HTML)"),
  answers: t("My answers (JSON Lines)"),
  labelstudio: "Label Studio (JSON)",
  "labelstudio-config": t("Label Studio (configuration)"),
  fiftyone: "FiftyOne (labels.json)",
  coco: "COCO (JSON)",
  cvat: "CVAT (XML)",
};
const METHODS = { copy: t("as copies"), symlink: t("as symbolic links"), hardlink: t("as hard links") };

export function showExports(showProblem) {
  const links = Object.entries(FILES).map(([to, text]) => h("a", { download: "", "data-to": to }, text));
  const chosen = groupChoice((groups) =>
    links.forEach((link) => {
      link.href = api.exportPath(link.dataset.to, link.dataset.to === "answers" ? [] : groups);
    }),
  );
  const how = h(
    "select",
    { "aria-label": t("Copy or link the pictures") },
    Object.entries(METHODS).map(([method, text]) => h("option", { value: method }, text)),
  );
  const result = h("p", { role: "status", class: "result" });

  async function exportFolders() {
    sort.disabled = true;
    result.textContent = t("Sorting pictures into folders…");
    try {
      result.textContent = folderResult(await api.exportFolders(how.value, chosen.groups()));
    } catch (error) {
      result.textContent = "";
      showProblem(error.message);
    } finally {
      sort.disabled = false;
    }
  }

  async function rescan() {
    result.textContent = "";
    try {
      result.textContent = changesText(await api.rescan()) || t("No changes in the folder.");
    } catch (error) {
      showProblem(error.message, "session"); // until the folder is there again
    }
  }

  const sort = button(t("Sort into folders"), exportFolders, { id: "export-folders" });
  $("export-links").replaceChildren(
    chosen.element,
    ...links,
    h("div", { class: "row" }, sort, how),
    h("div", { class: "row" }, button(t("Rescan the folder"), rescan, { id: "rescan" })),
    result,
  );
}

// Which groups are exported; all of them until some are left out. changed(ids): another choice; no ids for all groups.
function groupChoice(changed) {
  const list = h("div", { class: "group-choice" });
  const summary = h("summary", {}, t("All groups"));
  const element = h("details", { id: "export-groups", ontoggle: () => element.open && load() }, summary, list);
  const boxes = () => [...list.querySelectorAll("input")];
  const groups = () =>
    boxes().every((one) => one.checked)
      ? []
      : boxes()
          .filter((one) => one.checked)
          .map((one) => one.value);

  async function load() {
    const leftOut = boxes()
      .filter((one) => !one.checked)
      .map((one) => one.value);
    const known = (await api.groups(0)).groups;
    list.replaceChildren(
      ...known.map((one) =>
        h(
          "label",
          { class: "row" },
          h("input", { type: "checkbox", value: one.id, checked: !leftOut.includes(one.id), onchange: update }),
          h("span", {}, one.name),
          h("span", { class: "quiet" }, String(one.n_images)),
        ),
      ),
    );
    update();
  }

  function update({ target } = {}) {
    if (target && !boxes().some((one) => one.checked)) target.checked = true; // at least one
    const n = groups().length;
    summary.textContent = n ? t("{n} of {groups}", { n, groups: count(boxes().length, "group") }) : t("All groups");
    changed(groups());
  }

  changed([]);
  return { element, groups };
}

function folderResult({ folder, n_written, left_out }) {
  const omitted = left_out.length
    ? t("; left out: {names}", { names: left_out.slice(0, 3).join(", ") + (left_out.length > 3 ? ", …" : "") })
    : "";
  return t("{pictures} sorted into {folder}{omitted}. The originals are unchanged.", {
    pictures: count(n_written, "picture"),
    folder,
    omitted,
  });
}

// The focus must not stay in the closed menu.
export function closeExports(next = $("main")) {
  const menu = $("export");
  if (menu.open && menu.contains(document.activeElement)) next.focus();
  menu.open = false;
}

export function changesText({ added, missing, returned, broken, renamed }) {
  const counts = [
    [added, t("{n} new", { n: added })],
    [returned, t("{n} restored", { n: returned })],
    [missing, t("{n} missing", { n: missing })],
    [broken, t("{n} unreadable", { n: broken })],
    [renamed, t("{n} renamed", { n: renamed })],
  ];
  const texts = counts.filter(([n]) => n).map(([, text]) => text);
  return texts.length ? t("Pictures in the folder: {changes}.", { changes: texts.join(", ") }) : "";
}
