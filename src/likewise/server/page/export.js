// The Export menu: files to download, export to folders, and a rescan of the picture folder.

import { api } from "/page/api.js";
import { $, button, count, h } from "/page/dom.js";

const FILES = { csv: "Table (CSV)", parquet: "Table (Parquet)", html: "Gallery page (HTML)", answers: "My answers (JSON Lines)", labelstudio: "Label Studio (JSON)", fiftyone: "FiftyOne (labels.json)" };
const METHODS = { copy: "as copies", symlink: "as symbolic links", hardlink: "as hard links" };

export function showExports(showProblem) {
  const links = Object.entries(FILES).map(([to, text]) => h("a", { href: api.exportPath(to), download: "", "data-to": to }, text));
  const how = h("select", { "aria-label": "Copy or link the pictures" }, Object.entries(METHODS).map(([method, text]) => h("option", { value: method }, text)));
  const result = h("p", { role: "status", class: "result" });

  async function exportFolders() {
    sort.disabled = true;
    result.textContent = "Sorting pictures into folders…";
    try {
      result.textContent = folderResult(await api.exportFolders(how.value));
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
      result.textContent = changesText(await api.rescan()) || "No changes in the folder.";
    } catch (error) {
      showProblem(error.message, "session"); // until the folder is there again
    }
  }

  const sort = button("Sort into folders", exportFolders, { id: "export-folders" });
  $("export-links").replaceChildren(...links, h("div", { class: "row" }, sort, how), h("div", { class: "row" }, button("Rescan the folder", rescan, { id: "rescan" })), result);
}

function folderResult({ folder, n_written, left_out }) {
  const omitted = left_out.length ? `; left out: ${left_out.slice(0, 3).join(", ")}${left_out.length > 3 ? ", …" : ""}` : "";
  return `${count(n_written, "picture")} sorted into ${folder}${omitted}. The originals are unchanged.`;
}

// The focus must not stay in the closed menu.
export function closeExports(next = $("main")) {
  const menu = $("export");
  if (menu.open && menu.contains(document.activeElement)) next.focus();
  menu.open = false;
}

export function changesText({ added, missing, returned, broken, renamed }) {
  const counts = [[added, "new"], [returned, "restored"], [missing, "missing"], [broken, "unreadable"], [renamed, "renamed"]];
  const texts = counts.filter(([n]) => n).map(([n, text]) => `${n} ${text}`);
  return texts.length ? `Pictures in the folder: ${texts.join(", ")}.` : "";
}
