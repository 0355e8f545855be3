// The page: its views, keys, status and the choice of the criterion.

import { api, state } from "/page/api.js";
import { makeAnswersView } from "/page/answers.js";
import { makeAskView } from "/page/ask.js";
import { makeCompareView } from "/page/compare.js";
import { $, h, isTyping } from "/page/dom.js";
import { announce, listen } from "/page/events.js";
import { closeExports, showExports } from "/page/export.js";
import { showAccuracy } from "/page/goal.js";
import { makeGalleriesView } from "/page/galleries.js";
import { showHelp } from "/page/help.js";
import { actionOf } from "/page/keys.js";
import { icon } from "/page/icons.js";
import { introduction } from "/page/intro.js";
import { makeMapView } from "/page/map.js";
import { askNewCriterion, changeCriterion, criterionForm } from "/page/criterion.js";
import { t, translatePage } from "/page/texts.js";
import { isViewer, showShare } from "/page/share.js";
import { setUpThemeButton } from "/page/theme_button.js";
import { toast } from "/page/toast.js";
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
const openReview = () => open("groups", "review");
const views = { ask: makeAskView({ showProblem, changed, openReview }) };
const corrections = { showProblem, changed, openReview: () => open("ask") };
views.groups = makeGalleriesView(corrections);
views.map = makeMapView(corrections);
views.compare = makeCompareView();
views.answers = makeAnswersView({
  showProblem,
  changed: () => {
    changed();
    views.ask.refill();
  },
});

function open(name, ...options) {
  if (name !== view) closeExports();
  view = name;
  for (const one of VIEWS) {
    $(`view-${one}`).hidden = one !== name;
    $(`tab-${one}`).setAttribute("aria-selected", String(one === name));
    $(`tab-${one}`).tabIndex = one === name ? 0 : -1;
  }
  $("view-title").textContent = $(`tab-${name}`).textContent;
  $("view-title").hidden = name === "ask"; // whose question is the title
  if (name === "ask") views.ask.enter();
  else views[name].refresh(...options);
}

// -- status --

let version = null; // of the program
let shownIssues = ""; // which label issues were loaded
let pending = null;
let again = false;
function showStatus() {
  // many calls at once are one request, and one more after it
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
  if (!state.criterion) return; // the person is still choosing one
  let status;
  try {
    status = await api.status();
  } catch (error) {
    showProblem(error.message);
    return;
  }
  if (version !== null && version !== status.version)
    showProblem(t("The program was upgraded; reload this page."), "version");
  version = status.version;
  showAccuracy(status, { changed: showStatus, openReview });
  nGroups = status.n_groups;
  views.ask.setStatus(status);
  const issues = `${status.n_label_issues} of ${status.results_version}`; // a training may find other ones
  if (issues !== shownIssues) views.ask.loadLabelIssues();
  shownIssues = issues;
  showProblem(status.problem ?? "", "session");
}

// -- criteria --

let known = null; // the criterion that is shown
let nGroups = 0;
async function showCriteria() {
  const criteria = await api.criteria();
  if (!criteria.length) return false;
  if (!criteria.some((one) => one.name === state.criterion)) {
    state.criterion = ""; // the default one
    state.criterion = (await api.status()).criterion;
  }
  known = criteria.find((one) => one.name === state.criterion);
  state.texts = known ?? {};
  $("criterion").replaceChildren(
    ...criteria.map((one) => h("option", { value: one.name, selected: one.name === state.criterion }, one.name)),
  );
  showExports(showProblem);
  document.title = `${state.criterion} · likewise`;
  return true;
}

// A session without a criterion: the person says what to group by.
function askFirstCriterion() {
  const first = $("view-first");
  const created = (name) => {
    first.hidden = true;
    first.replaceChildren();
    document.body.classList.remove("first");
    startCriterion(name);
  };
  const fill = () => first.replaceChildren(...[introduction(fill)].filter(Boolean), criterionForm(created, t("Start")));
  fill();
  first.hidden = false;
  [$("view-title").textContent, $("view-title").hidden] = [t("New criterion"), false];
  document.body.classList.add("first");
  first.querySelector("form input").focus();
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
  return switchTo(name).then(
    () => {
      open("ask");
      $("main").focus();
    },
    (error) => showProblem(error.message),
  ); // keys answer at once
};

// -- keys --

document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") closeExports($("export").firstElementChild);
  if (isTyping(event.target)) return;
  if (["groups", "map"].includes(view) && views[view].pressKey(event)) return void event.preventDefault();
  const key = event.key.toLowerCase();
  if (event.repeat) {
    // a held key answers one question only, and presses a button once
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
  toast(note);
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

setUpThemeButton();
$("change-criterion").append(icon("pencil"));
$("export").firstElementChild.prepend(icon("export"));
translatePage();

const page = { views, current: () => view, open, showProblem, showStatus, showCriteria };
history.replaceState(null, "", "/"); // removes the token, which is in a cookie now
setShowOnMap((id) => open("map", id));
for (const one of VIEWS) $(`tab-${one}`).addEventListener("click", () => open(one));
$("criterion").addEventListener("change", (event) => {
  switchTo(event.target.value);
  event.target.blur();
});
$("add-criterion").addEventListener("click", () => askNewCriterion(startCriterion));
$("change-criterion").addEventListener("click", () =>
  changeCriterion(known, nGroups, () =>
    showCriteria().then(() => {
      showStatus();
      views.ask.redraw();
    }),
  ),
);
$("help").addEventListener("click", () => showHelp(views.ask.redraw));
document.addEventListener("click", (event) => event.target.closest("#export") || closeExports());
$("share").append(icon("share"));
$("share").addEventListener("click", () => showShare(showProblem));
async function start() {
  const isReadOnly = await isViewer();
  if (await showCriteria()) {
    await showStatus();
    open(isReadOnly ? "groups" : "ask");
  } else if (isReadOnly) showProblem(t("Nothing is grouped yet."));
  else askFirstCriterion();
  listen(page);
}
start().catch((error) => showProblem(error.message));
