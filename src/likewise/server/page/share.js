// The dialog with the addresses for a phone and for viewers; and the page of a viewer, who only looks.

import { api } from "/page/api.js";
import { $, button, h } from "/page/dom.js";
import { t } from "/page/texts.js";

const dialog = $("dialog-share");

export async function showShare(showProblem) {
  let access;
  try {
    access = await api.access();
  } catch (error) {
    showProblem(error.message);
    return;
  }
  const phone = access.url
    ? [
        h("p", {}, t("Scan this code with the phone; it must be in the same network.")),
        h("img", {
          class: "qr",
          src: `data:image/svg+xml,${encodeURIComponent(standalone(access.qr))}`,
          alt: t("QR code of the address"),
        }),
        address(access.url),
        h(
          "p",
          { class: "quiet" },
          t("Whoever has this address sees all pictures and can answer. The connection is not encrypted."),
        ),
      ]
    : [
        h(
          "p",
          {},
          t(
            "This page is open to this machine only. To answer on a phone in the same network, stop the program and start it with:",
          ),
        ),
        h("p", {}, h("code", {}, "likewise start … --lan")),
      ];
  const viewers = access.viewer_url
    ? [
        h("h2", {}, t("Read-only link")),
        h("p", {}, t("Whoever has this address can look at the groups and export them, but change nothing.")),
        address(access.viewer_url),
      ]
    : [];
  dialog.replaceChildren(
    h("h2", {}, t("On a phone")),
    ...phone,
    ...viewers,
    h(
      "div",
      { class: "row" },
      button(t("Close"), () => dialog.close(), { class: "close" }),
    ),
  );
  dialog.showModal();
  dialog.querySelector(".close").focus();
}

const standalone = (svg) =>
  svg.includes("xmlns=") ? svg : svg.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"');

function address(url) {
  const field = h("input", { readonly: true, value: url, "aria-label": t("Address"), onfocus: () => field.select() });
  const copy = button(t("Copy"), async () => {
    field.select();
    await navigator.clipboard.writeText(url).then(
      () => {
        copy.textContent = t("Copied");
      },
      () => document.execCommand("copy"),
    );
  });
  return h("div", { class: "row address" }, field, copy);
}

// Returns whether the page was opened with a read-only link; what changes anything is hidden then.
export async function isViewer() {
  const { read_only } = await api.access();
  document.body.classList.toggle("viewer", read_only);
  return read_only;
}
