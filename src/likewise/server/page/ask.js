// Asking: one question at a time; an answer is on disk before the next one is shown.

import { api } from "/page/api.js";
import { $, some } from "/page/elements.js";
import { answerOf, finishedView, isSame, loadAhead, questionView, spoken } from "/page/question.js";
import { conflictView, doubtView } from "/page/settling.js";

const view = $("view-ask");
const KEPT = "likewise-kept";
const kept = new Set(JSON.parse(sessionStorage.getItem(KEPT) ?? "[]")); // contradictions the person leaves as they are
const LATER = 20; // answers after which what was put off is offered again

export function makeAsking({ complain, changed }) {
  let line = [];
  let shownAt = 0;
  let busy = false;
  let turn = Promise.resolve(); // undo pressed twice is undo twice; it waits for its turn
  let note = "";
  let conflict = null;
  let doubts = []; // answers worth a second look
  const putOff = new Set(); // those of them that wait
  let nSince = 0; // answers given since then

  const question = () => line[0];
  const doubt = () => doubts.find((one) => !putOff.has(one.answer.id)) ?? null;

  // -- questions and answers --

  // After a lost connection what is shown stays first: who presses a key now means that one.
  async function refill(keeps = false) {
    const shown = question();
    try {
      const { questions } = await api.questions(4);
      complain("");
      if (busy || question() !== shown) return; // an answer brought newer ones meanwhile
      const first = shown && (questions.find((one) => isSame(one, shown)) ?? shown); // with names as they are now
      line = keeps && shown && questions.length ? [first, ...questions.filter((one) => !isSame(one, shown))] : questions;
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
    view.querySelector(`[data-answer="${CSS.escape(word)}"]`)?.classList.add("given");
    const asked = question();
    try {
      const reply = await api.answer(asked, word, (performance.now() - shownAt) / 1000);
      line = reply.questions;
      note = noteOf(reply);
      conflict = reply.conflict ?? conflict;
      if (++nSince === LATER) putOff.clear();
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

  // -- what is settled above the question --

  const settling = {
    async takeBack(id) {
      try {
        await api.takeBack(id);
        conflict = null;
        doubts = doubts.filter((one) => one.answer.id !== id);
        note = "Taken back.";
        changed();
        await refill();
      } catch (error) {
        complain(error.message);
      }
    },
    keep() {
      sessionStorage.setItem(KEPT, JSON.stringify([...kept.add(conflict.answer.id)])); // to reload the page changes nothing
      [conflict, note] = [null, ""];
      show();
      changed(); // there may be another one
    },
    async standBy(id) {
      try {
        await api.standBy(id);
        note = "Noted that it is right; undo takes that back.";
        await lookAgain();
        changed();
      } catch (error) {
        complain(error.message);
      }
    },
    async newGroup(image) {
      try {
        const made = await api.split([image], "");
        conflict = made.conflicts[0] ?? null;
        note = "A new group was made; name it under Groups.";
        doubts = [];
        changed();
        await refill();
      } catch (error) {
        complain(error.message);
      }
    },
    later() { // others may come meanwhile
      doubts.forEach((one) => putOff.add(one.answer.id));
      [nSince, note] = [0, `Put off; it is offered again after ${LATER} more answers.`];
      show();
    },
  };

  async function lookAgain() {
    try {
      const before = doubt()?.answer.id;
      doubts = await api.doubts();
      if (doubt()?.answer.id !== before) show();
    } catch (error) {
      complain(error.message);
    }
  }

  // -- on the screen --

  function show() {
    shownAt = performance.now();
    const was = view.contains(document.activeElement) && document.activeElement.matches(":focus-visible") ? document.activeElement : null;
    view.replaceChildren(...parts());
    // Who goes by Tab stays where they were; a click leaves the keys to the question.
    if (was) (view.querySelector(`[data-answer="${CSS.escape(was.dataset.answer ?? "")}"], #${was.id || "main"}`) ?? $("main")).focus();
    $("spoken").textContent = question() ? spoken(question(), note) : "Nothing is left to ask.";
    view.dataset.shown = Number(view.dataset.shown ?? 0) + 1;
    line.slice(1, 3).forEach(loadAhead);
  }

  function parts() {
    const top = conflict ? [conflictView(conflict, settling)] : doubt() ? [doubtView(doubt(), settling)] : [];
    return [...top, ...(question() ? questionView(question(), note, { answer, undo }) : [finishedView(undo)])];
  }

  function key(action, pressed) {
    if (!question()) return null;
    if (action === "zoom") return view.querySelector(".picture").click();
    const word = answerOf(question(), action, pressed);
    return word ? answer(word) : false;
  }

  return {
    refill,
    enter: () => { // what was noted is over: much may have been said elsewhere
      note = "";
      return refill();
    },
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
      [line, note, conflict, doubts] = [[], "", null, []];
      putOff.clear();
    },
  };
}

function noteOf(reply) {
  if (!reply.taken) return "That contradicts earlier answers; please settle it above.";
  return reply.n_also > 0 ? `This also settled ${some(reply.n_also, "pair")}.` : "";
}
