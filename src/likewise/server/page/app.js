// The page: its views, keys, status and the choice of the criterion.

import { api, state } from "/page/api.js";
import { makeAnswersView } from "/page/answers.js";
import { makeAskView } from "/page/ask.js";
import { makeCompareView } from "/page/compare.js";
import { $, h, isTyping } from "/page/dom.js";
import { announce, listen } from "/page/events.js";
import { closeExports, showExports } from "/page/export.js";
import { showFooter } from "/page/footer.js";
import { makeGalleriesView } from "/page/galleries.js";
import { showHelp } from "/page/help.js";
import { actionOf } from "/page/keys.js";
import { makeMapView } from "/page/map.js";
import { askNewCriterion } from "/page/new_criterion.js";
import { setShowOnMap } from "/page/zoom.js";

const VIEWS = ["ask", "groups", "map", "answers", "compare"];
const STATUS_PAUSE = 200; // milliseconds between two requests of the status

let view = "ask";

// Problems by their cause: a successful request clears only the problem of its own cause.
const problems = { connection: "", request: "", version: "", session: "" };
function showProblem(text, cause = "request") {
  problems[cause] = text;
  const first = Object.values(problems).find(Boolean) ?? "";
  $("problem").textContent = first;
  $("problem").hidden = !first;
}

const changed = (conflict) => {
  if (conflict) views.ask.setConflicts([conflict]);
  showStatus();
};
const views = { ask: makeAskView({ showProblem, changed }) };
views.groups = makeGalleriesView({ showProblem, changed, announce, openReview: () => open("ask") });
views.map = makeMapView({ showProblem, changed, announce });
views.compare = makeCompareView();
views.answers = makeAnswersView({ showProblem, changed: () => { changed(); views.ask.refill(); } });

function open(name, ...options) {
  if (name !== view) closeExports();
  view = name;
  for (const one of VIEWS) {
    $(`view-${one}`).hidden = one !== name;
    $(`tab-${one}`).setAttribute("aria-selected", String(one === name));
    $(`tab-${one}`).tabIndex = one === name ? 0 : -1;
  }
  if (name === "ask") views.ask.enter();
  else views[name].refresh(...options);
}

// -- status --

let version = null; // of the program
let shownIssues = ""; // which label issues were loaded
let pending = null;
let again = false;
function showStatus() { // many calls at once are one request, and one more after it
  if (pending) {
    again = true;
    return pending;
  }
  pending = loadStatus().finally(() => {
    pending = null;
    if (again) setTimeout(showStatus, STATUS_PAUSE);
    again = false;
  });
  return pending;
}

async function loadStatus() {
  let status;
  try {
    status = await api.status();
  } catch (error) {
    showProblem(error.message);
    return;
  }
  if (version !== null && version !== status.version) showProblem("The program was upgraded; reload this page.", "version");
  version = status.version;
  showFooter(status);
  views.ask.setConflicts(status.conflicts);
  if (!status.n_conflicts) views.groups.noConflicts();
  const issues = `${status.n_label_issues} of ${status.results_version}`; // a training may find other ones
  if (issues !== shownIssues) views.ask.loadLabelIssues();
  shownIssues = issues;
  showProblem(status.problem ?? "", "session");
}

// -- criteria --

async function showCriteria() {
  const criteria = await api.criteria();
  if (!criteria.some((one) => one.name === state.criterion)) {
    state.criterion = ""; // the default one
    state.criterion = (await api.status()).criterion;
  }
  $("criterion").replaceChildren(...criteria.map((one) => h("option", { value: one.name, selected: one.name === state.criterion }, one.name)));
  showExports(showProblem);
  document.title = `${state.criterion} · likewise`;
}

async function switchTo(name) {
  state.criterion = name;
  sessionStorage.setItem("likewise-by", name);
  shownIssues = "";
  for (const one of Object.values(views)) one.reset?.();
  await showCriteria();
  await showStatus();
  open(view);
}

const startCriterion = (name) => {
  showProblem("");
  return switchTo(name).then(() => $("main").focus(), (error) => showProblem(error.message)); // keys answer at once
};

// -- keys --

document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") closeExports($("export").firstElementChild);
  if (isTyping(event.target)) return;
  const key = event.key.toLowerCase();
  if (event.repeat) { // a held key answers one question only, and presses a button once
    if (key === "enter" || actionOf(key)) event.preventDefault();
    return;
  }
  if (key === "z" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    return void undo();
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (key === "?") return void showHelp(views.ask.redraw);
  if (switchTab(event, key)) return;
  const action = actionOf(key);
  if (VIEWS.includes(action)) return void open(action);
  if (action === "undo") return void undo();
  const isOnButton = event.target.closest?.("button, a, summary, canvas") && (key === " " || key === "enter");
  if (view === "ask" && !isOnButton && views.ask.pressKey(action, key) !== false) event.preventDefault();
});

async function undo() {
  const note = await views.ask.undo();
  if (view === "ask") return;
  open(view);
  announce(note);
}

function switchTab(event, key) {
  const step = { arrowright: 1, arrowleft: VIEWS.length - 1 }[key];
  if (!step || !event.target.closest?.("[role=tablist]")) return false;
  const next = VIEWS[(VIEWS.indexOf(view) + step) % VIEWS.length];
  open(next);
  $(`tab-${next}`).focus();
  return true;
}

// -- start --

const page = { views, current: () => view, open, showProblem, showStatus, showCriteria };
history.replaceState(null, "", "/"); // removes the token, which is in a cookie now
setShowOnMap((id) => open("map", id));
for (const one of VIEWS) $(`tab-${one}`).addEventListener("click", () => open(one));
$("criterion").addEventListener("change", (event) => { switchTo(event.target.value); event.target.blur(); });
$("add-criterion").addEventListener("click", () => askNewCriterion(startCriterion));
$("help").addEventListener("click", () => showHelp(views.ask.redraw));
document.addEventListener("click", (event) => event.target.closest("#export") || closeExports());
showCriteria().then(showStatus).then(() => open("ask")).then(() => listen(page), (error) => showProblem(error.message));
