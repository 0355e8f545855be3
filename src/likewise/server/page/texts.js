// Texts of the page in the language of the browser. `t("Move to {group}", { group })`: the English text is the key
// of its translations in texts_table.js; a text without a translation is shown in English.

import { TEXTS } from "/page/texts_table.js";

const LANGUAGES = { en: "English", de: "Deutsch", zh: "中文" };
const COLUMNS = { de: 0, zh: 1 };
const STORE = "likewise-language";

export const languages = Object.entries(LANGUAGES);
export const chosenLanguage = () => localStorage.getItem(STORE) ?? "";
const wanted = [chosenLanguage(), ...navigator.languages].map((one) => one.slice(0, 2).toLowerCase());
export const language = wanted.find((one) => one in LANGUAGES) ?? "en";
document.documentElement.lang = language;

// The page is loaded again in the chosen language; "" is the language of the browser.
export function chooseLanguage(code) {
  if (code) localStorage.setItem(STORE, code);
  else localStorage.removeItem(STORE);
  location.reload();
}

export const number = (n) => (typeof n === "number" ? n.toLocaleString(language) : n);

const translated = (english) => TEXTS[english]?.[COLUMNS[language]] ?? english;

export const t = (english, values = {}) =>
  translated(english).replace(/\{(\w+)\}/g, (all, name) => (name in values ? number(values[name]) : all));

// An entry of the answer log.
export const entryText = ({ template, values }) =>
  t(template, values.answer ? { ...values, answer: translated(values.answer) } : values);

// The name of a group without a given name: "group 3" is stored in English.
export const groupName = (name) =>
  name === "like this" ? t("like this") : name.replace(/^group (\d+)$/, (_, n) => t("group {n}", { n: Number(n) }));

// The same as a list, for values that are elements:
// h("p", {}, parts("Same {criterion}?", { criterion: h("b", {}, "season") })).
export const parts = (english, values) =>
  translated(english)
    .split(/(\{\w+\})/)
    .filter(Boolean)
    .map((part) => (part[0] === "{" ? (values[part.slice(1, -1)] ?? part) : part));

// count(3, "picture") is "3 pictures"; the table has rows for "{n} picture" and "{n} pictures".
export const count = (n, noun) => t(n === 1 ? `{n} ${noun}` : `{n} ${noun}s`, { n });

// Translate the texts of index.html: text of elements with `data-t`, titles and accessible names.
export function translatePage(root = document) {
  if (language === "en") return;
  for (const element of root.querySelectorAll("[data-t]")) element.textContent = t(element.textContent);
  for (const attribute of ["aria-label", "title"])
    for (const element of root.querySelectorAll(`[${attribute}]`))
      element.setAttribute(attribute, t(element.getAttribute(attribute)));
}
