// What is always visible: answers by kind, how well they were understood, what more would change.

import { $, h, some } from "/page/elements.js";

const WORDS = { same: "same", different: "different", cannot_tell: "can't tell", bad_image: "bad", placed: "placed", none: "none", new: "new" };

export function showFooter(status) {
  const counts = Object.entries(status.tally).filter(([, n]) => n).map(([word, n]) => `${n} ${WORDS[word]}`);
  $("tally").replaceChildren(h("b", {}, some(status.n_answers, "answer")), counts.length ? `: ${counts.join(", ")}` : "",
    ` · ${some(status.n_images, "picture")}`, status.missing ? `, ${status.missing} gone` : "");
  $("agreement").replaceChildren(...outlook(status));
}

function outlook({ agreement: found, n_answers, n_violations }) {
  if (!found) return [n_answers ? "" : "Answer a few questions; groups follow by themselves."];
  const said = [];
  if (found.agreement !== null && found.n_checked >= 3) {
    const spread = Math.round(((found.high - found.low) / 2) * 100);
    const about = `of the last ${found.n_checked}, before it learned from them; it asks what it is unsure of, so of all pictures it has more right`;
    said.push("it had guessed ", h("b", { title: about }, `${Math.round(found.agreement * 100)} % ± ${spread}`), " of your answers");
  }
  const n = Math.round(found.expected_changes);
  said.push(said.length ? " · " : "", n > 0 ? `more answers may still move about ${some(n, "picture")}` : "more answers would change little");
  if (n_violations) said.push(h("span", { class: "aside" }, ` · ${some(n_violations, "answer")} of yours overrule${n_violations === 1 ? "s" : ""} the model`));
  return said;
}
