// The Ask view: one question at a time. An answer is on disk before the next question is shown.

import { api } from "/page/api.js";
import { $, count } from "/page/dom.js";
import { answerFor, finishedView, isSame, preload, questionView, spoken } from "/page/question.js";
import { conflictView, labelIssueView } from "/page/review.js";

const view = $("view-ask");
const STORE = "likewise-ignored-conflicts";
const ignored = new Set(JSON.parse(sessionStorage.getItem(STORE) ?? "[]")); // ids of conflicting answers
const POSTPONED_FOR = 20; // answers

export function makeAskView({ showProblem, changed }) {
  let queue = [];
  let shownAt = 0;
  let busy = false;
  let turn = Promise.resolve(); // answers and undos run one after the other
  let note = "";
  let conflict = null;
  let labelIssues = [];
  const postponed = new Set(); // ids of label issues
  let nSincePostponed = 0; // answers

  const question = () => queue[0];
  const labelIssue = () => labelIssues.find((one) => !postponed.has(one.answer.id)) ?? null;

  // -- questions and answers --

  // With `keepsFirst` the shown question stays: after a reconnect a key press is meant for it.
  async function refill(keepsFirst = false) {
    const shown = question();
    try {
      const { questions } = await api.questions(4);
      showProblem("");
      if (busy || question() !== shown) return; // an answer brought newer questions meanwhile
      const first = shown && (questions.find((one) => isSame(one, shown)) ?? shown); // with the current names
      queue = keepsFirst && shown && questions.length ? [first, ...questions.filter((one) => !isSame(one, shown))] : questions;
    } catch (error) {
      showProblem(error.message);
    }
    show();
  }

  function answer(text) {
    if (busy || !question()) return turn; // ignores keys until the next question is shown
    busy = true;
    turn = turn.then(() => sendAnswer(text));
    return turn;
  }

  async function sendAnswer(text) {
    view.querySelector(`[data-answer="${CSS.escape(text)}"]`)?.classList.add("chosen");
    try {
      const reply = await api.answer(question(), text, (performance.now() - shownAt) / 1000);
      queue = reply.questions;
      note = noteFor(reply);
      conflict = reply.conflict ?? conflict;
      if (++nSincePostponed === POSTPONED_FOR) postponed.clear();
      showProblem("");
      show();
      changed();
    } catch (error) {
      showProblem(error.message);
      show();
    } finally {
      busy = false;
    }
  }

  function undo() {
    busy = true;
    turn = turn.then(sendUndo);
    return turn;
  }

  async function sendUndo() {
    try {
      const undone = await api.undo();
      note = undone.entry ? `Undone: ${undone.entry.text}.` : "Nothing to undo.";
      if (undone.question) queue = [undone.question, ...queue.filter((one) => !isSame(one, undone.question))];
      conflict = null;
      show();
      changed();
    } catch (error) {
      showProblem(error.message);
    } finally {
      busy = false;
    }
    return note;
  }

  // -- the review above the question --

  // Run an action; an error is shown, and nothing else happens.
  const attempt = (action) => (...values) => action(...values).catch((error) => showProblem(error.message));

  const review = {
    retract: attempt(async (id) => {
      await api.retract(id);
      conflict = null;
      labelIssues = labelIssues.filter((one) => one.answer.id !== id);
      note = "Retracted.";
      changed();
      await refill();
    }),
    confirm: attempt(async (id) => {
      await api.confirm(id);
      note = "Marked as correct.";
      await loadLabelIssues();
      changed();
    }),
    newGroup: attempt(async (image) => {
      const made = await api.createGroup([image], "");
      conflict = made.conflicts[0] ?? null;
      note = "New group created; name it under Groups.";
      labelIssues = [];
      changed();
      await refill();
    }),
    ignore() {
      sessionStorage.setItem(STORE, JSON.stringify([...ignored.add(conflict.answer.id)])); // survives a reload
      [conflict, note] = [null, ""];
      show();
      changed(); // there may be another conflict
    },
    later() {
      labelIssues.forEach((one) => postponed.add(one.answer.id));
      [nSincePostponed, note] = [0, `Postponed for ${POSTPONED_FOR} answers.`];
      show();
    },
  };

  const loadLabelIssues = attempt(async () => {
    const before = labelIssue()?.answer.id;
    labelIssues = await api.labelIssues();
    if (labelIssue()?.answer.id !== before) show();
  });

  function setConflicts(conflicts) {
    const next = conflicts.find((one) => !ignored.has(one.answer.id)) ?? null;
    if (conflict?.answer.id === next?.answer.id) return;
    conflict = next;
    show();
  }

  // -- on the screen --

  function show() {
    shownAt = performance.now();
    const focused = view.contains(document.activeElement) && document.activeElement.matches(":focus-visible") ? document.activeElement : null;
    view.replaceChildren(...content());
    // The keyboard focus stays on the same button; after a click it is on the question.
    if (focused) (view.querySelector(`[data-answer="${CSS.escape(focused.dataset.answer ?? "")}"], #${focused.id || "main"}`) ?? $("main")).focus();
    $("announcer").textContent = question() ? spoken(question(), note) : "No questions left.";
    view.dataset.shown = Number(view.dataset.shown ?? 0) + 1;
    queue.slice(1, 3).forEach(preload);
  }

  function content() {
    const top = conflict ? [conflictView(conflict, review)] : labelIssue() ? [labelIssueView(labelIssue(), review)] : [];
    return [...top, ...(question() ? questionView(question(), note, { answer, undo }) : [finishedView(undo)])];
  }

  function pressKey(action, key) {
    if (!question()) return null;
    if (action === "zoom") return view.querySelector(".picture").click();
    const text = answerFor(question(), action, key);
    return text ? answer(text) : false;
  }

  return {
    refill,
    enter: () => { // the note is about an earlier question
      note = "";
      return refill();
    },
    pressKey,
    undo,
    loadLabelIssues,
    setConflicts,
    redraw: show,
    reset: () => {
      [queue, note, conflict, labelIssues] = [[], "", null, []];
      postponed.clear();
    },
  };
}

function noteFor(reply) {
  if (!reply.accepted) return "This contradicts earlier answers; please review them above.";
  return reply.n_implied > 0 ? `This also answers ${count(reply.n_implied, "other question")}.` : "";
}
