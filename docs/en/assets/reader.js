// The definition at a term.
//
// Policy: the page is complete without it: a term is <abbr title="…">, and the glossary lists them all. This file shows
// the title under its word by mouse, keyboard and touch, since browsers show titles to a mouse only. It asks for nothing
// over the network and keeps no state.
(() => {
  "use strict";

  const TERM = "abbr.gm-term";
  const TIP_ID = "gm-tip";
  const SHOW_AFTER_MS = 180; // passing over a paragraph opens nothing
  const HIDE_AFTER_MS = 260; // time to cross from a word to its definition
  const GAP_PX = 4;

  let tip = null;
  let owner = null; // the term that the tip belongs to, null while it is hidden
  let timer = 0;

  const later = (ms, what) => {
    clearTimeout(timer);
    timer = setTimeout(what, ms);
  };
  const termAt = (node) => (node instanceof Element ? node.closest(TERM) : null);

  function prepare() {
    for (const term of document.querySelectorAll(`${TERM}[title]`)) {
      term.dataset.short = term.title; // or the browser would show it a second time
      term.removeAttribute("title");
    }
  }

  function show(term) {
    clearTimeout(timer);
    if (owner === term) return;
    hide();
    const page = term.closest(".md-content__inner");
    if (!page) return;
    if (!tip || !tip.isConnected) {
      tip = document.createElement("div");
      tip.id = TIP_ID;
      tip.className = "gm-tip";
      tip.setAttribute("role", "tooltip");
      tip.addEventListener("pointerenter", () => clearTimeout(timer));
      tip.addEventListener("pointerleave", () => later(HIDE_AFTER_MS, hide));
      page.append(tip);
    }
    owner = term;
    tip.textContent = term.dataset.short;
    tip.hidden = false;
    term.setAttribute("aria-describedby", TIP_ID);
    // Under the word, inside the column; measured against the article, so it scrolls with the text.
    const word = [...term.getClientRects()].at(-1);
    const frame = page.getBoundingClientRect();
    const style = getComputedStyle(page);
    const least = frame.left + parseFloat(style.paddingLeft);
    const most = frame.right - parseFloat(style.paddingRight) - tip.offsetWidth;
    tip.style.left = `${Math.max(least, Math.min(word.left, most)) - frame.left}px`;
    const below = word.bottom + GAP_PX + tip.offsetHeight <= innerHeight;
    tip.style.top = `${(below ? word.bottom + GAP_PX : word.top - GAP_PX - tip.offsetHeight) - frame.top}px`;
  }

  function hide() {
    clearTimeout(timer);
    if (!owner) return;
    owner.removeAttribute("aria-describedby");
    owner = null;
    tip.hidden = true;
  }

  document.addEventListener("pointerover", (event) => {
    const term = termAt(event.target);
    if (term && event.pointerType === "mouse" && term !== owner) later(SHOW_AFTER_MS, () => show(term));
  });
  document.addEventListener("pointerout", (event) => {
    const leaves = termAt(event.target) && event.pointerType === "mouse";
    if (leaves && document.activeElement !== owner) later(HIDE_AFTER_MS, hide);
  });
  document.addEventListener("focusin", (event) => {
    const term = termAt(event.target);
    if (term) show(term);
    else hide();
  });
  document.addEventListener("focusout", (event) => {
    if (termAt(event.target)) later(0, hide);
  });
  document.addEventListener("click", (event) => {
    const term = termAt(event.target);
    if (term) show(term);
    else if (!(event.target instanceof Element && event.target.closest(`#${TIP_ID}`))) hide();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
  addEventListener("resize", hide);

  if (typeof document$ !== "undefined" && document$.subscribe) document$.subscribe(prepare);
  else if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", prepare);
  else prepare();
})();
