// The page: views, keys, and what is always visible.

import { api, state } from "/page/api.js";
import { makeAsking } from "/page/asking.js";
import { makeCompare } from "/page/compare.js";
import { $, h, isTyping, some } from "/page/elements.js";
import { changes, showExports } from "/page/folders.js";
import { makeGalleries } from "/page/galleries.js";
import { help } from "/page/help.js";
import { actionOf } from "/page/keys.js";
import { makeLog } from "/page/log.js";
import { makeMap } from "/page/map.js";
import { setOnMap } from "/page/zoom.js";

const VIEWS = ["ask", "groups", "map", "answers", "compare"];
const WORDS = { same: "same", different: "different", cannot_tell: "can't tell", bad_image: "bad", placed: "placed", none: "none", new: "new" };

let release = null;
let nDoubts = 0;
let view = "ask";

function complain(text) {
  $("trouble").textContent = text;
  $("trouble").hidden = !text;
}
function say(text) {
  $("news").textContent = text;
}
const changed = (conflict) => {
  if (conflict) parts.asking.settle(conflict);
  showStatus();
};
const parts = { asking: makeAsking({ complain, changed }) };
parts.groups = makeGalleries({ complain, changed, say });
parts.map = makeMap({ complain });
parts.compare = makeCompare({ complain });
parts.answers = makeLog({ complain, changed: () => { changed(); parts.asking.refill(); } });

function open(name, ...about) {
  view = name;
  for (const one of VIEWS) {
    $(`view-${one}`).hidden = one !== name;
    $(`tab-${one}`).setAttribute("aria-selected", String(one === name));
    $(`tab-${one}`).tabIndex = one === name ? 0 : -1;
  }
  if (name === "ask") parts.asking.refill();
  else parts[name].refresh(...about);
}
setOnMap((id) => open("map", id));

let showing = null;
let again = false;
function showStatus() { // many answers at once, from many people, are one look
  if (showing) {
    again = true;
    return showing;
  }
  showing = lookAtStatus().finally(() => {
    showing = null;
    if (again) setTimeout(showStatus, 200);
    again = false;
  });
  return showing;
}

async function lookAtStatus() {
  let status;
  try {
    status = await api.status();
  } catch (error) {
    complain(error.message);
    return;
  }
  if (release !== null && release !== status.release) complain("The program was upgraded; reload this page.");
  release = status.release;
  const counts = Object.entries(status.tally).filter(([, n]) => n);
  $("tally").replaceChildren(h("b", {}, some(status.n_answers, "answer")), counts.length ? ": " + counts.map(([word, n]) => `${n} ${WORDS[word]}`).join(", ") : "", ` · ${some(status.n_images, "picture")}`, status.missing ? `, ${status.missing} gone` : "");
  $("agreement").replaceChildren(...agreement(status));
  if (status.conflicts.length) parts.asking.settle(status.conflicts[0]);
  if (status.n_doubts !== nDoubts) parts.asking.lookAgain();
  nDoubts = status.n_doubts;
  if (status.trouble) say(status.trouble);
}

function agreement({ agreement: found, n_answers, n_violations }) {
  if (!found) return [n_answers ? "" : "Answer a few questions; groups follow by themselves."];
  const said = [];
  if (found.agreement !== null && found.n_checked >= 3) {
    const spread = Math.round(((found.high - found.low) / 2) * 100);
    const about = `of the last ${found.n_checked}, before it learned from them; it asks what it is unsure of, so of all pictures it has more right`;
    said.push("it had guessed ", h("b", { title: about }, `${Math.round(found.agreement * 100)} % ± ${spread}`), " of your answers");
  }
  const n = Math.round(found.expected_changes);
  said.push(said.length ? " · " : "", n > 0 ? `more answers may still move about ${some(n, "picture")}` : "more answers would change little");
  if (n_violations) said.push(` · ${some(n_violations, "answer")} of yours overrule${n_violations === 1 ? "s" : ""} the model`);
  return said;
}

async function showOrientations() {
  const known = await api.orientations();
  if (!known.some((one) => one.name === state.orientation)) state.orientation = (await api.status()).orientation;
  $("orientation").replaceChildren(...known.map((one) => h("option", { value: one.name, selected: one.name === state.orientation }, one.name)));
  showExports(complain);
  document.title = `${state.orientation} · likewise`;
}

