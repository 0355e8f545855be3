// The page: views, keys, and what is always visible.

import { api, state } from "/page/api.js";
import { makeAsking } from "/page/asking.js";
import { askOrientation } from "/page/beginning.js";
import { makeCompare } from "/page/compare.js";
import { $, h, isTyping, some } from "/page/elements.js";
import { changes, closeExports, showExports } from "/page/folders.js";
import { showFooter } from "/page/footer.js";
import { makeGalleries } from "/page/galleries.js";
import { help } from "/page/help.js";
import { actionOf } from "/page/keys.js";
import { makeLog } from "/page/log.js";
import { makeMap } from "/page/map.js";
import { setOnMap } from "/page/zoom.js";

const VIEWS = ["ask", "groups", "map", "answers", "compare"];

const [RETRY, MOMENT] = [2000, 1000]; // milliseconds
let release = null;
let seenDoubts = "";
let view = "ask";

// What is wrong, by its cause: a request that goes well ends no trouble but its own.
const troubles = { lost: "", request: "", release: "", standing: "" };
function complain(text, cause = "request") {
  troubles[cause] = text;
  const worst = Object.values(troubles).find(Boolean) ?? "";
  $("trouble").textContent = worst;
  $("trouble").hidden = !worst;
}
function say(text) {
  $("news").textContent = text;
}
const changed = (conflict) => {
  if (conflict) parts.asking.settle([conflict]);
  showStatus();
};
const parts = { asking: makeAsking({ complain, changed }) };
parts.groups = makeGalleries({ complain, changed, say, settle: () => open("ask") });
parts.map = makeMap({ complain, changed, say });
parts.compare = makeCompare({ complain });
parts.answers = makeLog({ complain, changed: () => { changed(); parts.asking.refill(); } });

function open(name, ...about) {
  if (name !== view) closeExports();
  view = name;
  for (const one of VIEWS) {
    $(`view-${one}`).hidden = one !== name;
    $(`tab-${one}`).setAttribute("aria-selected", String(one === name));
    $(`tab-${one}`).tabIndex = one === name ? 0 : -1;
  }
  if (name === "ask") parts.asking.enter();
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
  if (release !== null && release !== status.release) complain("The program was upgraded; reload this page.", "release");
  release = status.release;
  showFooter(status);
  parts.asking.settle(status.conflicts);
  if (!status.n_conflicts) parts.groups.settled();
  const doubts = `${status.n_doubts} of ${status.version}`; // training may find others, as many
  if (doubts !== seenDoubts) parts.asking.lookAgain();
  seenDoubts = doubts;
  complain(status.trouble ?? "", "standing");
}

async function showOrientations() {
  const known = await api.orientations();
  if (!known.some((one) => one.name === state.orientation)) {
    state.orientation = ""; // which is the one to begin with
    state.orientation = (await api.status()).orientation;
  }
  $("orientation").replaceChildren(...known.map((one) => h("option", { value: one.name, selected: one.name === state.orientation }, one.name)));
  showExports(complain);
  document.title = `${state.orientation} · likewise`;
}

async function switchTo(name) {
  state.orientation = name;
  sessionStorage.setItem("likewise-by", name);
  seenDoubts = "";
  for (const part of Object.values(parts)) part.reset?.();
  await showOrientations();
  await showStatus();
  open(view);
}

// The complaint about what was wished for before is over.
const begin = (name) => {
  complain("");
  return switchTo(name).then(() => $("main").focus(), (error) => complain(error.message)); // the next key answers
};

document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") closeExports($("export").firstElementChild);
  if (isTyping(event.target)) return;
  const pressed = event.key.toLowerCase();
  if (event.repeat) { // held: nobody saw yet what it would answer, and a button is pressed once
    if (pressed === "enter" || actionOf(pressed)) event.preventDefault();
    return;
  }
  if (pressed === "z" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    return void undo();
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (pressed === "?") return void help(parts.asking.redraw);
  if (inTabs(event, pressed)) return;
  const action = actionOf(pressed);
  if (VIEWS.includes(action)) return void open(action);
  if (action === "undo") return void undo();
  const onButton = event.target.closest?.("button, a, summary, canvas") && (pressed === " " || pressed === "enter");
  if (view === "ask" && !onButton && parts.asking.key(action, pressed) !== false) event.preventDefault();
});

