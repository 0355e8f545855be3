// Show one question: its pictures, the offered groups, and the answer buttons.

import { state } from "/page/api.js";
import { findGroup } from "/page/find_group.js";
import { gridAnswers, gridView } from "/page/grid_question.js";
import { button, h, large, picture, small } from "/page/dom.js";
import { shownKey } from "/page/keys.js";
import { count, parts, t } from "/page/texts.js";
import { zoom } from "/page/zoom.js";

const PAIR = ["same", "different", "new_group", "cannot_tell", "bad_image"];
export const PER_PAGE = 8; // groups of a choice
const CHOICE = ["none", "new_group", "cannot_tell", "bad_image"];
const GRID = ["new_group", "cannot_tell", "bad_image"];
const LABELS = {
  same: t("Same"),
  different: t("Different"),
  none: t("None of these"),
  new_group: t("New group"),
  cannot_tell: t("Can't tell"),
  bad_image: t("Bad picture"),
};
const MAIN = ["same", "different"]; // large buttons
const answersOf = ({ kind }) => ({ pair: PAIR, grid: GRID })[kind] ?? CHOICE;
const shownIn = ({ kind, images }) => (kind === "choice" ? images.slice(0, 1) : images);

// Whether two questions are about the same pictures; the groups of a choice change when groups are merged or added.
const subject = ({ kind, images }) => (kind === "choice" ? images[0] : images.join());
export const isSame = (a, b) => a.kind === b.kind && subject(a) === subject(b);

// The answer chosen by an action, or by the digit of a group.
export function answerFor(question, action, key) {
  if (answersOf(question).includes(action)) return action;
  return question.kind === "choice" ? question.offered.find(({ digit }) => String(digit) === key)?.id : undefined;
}

// A choice that shows the next groups in place of those offered; null if it has offered all.
export function nextGroups(question) {
  if (!question.more?.length) return null;
  const offered = question.more.slice(0, PER_PAGE);
  const image = question.images[0];
  return {
    ...question,
    images: [image, ...offered.map((one) => one.representative)],
    groups: offered.map((one) => one.id),
    offered,
    names: [question.names[0], ...offered.map(() => "")],
    more: question.more.slice(PER_PAGE),
    isNext: true,
  };
}

export const preload = (question) =>
  question.images.forEach((id) => (new Image().src = (question.kind === "pair" ? large : small)(id)));

// "Same season?", "Which season?", or in the person's words. A criterion that is not a noun follows a colon:
// "Same group: indoors or outdoors?".
const NOT_A_NOUN =
  /^(what|who|whose|where|when|how|why|which|whether|is|are|has|in|on|at|by|with|without|from)\b| or /i;
export function wording(kind, criterion) {
  const isNoun = !NOT_A_NOUN.test(criterion);
  if (kind === "pair") return isNoun ? "Same {criterion}?" : "Same group: {criterion}?";
  return isNoun ? "Which {criterion}?" : "Which group: {criterion}?";
}
// Translated here, so that each text has a row in the table.
export const defaultText = (kind, criterion) =>
  ({
    "Same {criterion}?": t("Same {criterion}?", { criterion }),
    "Same group: {criterion}?": t("Same group: {criterion}?", { criterion }),
    "Which {criterion}?": t("Which {criterion}?", { criterion }),
    "Which group: {criterion}?": t("Which group: {criterion}?", { criterion }),
  })[wording(kind, criterion)];

const ownText = ({ kind }) => ({ pair: state.texts.pair_text, choice: state.texts.choice_text })[kind];

export function title(question) {
  if (question.kind === "grid")
    return parts("Tick those that do not belong to {group}", { group: h("b", {}, question.offered[0].name) });
  return ownText(question)
    ? [h("b", {}, ownText(question))]
    : parts(wording(question.kind, state.criterion), { criterion: h("b", {}, state.criterion) });
}

// The question for screen readers.
export function spoken(question, note) {
  const text = h("p", {}, title(question)).textContent;
  const names = question.kind === "grid" ? [] : question.names.slice(0, shownIn(question).length);
  return `${note} ${text} ${names.join(", ")}`.trim();
}

// actions: { answer(text, more), undo, place(group) }; `nGroups`: of the criterion
export function questionView(question, note, actions, nGroups) {
  const views = { pair: pairView, choice: choiceView, grid: gridView };
  const tools = question.kind === "grid" ? [gridAnswers(actions.answer)] : [];
  return [
    h("h1", { id: "question" }, title(question)),
    views[question.kind](question, actions, nGroups),
    h("p", { class: "note" }, note),
    answerButtons(question, actions, tools),
  ];
}

function pairView({ images, names }) {
  const both = order(images).map((i) => ({ id: images[i], name: names[i] }));
  return h(
    "div",
    { class: "pictures pair" },
    both.map((one, i) => largePicture(one, both, i)),
  );
}

// Mixes left and right.
export const order = (images) => (((images[0] * 7 + images[1] * 13) >> 1) % 2 ? [0, 1] : [1, 0]);

function choiceView({ images, names, offered }, { answer, place }, nGroups) {
  const all = images.map((id, i) => ({
    id,
    name: i ? [offered[i - 1].name, names[i]].filter(Boolean).join(": ") : names[i],
  })); // zoom shows the groups too
  const choice = (group, i) =>
    h(
      "button",
      { type: "button", group: group.colour, "data-answer": group.id, onclick: () => answer(group.id) },
      h("kbd", {}, String(group.digit)),
      h("span", {}, group.name),
      h(
        "span",
        { class: "examples" },
        picture(group.representative, names[i + 1] || group.name),
        group.members.slice(0, 2).map((id) => picture(id, t("also {group}", { group: group.name }))),
      ),
    );
  const find =
    nGroups > offered.length
      ? findGroup(
          offered.map((one) => one.id),
          place,
        )
      : null;
  return h(
    "div",
    { class: "pictures choice" },
    largePicture(all[0], all, 0),
    h("div", { class: "offered" }, h("div", { class: "choices" }, offered.map(choice)), find),
  );
}

const largePicture = (one, all, index) =>
  h(
    "button",
    {
      class: "picture",
      type: "button",
      "aria-label": t("Enlarge {name}", { name: one.name }),
      onclick: () => zoom(all, index),
    },
    picture(one.id, one.name, large),
  );

function answerButtons(question, { answer, undo }, tools) {
  const label = (name) =>
    name === "none" && question.more?.length ? count(question.more.length, "more group") : LABELS[name];
  const row = answersOf(question).map((name) =>
    h(
      "button",
      { type: "button", class: MAIN.includes(name) ? "" : "quiet", "data-answer": name, onclick: () => answer(name) },
      label(name),
      h("kbd", {}, shownKey(name)),
    ),
  );
  return h("div", { class: "answers" }, tools, row, undoButton("quiet", undo));
}

const undoButton = (kind, undo) =>
  button([t("Undo"), h("kbd", {}, shownKey("undo"))], undo, { class: kind, id: "undo" });

export const finishedView = (undo) =>
  h(
    "div",
    { class: "done" },
    h("h1", {}, t("No questions left.")),
    h(
      "p",
      {},
      parts("Your answers determine the groups by {criterion}. See the groups, or export them.", {
        criterion: h("b", {}, state.criterion),
      }),
    ),
    h("div", { class: "answers" }, undoButton("", undo)),
  );
