// One question as it is shown: its pictures, the groups to choose from, and the buttons that answer it.

import { state } from "/page/api.js";
import { h, large, picture, small } from "/page/elements.js";
import { shownKey } from "/page/keys.js";
import { zoom } from "/page/zoom.js";

const PAIR = [["same", "Same"], ["different", "Different"], ["cannot_tell", "Can't tell"], ["bad_image", "Bad picture"]];
const CHOICE = [["none", "None of these"], ["cannot_tell", "Can't tell"], ["bad_image", "Bad picture"]];
const wordsOf = (question) => (question.kind === "pair" ? PAIR : CHOICE);

export const isSame = (a, b) => a.kind === b.kind && a.images.join() === b.images.join();

// The answer that an action, or else the digit of a group, stands for.
export const answerOf = (question, action, pressed) =>
  wordsOf(question).some(([word]) => word === action) ? action : question.shown.find(({ digit }) => String(digit) === pressed)?.key;

export const loadAhead = (question) =>
  question.images.forEach((id) => (new Image().src = (question.kind === "pair" ? large : small)(id)));

// "Which season?", but "Which group, by what it shows?": one word is a name, several may be a sentence.
const asking = ({ kind }) => (kind === "pair" ? "Same " : state.orientation.includes(" ") ? "Which group, by " : "Which ");

// For those who hear the page.
export const spoken = ({ kind, names }, note) =>
  `${note} ${asking({ kind })}${state.orientation}? ${names.slice(0, kind === "pair" ? 2 : 1).join(" and ")}`.trim();

export function questionView(question, note, { answer, undo }) {
  const title = h("h1", {}, asking(question), h("b", {}, state.orientation), "?");
  const body = question.kind === "pair" ? pair(question) : choices(question, answer);
  return [title, body, h("p", { class: "settled" }, note), buttons(question, answer, undo)];
}

function pair({ images, names }) {
  const order = ((images[0] * 7 + images[1] * 13) >> 1) % 2 ? [0, 1] : [1, 0]; // no side is favoured
  const both = order.map((i) => ({ id: images[i], name: names[i] }));
  return h("div", { class: "pictures pair" }, both.map((one, place) => bigPicture(one, both, place)));
}

function choices({ images, names, shown }, answer) {
  const all = images.map((id, i) => ({ id, name: i ? `${shown[i - 1].name}: ${names[i]}` : names[i] })); // zoom goes on to the groups
  const choice = (group, place) => // its digit is its own, whichever groups are left out
    h("button", { type: "button", group: group.colour, "data-answer": group.key, onclick: () => answer(group.key) },
      h("kbd", {}, String(group.digit)), h("span", {}, group.name),
      h("span", { class: "faces" }, picture(group.image, names[place + 1]), group.also.slice(0, 2).map((id) => picture(id, `also ${group.name}`))));
  return h("div", { class: "pictures choice" }, bigPicture(all[0], all, 0), h("div", { class: "choices" }, shown.map(choice)));
}

const bigPicture = (one, all, place) =>
  h("button", { class: "picture", type: "button", "aria-label": `Look closer at ${one.name}`, onclick: () => zoom(all, place) },
    picture(one.id, one.name, large));

function buttons(question, answer, undo) {
  const isQuiet = (place) => place > 1 || question.kind !== "pair";
  const row = wordsOf(question).map(([word, text], place) =>
    h("button", { type: "button", class: isQuiet(place) ? "quiet" : "", "data-answer": word, onclick: () => answer(word) }, text, h("kbd", {}, shownKey(word))));
  return h("div", { class: "answers" }, row, undoButton("quiet", undo));
}

const undoButton = (kind, undo) => h("button", { type: "button", class: kind, id: "undo", onclick: undo }, "Undo", h("kbd", {}, shownKey("undo")));

export const finishedView = (undo) =>
  h("div", { class: "done" }, h("h1", {}, "Nothing is left to ask."),
    h("p", {}, "Your answers settle every picture by ", h("b", {}, state.orientation), ". See the groups, or export them."),
    h("div", { class: "answers" }, undoButton("", undo)));
