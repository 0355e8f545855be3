// The footer: answers by kind, agreement of the model with them, and expected changes.

import { $, count, h } from "/page/dom.js";

const KINDS = { same: "same", different: "different", cannot_tell: "can't tell", bad_image: "bad", placed: "in a group", none: "none", new: "new" };

export function showFooter(status) {
  const counts = Object.entries(status.counts).filter(([, n]) => n).map(([kind, n]) => `${n} ${KINDS[kind]}`);
  $("counts").replaceChildren(h("b", {}, count(status.n_answers, "answer")), counts.length ? `: ${counts.join(", ")}` : "",
    ` · ${count(status.n_images, "picture")}`, status.n_missing ? `, ${status.n_missing} missing` : "");
  $("agreement").replaceChildren(...outlook(status));
}

function outlook({ agreement, n_answers, n_violations }) {
  if (!agreement) return [n_answers ? "" : "Answer a few questions; the groups follow."];
  const parts = [];
  if (agreement.agreement !== null && agreement.n_checked >= 3) {
    const margin = Math.round(((agreement.high - agreement.low) / 2) * 100);
    const title = `Of your last ${agreement.n_checked} answers, before training on them. Questions target uncertain pictures, so accuracy on all pictures is higher.`;
    parts.push("The model predicted ", h("b", { title }, `${Math.round(agreement.agreement * 100)} % ± ${margin}`), " of your answers · ");
  }
  const n = Math.round(agreement.expected_changes);
  const changes = n > 0 ? `about ${count(n, "picture")} may still change group` : "few changes expected";
  parts.push(parts.length ? changes : changes[0].toUpperCase() + changes.slice(1));
  if (n_violations) parts.push(h("span", { class: "violations" }, ` · the model disagrees with ${count(n_violations, "answer")}`));
  return parts;
}
