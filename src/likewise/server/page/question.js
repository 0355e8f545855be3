// Show one question: its pictures, the offered groups, and the answer buttons.

import { state } from "/page/api.js";
import { button, h, large, picture, small } from "/page/dom.js";
import { shownKey } from "/page/keys.js";
import { zoom } from "/page/zoom.js";

const PAIR = [["same", "Same"], ["different", "Different"], ["cannot_tell", "Can't tell"], ["bad_image", "Bad picture"]];
const CHOICE = [["none", "None of these"], ["cannot_tell", "Can't tell"], ["bad_image", "Bad picture"]];
const answersOf = (question) => (question.kind === "pair" ? PAIR : CHOICE);
const shownIn = ({ kind, images }) => (kind === "pair" ? images : images.slice(0, 1));

export const isSame = (a, b) => a.kind === b.kind && a.images.join() === b.images.join();

// The answer chosen by an action, or by the digit of a group.
export const answerFor = (question, action, key) =>
  answersOf(question).some(([answer]) => answer === action) ? action : question.offered.find(({ digit }) => String(digit) === key)?.id;

export const preload = (question) =>
  question.images.forEach((id) => (new Image().src = (question.kind === "pair" ? large : small)(id)));

// "Same season?", "Which art style?". A criterion that is not a noun follows a colon: "Same group: in or out of doors?".
const NOT_A_NOUN = /^(what|who|whose|where|when|how|why|which|whether|is|are|has|in|on|at|by|with|without|from)\b| or /i;
const wording = ({ kind }) => (kind === "pair" ? "Same " : "Which ") + (NOT_A_NOUN.test(state.criterion) ? "group: " : "");

// The question for screen readers.
export const spoken = (question, note) =>
  `${note} ${wording(question)}${state.criterion}? ${question.names.slice(0, shownIn(question).length).join(" and ")}`.trim();

export function questionView(question, note, { answer, undo }) {
  const title = h("h1", {}, wording(question), h("b", {}, state.criterion), "?");
  const pictures = question.kind === "pair" ? pairView(question) : choiceView(question, answer);
  return [title, pictures, h("p", { class: "note" }, note), answerButtons(question, answer, undo)];
}

function pairView({ images, names }) {
  const order = ((images[0] * 7 + images[1] * 13) >> 1) % 2 ? [0, 1] : [1, 0]; // mixes left and right
  const both = order.map((i) => ({ id: images[i], name: names[i] }));
  return h("div", { class: "pictures pair" }, both.map((one, i) => largePicture(one, both, i)));
}

function choiceView({ images, names, offered }, answer) {
  const all = images.map((id, i) => ({ id, name: i ? `${offered[i - 1].name}: ${names[i]}` : names[i] })); // zoom shows the groups too
  const choice = (group, i) =>
    h("button", { type: "button", group: group.colour, "data-answer": group.id, onclick: () => answer(group.id) },
      h("kbd", {}, String(group.digit)), h("span", {}, group.name),
      h("span", { class: "examples" }, picture(group.representative, names[i + 1]),
        group.members.slice(0, 2).map((id) => picture(id, `also ${group.name}`))));
  return h("div", { class: "pictures choice" }, largePicture(all[0], all, 0), h("div", { class: "choices" }, offered.map(choice)));
}

const largePicture = (one, all, index) =>
  h("button", { class: "picture", type: "button", "aria-label": `Enlarge ${one.name}`, onclick: () => zoom(all, index) },
    picture(one.id, one.name, large));

function answerButtons(question, answer, undo) {
  const isSecondary = (i) => i > 1 || question.kind !== "pair";
  const row = answersOf(question).map(([name, text], i) =>
    h("button", { type: "button", class: isSecondary(i) ? "quiet" : "", "data-answer": name, onclick: () => answer(name) }, text, h("kbd", {}, shownKey(name))));
  return h("div", { class: "answers" }, row, undoButton("quiet", undo));
}

const undoButton = (kind, undo) => button(["Undo", h("kbd", {}, shownKey("undo"))], undo, { class: kind, id: "undo" });

export const finishedView = (undo) =>
  h("div", { class: "done" }, h("h1", {}, "No questions left."),
    h("p", {}, "Your answers determine the groups by ", h("b", {}, state.criterion), ". See the groups, or export them."),
    h("div", { class: "answers" }, undoButton("", undo)));