async function switchTo(name) {
  state.orientation = name;
  for (const part of Object.values(parts)) part.reset?.();
  await showOrientations();
  await showStatus();
  open(view);
}

function askOrientation() {
  const dialog = $("dialog-orientation");
  const name = h("input", { required: true, maxlength: 200, placeholder: "mood, season, in or out of doors…" });
  const n = h("input", { type: "number", min: 2, max: 1000, placeholder: "as many as there are" });
  const form = h("form", { class: "plain", method: "dialog" }, h("h2", {}, "Sort the same pictures in another way"),
    h("label", {}, "By what, in your words?", name), h("label", {}, "How many groups, if you know?", n),
    h("div", { class: "row" }, h("button", { type: "submit" }, "Begin"), h("button", { type: "button", onclick: () => dialog.close() }, "Cancel")));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await api.addOrientation(name.value.trim(), n.value ? Number(n.value) : null);
      dialog.close();
      await switchTo(name.value.trim());
      $("main").focus(); // the next key answers, and does not open this again
    } catch (error) {
      complain(error.message);
      dialog.close();
    }
  });
  dialog.replaceChildren(form);
  dialog.showModal();
}

document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]") || isTyping(event.target)) return;
  const pressed = event.key.toLowerCase();
  if (pressed === "z" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    parts.asking.undo().then(() => view !== "ask" && open(view));
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (pressed === "?") return void help(parts.asking.redraw);
  if (inTabs(event, pressed)) return;
  const action = actionOf(pressed);
  if (VIEWS.includes(action)) return void open(action);
  const onButton = event.target.closest?.("button, a, summary, canvas") && (pressed === " " || pressed === "enter");
  if (view === "ask" && !onButton && parts.asking.key(action, pressed) !== false) event.preventDefault();
});

function inTabs(event, pressed) {
  const step = { arrowright: 1, arrowleft: VIEWS.length - 1 }[pressed];
  if (!step || !event.target.closest?.("[role=tablist]")) return false;
  const next = VIEWS[(VIEWS.indexOf(view) + step) % VIEWS.length];
  open(next);
  $(`tab-${next}`).focus();
  return true;
}

function listen() {
  const news = new EventSource("/api/events");
  const mine = (event) => {
    const about = JSON.parse(event.data);
    return !about.orientation || about.orientation === state.orientation ? about : null;
  };
  let wasLost = false;
  news.onerror = () => {
    wasLost = true;
    complain("The connection is lost; answers that were acknowledged are kept. Trying again…");
  };
  news.onopen = () => {
    showStatus(); // of what was said before we listened
    if (wasLost) {
      complain("");
      switchTo(state.orientation).catch((error) => complain(error.message));
    }
    wasLost = false;
  };
  news.addEventListener("answers", (event) => mine(event) && showStatus());
  news.addEventListener("training", (event) => mine(event) && say("learning…"));
  news.addEventListener("embedding", (event) => say(`reading pictures: ${JSON.parse(event.data).done} of ${JSON.parse(event.data).total}`));
  news.addEventListener("died", () => say("Training stopped and is being started again; answers are kept."));
  news.addEventListener("trained", (event) => {
    const about = mine(event);
    if (!about) return;
    say(about.n_answers ? `groups updated, ${some(about.n_moved ?? 0, "picture")} moved` : "first groups are there");
    showStatus();
    if (view === "groups" && !parts.groups.isBusy()) parts.groups.refresh();
    if (view === "map" || view === "compare") parts[view].refresh();
  });
  news.addEventListener("pictures", (event) => {
    say(changes(JSON.parse(event.data)));
    showStatus();
    if (view !== "ask") open(view);
  });
  news.addEventListener("folder", (event) => complain(JSON.parse(event.data).message ?? ""));
  news.addEventListener("orientations", () => showOrientations());
}

history.replaceState(null, "", "/"); // the token has become a cookie
for (const one of VIEWS) $(`tab-${one}`).addEventListener("click", () => open(one));
$("orientation").addEventListener("change", (event) => { switchTo(event.target.value); event.target.blur(); });
$("add-orientation").addEventListener("click", askOrientation);
$("help").addEventListener("click", () => help(parts.asking.redraw));
document.addEventListener("click", (event) => event.target.closest("#export") || ($("export").open = false));
showOrientations().then(showStatus).then(() => open("ask")).then(listen, (error) => complain(error.message));
