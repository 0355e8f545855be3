// Taking the result along: files to save, and folders of pictures beside the collection.

import { api } from "/page/api.js";
import { $, h, some } from "/page/elements.js";

const EXPORTS = { csv: "Table (CSV)", parquet: "Table (Parquet)", html: "Gallery page (HTML)", answers: "My answers (JSON Lines)", labelstudio: "Label Studio (JSON)", fiftyone: "FiftyOne (labels.json)" };
const WAYS = { copy: "as copies", symlink: "as links (symlink)", hardlink: "as hard links" };

export function showExports(complain) {
  const links = Object.entries(EXPORTS).map(([to, text]) => h("a", { href: api.exportAddress(to), download: "", "data-to": to }, text));
  const how = h("select", { "aria-label": "How pictures come into folders" }, Object.entries(WAYS).map(([way, text]) => h("option", { value: way }, text)));
  const said = h("p", { role: "status", class: "said" });
  const sort = h("button", { type: "button", id: "into-folders", onclick: async () => {
    sort.disabled = true;
    said.textContent = "Sorting pictures into folders…";
    try {
      const done = await api.folders(how.value);
      const left = done.left_out.length ? `; left out: ${done.left_out.slice(0, 3).join(", ")}${done.left_out.length > 3 ? ", …" : ""}` : "";
      said.textContent = `${some(done.n_written, "picture")} sorted into ${done.folder}${left}. The originals are where they were.`;
    } catch (error) {
      said.textContent = "";
      complain(error.message);
    } finally {
      sort.disabled = false;
    }
  } }, "Sort into folders");
  const again = h("button", { type: "button", id: "rescan", onclick: async () => {
    said.textContent = "";
    try {
      const found = await api.rescan();
      said.textContent = changes(found) || "The folder holds the same pictures as before.";
    } catch (error) {
      complain(error.message, "standing"); // until the folder is there again
    }
  } }, "Look at the folder again");
  $("export-links").replaceChildren(...links, h("div", { class: "row" }, sort, how), h("div", { class: "row" }, again), said);
}

// The focus goes on elsewhere and does not stay in what is hidden.
export function closeExports(next = $("main")) {
  const menu = $("export");
  if (menu.open && menu.contains(document.activeElement)) next.focus();
  menu.open = false;
}

export function changes({ added, missing, returned, broken, renamed }) {
  const said = [[added, "new picture"], [returned, "picture back again"], [missing, "picture gone"], [broken, "picture broken"], [renamed, "picture renamed"]];
  const words = said.filter(([n]) => n).map(([n, what]) => (n === 1 ? `1 ${what}` : `${n} ${what.replace("picture", "pictures")}`));
  return words.length ? `In the folder: ${words.join(", ")}.` : "";
}