async function undo() {
  const note = await parts.asking.undo();
  if (view === "ask") return;
  open(view);
  say(note);
}

function inTabs(event, pressed) {
  const step = { arrowright: 1, arrowleft: VIEWS.length - 1 }[pressed];
  if (!step || !event.target.closest?.("[role=tablist]")) return false;
  const next = VIEWS[(VIEWS.indexOf(view) + step) % VIEWS.length];
  open(next);
  $(`tab-${next}`).focus();
  return true;
}

// What others did is seen a moment later; all that happens in that moment is one look.
let due = 0;
function renew() {
  due ||= setTimeout(() => { due = 0; parts[view]?.renew?.(); }, MOMENT);
}

async function comeBack() {
  complain("");
  complain("", "lost");
  await showOrientations();
  if (view === "ask") parts.asking.refill(true);
  else open(view);
}

async function knock() {
  try {
    await api.status();
    listen();
  } catch (error) {
    complain(error.message);
    setTimeout(knock, RETRY);
  }
}

let wasLost = false;
function listen() {
  const news = new EventSource("/api/events");
  const mine = (event) => {
    const about = JSON.parse(event.data);
    return !about.orientation || about.orientation === state.orientation ? about : null;
  };
  news.onerror = () => {
    wasLost = true;
    complain("The connection is lost; answers that were acknowledged are kept. Trying again… If the program has ended, start it again.", "lost");
    if (news.readyState === EventSource.CLOSED) setTimeout(knock, RETRY); // refused: a browser gives up then
  };
  news.onopen = () => {
    showStatus(); // of what was said before we listened
    if (wasLost) comeBack().catch((error) => complain(error.message));
    wasLost = false;
  };
  news.addEventListener("answers", (event) => { if (mine(event)) { showStatus(); renew(); } });
  news.addEventListener("groups", (event) => { // other names
    if (!mine(event)) return;
    showStatus();
    renew();
    if (view === "map") parts.map.refresh();
    if (view === "ask") parts.asking.refill(true);
  });
  news.addEventListener("training", (event) => mine(event) && say("learning…"));
  news.addEventListener("embedding", (event) => say(`reading pictures: ${JSON.parse(event.data).done} of ${JSON.parse(event.data).total}`));
  news.addEventListener("died", () => say("Training stopped and is being started again; answers are kept."));
  news.addEventListener("trouble", showStatus);
  news.addEventListener("trained", (event) => {
    const about = mine(event);
    if (!about) return;
    say(about.n_answers ? `groups updated, ${some(about.n_moved ?? 0, "picture")} moved` : "first groups are there");
    showStatus();
    if (view === "groups") parts.groups.renew();
    if (view === "map" || view === "compare") parts[view].refresh();
  });
  news.addEventListener("pictures", (event) => {
    say(changes(JSON.parse(event.data)));
    showStatus();
    parts.groups.refresh(); // which remembers what is new
    if (view !== "ask" && view !== "groups") open(view);
  });
  news.addEventListener("folder", (event) => {
    complain(JSON.parse(event.data).message ?? "", "standing");
    showStatus(); // one that is on its way may say what was so before
    if (view === "ask") parts.asking.redraw(); // pictures may be there again
    else open(view);
  });
  news.addEventListener("orientations", () => showOrientations());
}

history.replaceState(null, "", "/"); // the token has become a cookie
for (const one of VIEWS) $(`tab-${one}`).addEventListener("click", () => open(one));
$("orientation").addEventListener("change", (event) => { switchTo(event.target.value); event.target.blur(); });
$("add-orientation").addEventListener("click", () => askOrientation(begin));
$("help").addEventListener("click", () => help(parts.asking.redraw));
document.addEventListener("click", (event) => event.target.closest("#export") || closeExports());
showOrientations().then(showStatus).then(() => open("ask")).then(listen, (error) => complain(error.message));
