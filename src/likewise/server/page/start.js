// The start page: continue a recent session, or choose a folder.

import { $, button, count, h } from "/page/dom.js";
import { send } from "/page/request.js";
import { t, translatePage } from "/page/texts.js";
import { setUpThemeButton } from "/page/theme_button.js";

let shown = ""; // the path of the folder that is shown
let roots = [];

function showProblem(text) {
  $("problem").textContent = text;
  $("problem").hidden = !text;
}

async function show(path) {
  try {
    const folder = await send("GET", "/api/folders?" + new URLSearchParams({ path }));
    shown = folder.path;
    showProblem("");
    $("path").value = folder.path;
    $("folder-status").textContent = folder.n_images
      ? t("{pictures} in this folder", { pictures: count(folder.n_images, "picture") })
      : t("No pictures directly in this folder; those in its subfolders are used.");
    const go = (text, to) => button(text, () => show(to), { class: "folder" });
    const others = roots.filter((root) => root !== folder.path).map((root) => go(root, root));
    const up = folder.parent === null ? others : [go(["↑ ", t("Parent folder")], folder.parent)];
    const folders = folder.folders.map((name) => go(name, `${folder.path}/${name}`));
    $("folders").replaceChildren(...up, ...folders);
    if (!folder.folders.length) $("folders").append(h("p", { class: "quiet" }, t("No subfolders.")));
  } catch (error) {
    showProblem(error.message);
  }
}

async function open(what, opener) {
  showProblem("");
  opener.disabled = true;
  $("folder-status").textContent = t("Reading pictures; the first question appears in a few seconds…");
  try {
    location.href = (await send("POST", "/api/open", what)).url;
  } catch (error) {
    showProblem(error.message);
    ready(opener);
  }
}

function ready(opener) {
  $("folder-status").textContent = "";
  opener.disabled = false;
}

function recentCard(session, number) {
  const thumbs = session.thumbnails.map((name) => h("img", { src: `/api/start/${number}/${name}`, alt: "" }));
  const card = button(
    [
      h("span", { class: "thumbs" }, thumbs),
      h("b", {}, session.name),
      h("span", { class: "quiet" }, session.criteria.join(", ")),
      h("span", { class: "quiet" }, `${count(session.n_images, "picture")} · ${count(session.n_answers, "answer")}`),
    ],
    () => open({ session: number }, card),
    { class: "card", title: session.folder },
  );
  return card;
}

// A folder that is dropped here: file managers give its address as text.
function droppedPath(data) {
  const text = (data.getData("text/uri-list") || data.getData("text/plain")).split("\n")[0].trim();
  return text.startsWith("file://") ? decodeURIComponent(new URL(text).pathname) : text;
}

document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  const path = droppedPath(event.dataTransfer);
  if (path) show(path);
  else showProblem(t("This browser does not tell the path of the folder; type or paste it."));
});
$("path-form").addEventListener("submit", (event) => {
  event.preventDefault();
  show($("path").value.trim());
});
$("open").addEventListener("click", async () => {
  if ($("path").value.trim() !== shown) await show($("path").value.trim());
  if ($("problem").hidden) open({ folder: shown }, $("open"));
});

// The page is shown again by the browser's Back.
window.addEventListener("pageshow", ({ persisted }) => {
  if (persisted) document.querySelectorAll("button:disabled").forEach(ready);
});

translatePage();
setUpThemeButton();
history.replaceState(null, "", location.pathname); // removes the token, which is in a cookie now
send("GET", "/api/start")
  .then((start) => {
    roots = start.roots;
    $("recent-section").hidden = !start.recent.length;
    $("recent").replaceChildren(...start.recent.map(recentCard));
    return show(roots[0]);
  })
  .catch((error) => showProblem(error.message));
