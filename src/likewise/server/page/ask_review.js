// The review above the question: an answer that contradicts others, or one that the model finds unlikely.

import { api } from "/page/api.js";
import { conflictView, labelIssueView } from "/page/review.js";
import { t } from "/page/texts.js";

const STORE = "likewise-ignored-conflicts";
const POSTPONED_FOR = 20; // answers
const ignored = new Set(JSON.parse(sessionStorage.getItem(STORE) ?? "[]")); // ids of conflicting answers

// `show(note)` draws the question again, with a note if there is one; `done(text, revert)` shows what was done, with a
// button that undoes it; `changed()` loads the status.
export function makeAnswerReview({ attempt, done, show, refill, changed }) {
  let conflict = null;
  let labelIssues = [];
  let nSincePostponed = 0; // answers
  const postponed = new Set(); // ids of label issues

  const labelIssue = () => labelIssues.find((one) => !postponed.has(one.answer.id)) ?? null;

  const actions = {
    retract: attempt(async (id) => {
      const { retracted_by: retraction } = await api.retract(id);
      conflict = null;
      labelIssues = labelIssues.filter((one) => one.answer.id !== id);
      done(t("Retracted."), () => api.retract(retraction));
      await refill();
    }),
    confirm: attempt(async (id) => {
      await api.confirm(id);
      await loadLabelIssues();
      done(t("Marked as correct."), () => api.undo());
    }),
    // A grid in which one tick was wrong: the same answer again with this tick changed.
    correctGrid: attempt(async ({ answer: entry, image }) => {
      const [images, representative] = [entry.images.slice(0, -1), entry.images.at(-1)];
      const question = { kind: "grid", images, groups: [entry.group], representative };
      const wasTicked = entry.ticked.includes(image);
      const ticked = wasTicked ? entry.ticked.filter((one) => one !== image) : [...entry.ticked, image];
      const { retracted_by: retraction } = await api.retract(entry.id);
      const again = await api.answer(question, "ticked", 0, { ticked });
      labelIssues = labelIssues.filter((one) => one.answer.id !== entry.id);
      const { group } = entry.values;
      done(wasTicked ? t("Placed in {group}", { group }) : t("Removed from {group}", { group }), async () => {
        await api.undo(again.id);
        await api.retract(retraction);
      });
      await refill();
    }),
    newGroup: attempt(async (image) => {
      const made = await api.createGroup([image], "");
      conflict = made.conflicts[0] ?? null;
      labelIssues = [];
      done(t("New group created."), () => api.undo(made.entry));
      await refill();
    }),
    ignore() {
      sessionStorage.setItem(STORE, JSON.stringify([...ignored.add(conflict.answer.id)])); // survives a reload
      conflict = null;
      show("");
      changed(); // there may be another conflict
    },
    later() {
      labelIssues.forEach((one) => postponed.add(one.answer.id));
      nSincePostponed = 0;
      show(t("Postponed for {n} answers.", { n: POSTPONED_FOR }));
    },
  };

  const loadLabelIssues = attempt(async () => {
    const before = labelIssue()?.answer.id;
    labelIssues = await api.labelIssues();
    if (labelIssue()?.answer.id !== before) show();
  });

  return {
    loadLabelIssues,
    setConflicts(conflicts) {
      const next = conflicts.find((one) => !ignored.has(one.answer.id)) ?? null;
      if (conflict?.answer.id === next?.answer.id) return;
      conflict = next;
      show();
    },
    // After each answer.
    answered(newest) {
      conflict = newest ?? conflict;
      if (++nSincePostponed === POSTPONED_FOR) postponed.clear();
    },
    undone: () => {
      conflict = null;
    },
    conflictView: () => (conflict ? conflictView(conflict, actions) : null),
    issueView: () => (labelIssue() ? labelIssueView(labelIssue(), actions) : null),
    reset() {
      [conflict, labelIssues] = [null, []];
      postponed.clear();
    },
  };
}
