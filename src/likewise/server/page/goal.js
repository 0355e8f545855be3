// The estimated accuracy, its goal, and what to do when the goal is reached.

import { api } from "/page/api.js";
import { $, button, count, h } from "/page/dom.js";
import { showSkipped } from "/page/skipped.js";
import { parts, t } from "/page/texts.js";

const GOALS = [90, 95, 99]; // percent
const STORE = "likewise-goal";
const CONTINUED = "likewise-continued"; // goals after which the person went on
const MAX_HALF_WIDTH = 0.1; // of the interval: with a wider one the estimate is not good enough to stop

const MAX_WIDTH = 0.5; // of the interval: of a wider one only the ends are shown

const percent = (share) => Math.round(share * 100);
const goal = () => Number(localStorage.getItem(STORE)) || 95;

export const isReached = ({ accuracy }) =>
  Boolean(accuracy) && percent(accuracy.estimate) >= goal() && (accuracy.high - accuracy.low) / 2 <= MAX_HALF_WIDTH;

// The sentence, the bar and the goal in the footer; changed(): another goal was chosen.
export function showAccuracy(status, { changed, openReview }) {
  const { accuracy } = status;
  const review = accuracy
    ? button(t("Review"), openReview, { id: "open-review", title: t("Review the least sure pictures") })
    : null;
  const focused = document.activeElement?.id;
  $("counts").replaceChildren(...counts(status));
  $("accuracy").replaceChildren(
    ...[h("span", { id: "accuracy-text" }, sentence(accuracy)), bar(accuracy), review, goalSelect(changed)].filter(
      Boolean,
    ),
  );
  if (["open-review", "goal", "skipped"].includes(focused)) document.getElementById(focused)?.focus();
}

const isVague = ({ low, high }) => high - low > MAX_WIDTH;

function sentence(accuracy) {
  if (!accuracy) return t("Answer a few questions; the groups follow.");
  const values = { n: percent(accuracy.estimate), low: percent(accuracy.low), high: percent(accuracy.high) };
  if (isVague(accuracy))
    return t("Between {low} and {high} of 100 are in the right group; a few answers tell more.", values);
  return parts("About {n} of 100 are in the right group ({low} to {high})", {
    ...values,
    n: h("b", {}, String(values.n)),
  });
}

function bar(accuracy) {
  const [low, n, high] = accuracy ? [accuracy.low, accuracy.estimate, accuracy.high].map(percent) : [0, 0, 0];
  const box = h(
    "div",
    {
      class: "accuracy-bar",
      role: "progressbar",
      "aria-label": t("Pictures in the right group, of 100"),
      "aria-valuemin": 0,
      "aria-valuemax": 100,
      "aria-valuenow": n,
    },
    h("i", { class: "interval" }),
    h("i", { class: "estimate" }),
    h("i", { class: "goal" }),
  );
  if (accuracy && isVague(accuracy)) box.querySelector(".estimate").hidden = true;
  for (const [name, value] of Object.entries({ low, n, high, goal: goal() }))
    box.style.setProperty(`--${name}`, `${value}%`);
  return box;
}

function goalSelect(changed) {
  const select = h(
    "select",
    { id: "goal", "aria-label": t("Goal") },
    GOALS.map((one) => h("option", { value: one, selected: one === goal() }, t("Goal: {n} %", { n: one }))),
  );
  select.addEventListener("change", () => {
    localStorage.setItem(STORE, select.value);
    changed();
  });
  return select;
}

const counts = ({ n_answers, n_groups, n_images, n_missing, n_skipped }) => [
  h("b", {}, count(n_answers, "answer")),
  " · ",
  count(n_groups, "group"),
  " · ",
  count(n_images, "picture"),
  n_missing ? t(", {n} missing", { n: n_missing }) : "",
  n_skipped ? " · " : "",
  n_skipped ? button(t("{n} not shown", { n: n_skipped }), showSkipped, { id: "skipped", class: "plain" }) : "",
];

// "You can stop here", with the ways to export; empty if the goal is not reached or the person went on.
export function goalView(status, { openReview, changed }) {
  const key = `${status?.criterion} ${goal()}`;
  const continued = JSON.parse(sessionStorage.getItem(CONTINUED) ?? "[]");
  if (!status || !isReached(status) || continued.includes(key)) return [];
  const goOn = () => {
    sessionStorage.setItem(CONTINUED, JSON.stringify([...continued, key]));
    changed();
    $("main").focus();
  };
  const wrong = Math.round(status.accuracy.n_wrong);
  const text = wrong
    ? t("Your goal of {goal} % is reached. About {n} of the pictures may still be in a wrong group.", {
        goal: goal(),
        n: wrong,
      })
    : t("Your goal of {goal} % is reached.", { goal: goal() });
  return [
    h(
      "section",
      { class: "review reached", "aria-labelledby": "reached" },
      h("h2", { id: "reached" }, t("You can stop here")),
      h("p", {}, text),
      h(
        "div",
        { class: "row" },
        h("a", { class: "button primary", href: api.exportPath("csv"), download: "" }, t("Export a table")),
        button(
          t("Sort into folders"),
          () => {
            $("export").open = true;
            $("export-folders").focus();
          },
          { id: "reached-folders" },
        ),
        button(t("Review the least sure pictures"), openReview, { id: "reached-review" }),
        button(t("Keep answering"), goOn, { id: "go-on", class: "quiet" }),
      ),
    ),
  ];
}
