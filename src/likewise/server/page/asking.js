// Asking: one question at a time; an answer is on disk before the next one is shown.

import { api } from "/page/api.js";
import { $, some } from "/page/elements.js";
import { answerOf, finishedView, isSame, loadAhead, questionView } from "/page/question.js";
import { conflictView, doubtView } from "/page/settling.js";

const view = $("view-ask");
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

  // -- questions and answers --

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
    view.querySelector(`[data-answer="${CSS.escape(word)}"]`)?.classList.add("given");
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

  // -- what is settled above the question --

  const settling = {
    async takeBack(id) {
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
    },
    keep() {
      kept.add(conflict.answer.id);
      conflict = null;
      show();
      changed(); // there may be another one
    },
    async standBy(id) {
      await api.standBy(id).catch((error) => complain(error.message));
      await lookAgain();
      changed();
    },
    async newGroup(image) {
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
    },
    later() {
      isLater = true;
      show();
    },
  };

  async function lookAgain() {
    try {
      const [first = null] = await api.doubts();
      const isOther = first?.answer.id !== doubt?.answer.id;
      doubt = first;
      if (isOther) show();
    } catch (error) {
      complain(error.message);
    }
  }

  // -- on the screen --

  function show() {
    shownAt = performance.now();
    view.replaceChildren(...parts());
    view.dataset.shown = Number(view.dataset.shown ?? 0) + 1;
    line.slice(1, 3).forEach(loadAhead);
  }

  function parts() {
    const top = conflict ? [conflictView(conflict, settling)] : doubt && !isLater ? [doubtView(doubt, settling)] : [];
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
