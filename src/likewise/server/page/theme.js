// The theme, applied before the page is drawn: "light", "dark", or that of the system. Not a module, so that it runs
// first.

(() => {
  const STORE = "likewise-theme";
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => {
    try {
      return localStorage.getItem(STORE) ?? "";
    } catch {
      return "";
    }
  };
  const shown = () => chosen() || (system.matches ? "dark" : "light");
  const apply = () => {
    document.documentElement.dataset.theme = shown();
    document.dispatchEvent(new CustomEvent("theme", { detail: shown() })); // for what is drawn on a canvas
  };
  window.likewiseTheme = {
    shown,
    toggle() {
      const next = shown() === "dark" ? "light" : "dark";
      if (next === (system.matches ? "dark" : "light"))
        localStorage.removeItem(STORE); // follows the system again
      else localStorage.setItem(STORE, next);
      apply();
    },
  };
  system.addEventListener("change", apply);
  apply();
})();
