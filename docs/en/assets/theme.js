// Names that the theme's own markup lacks, for screen readers.
//
// Policy: only what axe-core reports in Material for MkDocs itself, so that the test can ask for a clean page without
// exceptions: the search dialog has no name; the path has the name of the main navigation; a section whose title is a
// link is named by an empty label, and `aria-expanded` has no meaning on a <nav>; each copy button, which appears late,
// is a navigation without a name. Delete a line when the theme mends it.
(() => {
  "use strict";

  function name() {
    document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
    document.querySelector(".md-path")?.setAttribute("aria-label", "Path");
    for (const nav of document.querySelectorAll(".md-nav__item--nested > .md-nav")) {
      nav.setAttribute("aria-label", nav.querySelector(".md-nav__title").textContent.trim());
      nav.removeAttribute("aria-labelledby");
      nav.removeAttribute("aria-expanded");
    }
  }

  new MutationObserver(() => {
    document.querySelectorAll("nav.md-code__nav").forEach((nav, at) => nav.setAttribute("aria-label", `Code ${at + 1}`));
  }).observe(document.body, { childList: true, subtree: true });

  if (typeof document$ !== "undefined" && document$.subscribe) document$.subscribe(name);
  else if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", name);
  else name();
})();
