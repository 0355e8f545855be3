// Asking: one question at a time; an answer is on disk before the next one is shown.

import { api, state } from "/page/api.js";
import { $, h, large, picture, small, some } from "/page/elements.js";
import { shownKey } from "/page/keys.js";
import { zoom } from "/page/zoom.js";

const view = $("view-ask");
const PAIR = [["same", "Same"], ["different", "Different"], ["cannot_tell", "Can't tell"], ["bad_image", "Bad picture"]];
const CHOICE = [["none", "None of these"], ["cannot_tell", "Can't tell"], ["bad_image", "Bad picture"]];
const kept = new Set(); // contradictions the person leaves as they are

export function makeAsking({ complain, changed }) {
  let line = [];
  let shownAt = 0;
  let busy = false;
  let turn = Promise.resolve(); // undo pressed twice is undo twice; it waits for its turn
  let note = "";
  let conflict = null;
  let doubt = null; // an answer worth a second look
  let isLater = false;

  const question = () => line[0];

  // After a lost connection what is shown stays first: who presses a key now means that one.
  async function refill(keeps = false) {
    const shown = question();
    try {
      const { questions } = await api.questions(4);
      complain("");
      if (busy || question() !== shown) return; // an answer brought newer ones meanwhile
      line = keeps && shown && questions.length ? [shown, ...questions.filter((one) => !isSame(one, shown))] : questions;
    } catch (error) {
      complain(error.message);
    }
    show();
  }

  function answer(word) {
    if (busy || !question()) return turn; // nobody answers what is not shown yet
    busy = true;
    turn = turn.then(() => answerNow(word));
    return turn;
  }

  async function answerNow(word) {
    mark(word);
    const asked = question();
    try {
      const reply = await api.answer(asked, word, (performance.now() - shownAt) / 1000);
      line = reply.questions;
      note = noteOf(reply);
      conflict = reply.conflict ?? conflict;
      complain("");
      show();
      changed();
    } catch (error) {
      complain(error.message);
      show();
    } finally {
      busy = false;
    }
  }

  function undo() {
    busy = true;
    turn = turn.then(undoNow);
    return turn;
  }

  async function undoNow() {
    try {
      const taken = await api.undo();
      note = taken.entry ? `Taken back: ${taken.entry.says}.` : "There is nothing to take back.";
      if (taken.question) line = [taken.question, ...line.filter((one) => !isSame(one, taken.question))];
      conflict = null;
      show();
      changed();
    } catch (error) {
      complain(error.message);
    } finally {
      busy = false;
    }
    return note;
  }

  async function takeBack(id) {
    try {
      await api.takeBack(id);
      conflict = null;
      doubt = doubt?.answer.id === id ? null : doubt;
      note = "Taken back.";
      changed();
      await refill();
    } catch (error) {
      complain(error.message);
    }
  }

  function show() {
    shownAt = performance.now();
    view.replaceChildren(...parts());
    view.dataset.shown = Number(view.dataset.shown ?? 0) + 1;
    for (const one of line.slice(1, 3)) one.images.forEach((id) => (new Image().src = (one.kind === "pair" ? large : small)(id)));
  }

  function parts() {
    const top = conflict ? [settle()] : doubt && !isLater ? [again()] : [];
    if (!question()) return [...top, finished()];
    return [...top, question().kind === "pair" ? title("Same", "?") : title("Which", "?"), body(), h("p", { class: "settled" }, note), buttons()];
  }

  const title = (before, after) => h("h1", {}, `${before} `, h("b", {}, state.orientation), after);

  function body() {
    const { kind, images, names, shown } = question();
    if (kind === "pair") {
      const order = ((images[0] * 7 + images[1] * 13) >> 1) % 2 ? [0, 1] : [1, 0]; // no side is favoured
      const both = order.map((i) => ({ id: images[i], name: names[i] }));
      return h("div", { class: "pictures pair" }, both.map((one, place) => bigPicture(one, both, place)));
    }
    const all = images.map((id, i) => ({ id, name: i ? `${shown[i - 1].name}: ${names[i]}` : names[i] })); // zoom goes on to the groups
    const groups = shown.map((group, place) => choice(group, place, names));
    return h("div", { class: "pictures choice" }, bigPicture(all[0], all, 0), h("div", { class: "choices" }, groups));
  }

  const bigPicture = (one, all, place) =>
    h("button", { class: "picture", type: "button", "aria-label": `Look closer at ${one.name}`, onclick: () => zoom(all, place) },
      picture(one.id, one.name, large));

  const choice = (group, place, names) =>
    h("button", { type: "button", group: group.colour, "data-answer": group.key, onclick: () => answer(group.key) },
      h("kbd", {}, String(place + 1)), h("span", {}, group.name),
      h("span", { class: "faces" }, picture(group.image, names[place + 1]), group.also.slice(0, 2).map((id) => picture(id, `also ${group.name}`))));

  function buttons() {
    const words = question().kind === "pair" ? PAIR : CHOICE;
    const row = words.map(([word, text], place) =>
      h("button", { type: "button", class: place > 1 || words === CHOICE ? "quiet" : "", "data-answer": word, onclick: () => answer(word) }, text, h("kbd", {}, shownKey(word))));
    row.push(undoButton("quiet"));
    return h("div", { class: "answers" }, row);
  }

  const finished = () =>
    h("div", { class: "done" }, h("h1", {}, "Nothing is left to ask."),
      h("p", {}, "Your answers settle every picture by ", h("b", {}, state.orientation), ". See the groups, or export them."),
      h("div", { class: "answers" }, undoButton("")));

  const undoButton = (kind) => h("button", { type: "button", class: kind, id: "undo", onclick: undo }, "Undo", h("kbd", {}, shownKey("undo")));

  function settle() {
    const entries = [conflict.answer, ...conflict.against];
    const item = (entry) =>
      h("li", { class: entry.id === conflict.likely ? "likely" : "", "data-id": entry.id }, both(entry),
        h("b", {}, entry.says), entry === conflict.answer ? h("span", { class: "badge" }, "just now, set aside") : null,
        entry.id === conflict.likely ? h("span", { class: "badge" }, "most likely the slip") : null,
        h("button", { type: "button", class: entry.id === conflict.likely ? "first" : "", onclick: () => takeBack(entry.id) }, "Take this back"));
    const keep = () => {
      kept.add(conflict.answer.id);
      conflict = null;
      show();
      changed(); // there may be another one
    };
    return h("section", { class: "settle", "aria-label": "Answers that contradict each other" },
      h("h2", {}, "These answers cannot all be right"),
      h("p", {}, "Which one was a slip? All are kept until you decide; the newest does not count meanwhile."),
      h("ul", {}, entries.map(item)),
      h("button", { type: "button", class: "keep", onclick: keep }, "Leave it as it is"));
  }

  const both = (entry) => h("div", { class: "two" }, entry.images.slice(0, 2).map((id, i) => picture(id, entry.names[i])));

  // An answer that the rest makes doubtful, offered once more; nothing has to be done about it.
  function again() {
    const { answer: old, chain } = doubt;
    const isNone = old.answer === "none"; // and all groups there may be were shown
    const others = isNone ? [] : chain.filter((one) => one.id !== old.id);
    const stand = async () => {
      await api.standBy(old.id).catch((error) => complain(error.message));
      await lookAgain();
      changed();
    };
    const button = (text, act, kind = "") => h("button", { type: "button", class: kind, onclick: act }, text);
    return h("section", { class: "settle again", "aria-label": "An answer to look at again", "data-id": old.id },
      h("ul", {}, h("li", { class: "likely" }, isNone ? h("div", { class: "two" }, picture(old.images[0], old.names[0])) : both(old), h("b", {}, old.says)), others.slice(0, 2).map((one) => h("li", {}, both(one), h("b", {}, one.says)))),
      h("div", {}, h("h2", {}, "Look again: you said ", h("b", {}, old.says)),
        h("p", {}, isNone ? "You wanted no more groups than there are, and this picture is in none of them. Was it a slip, or is there one more group?" : "The rest of your answers say otherwise. Was it a slip?"),
        h("div", { class: "row" }, isNone ? button("Make it a new group", () => newGroup(old.images[0])) : null, button("It is right", stand, "keep"),
          button("Take it back", () => takeBack(old.id)), button("Later", () => { isLater = true; show(); }, "quiet"))));
  }

  async function newGroup(image) {
    try {
      const made = await api.split([image], "");
      conflict = made.conflicts[0] ?? null;
      note = "A new group was made; name it under Groups.";
      doubt = null;
      changed();
      await refill();
    } catch (error) {
      complain(error.message);
    }
  }

  async function lookAgain() {
    try {
      doubt = (await api.doubts())[0] ?? null;
      show();
    } catch (error) {
      complain(error.message);
    }
  }

  function mark(word) {
    view.querySelector(`[data-answer="${CSS.escape(word)}"]`)?.classList.add("given");
  }

  function key(action, pressed) {
    if (!question()) return null;
    if (action === "zoom") return view.querySelector(".picture").click();
    const words = question().kind === "pair" ? PAIR : CHOICE;
    if (words.some(([word]) => word === action)) return answer(action);
    const group = question().groups[Number(pressed) - 1];
    return group ? answer(group) : false;
  }

  return {
    refill,
    key,
    undo,
    lookAgain,
    redraw: show,
    settle: (all) => {
      const next = all.find((one) => !kept.has(one.answer.id)) ?? null;
      if (conflict?.answer.id === next?.answer.id) return;
      conflict = next;
      show();
    },
    reset: () => {
      [line, note, conflict, doubt, isLater] = [[], "", null, null, false];
    },
  };
}

function noteOf(reply) {
  if (!reply.taken) return "That contradicts earlier answers; please settle it above.";
  return reply.n_also > 0 ? `This also settled ${some(reply.n_also, "pair")}.` : "";
}

const isSame = (a, b) => a.kind === b.kind && a.images.join() === b.images.join();
