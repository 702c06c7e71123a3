// The card at a number. The page is complete without it. A number is <data class="n" data-card="n-…">, its card an article at
// the end of the page. This file makes the number a button that shows a copy of it under its own line, by mouse,
// keyboard and touch. It asks for nothing over the network and keeps no state.
(() => {
  "use strict";

  const NUMBER = "data.n[data-card]";
  const SHOW_AFTER_MS = 180; // passing by opens nothing
  const HIDE_AFTER_MS = 260; // time to reach the card
  const CARD_ID = "gm-open-card";
  const WIDEST_PX = 700;
  const GAP_PX = 6;

  let card = null; // the one dialog of the page
  let owner = null; // its number, null while closed
  let pinned = false; // opened by click, key or address, not by hovering
  let timer = 0;

  const numberAt = (node) => (node instanceof Element ? node.closest(NUMBER) : null);
  const later = (ms, what) => {
    clearTimeout(timer);
    timer = setTimeout(what, ms);
  };

  // A copy without ids and without the theme's copy buttons.
  function copyOf(article) {
    const copy = article.cloneNode(true);
    for (const node of [copy, ...copy.querySelectorAll("[id]")]) node.removeAttribute("id");
    for (const extra of copy.querySelectorAll(".md-code__nav")) extra.remove();
    return copy;
  }

  function addressOf(number) {
    const same = `${NUMBER}[data-card="${CSS.escape(number.dataset.card)}"][id]`;
    return "#" + (number.id || document.querySelector(same)?.id || number.dataset.card);
  }

  function fill(number, article) {
    const copy = copyOf(article);
    const footer = copy.querySelector("footer") || copy.appendChild(document.createElement("footer"));
    const link = footer.querySelector(".gm-permalink") || footer.appendChild(document.createElement("a"));
    link.textContent = "Link to this number";
    link.href = addressOf(number);
    footer.insertAdjacentHTML("beforeend", '<button class="gm-close">Close</button>');
    footer.lastChild.onclick = () => close({ focus: true });
    card.dataset.kind = number.dataset.kind;
    card.setAttribute("aria-label", "Where " + number.textContent.trim() + " comes from");
    card.replaceChildren(...copy.childNodes);
    card.scrollTop = 0;
  }

  // Under the line, inside the column; measured against the article, so it scrolls with the text.
  function place() {
    if (!owner.checkVisibility()) return close(); // the answer it stands in was folded
    const line = [...owner.getClientRects()].at(-1);
    const page = card.parentElement;
    const frame = page.getBoundingClientRect();
    const style = getComputedStyle(page);
    const left = frame.left + parseFloat(style.paddingLeft);
    const right = frame.right - parseFloat(style.paddingRight);
    const width = Math.min(right - left, WIDEST_PX);
    // A page may be wider than a card: then it starts at the number's own paragraph.
    const block = (owner.closest("p, li, figure, h1, h2, h3, h4") || page).getBoundingClientRect();
    const x = Math.max(left, Math.min(block.left, right - width));
    const under = Math.max(0, document.querySelector(".md-header")?.getBoundingClientRect().bottom || 0);
    card.style.width = width + "px";
    card.style.maxHeight = Math.max(200, innerHeight - under - line.height - 40) + "px";
    card.style.left = x - frame.left + "px";
    card.style.setProperty("--gm-x", Math.max(18, Math.min(width - 18, line.left + line.width / 2 - x)) + "px");
    const height = card.offsetHeight;
    const roomBelow = innerHeight - line.bottom;
    // A preview goes above if it fits only there; an opened card is scrolled to.
    const above = !pinned && roomBelow < height + 16 && line.top - under > height + 16;
    card.classList.toggle("gm-above", above);
    card.style.top = (above ? line.top - height - GAP_PX : line.bottom + GAP_PX) - frame.top + "px";
    // How far to scroll: what the card needs, but its number stays on the screen.
    const most = line.top - under - 12;
    return most < 0 ? most : Math.max(0, Math.min(most, height + 2 * GAP_PX - roomBelow));
  }

  function open(number, { pin, focus = false }) {
    const article = document.getElementById(number.dataset.card);
    if (!card || !article) return;
    clearTimeout(timer);
    if (owner !== number) {
      close();
      owner = number;
      fill(number, article);
    }
    pinned = pin;
    card.hidden = false;
    number.setAttribute("aria-expanded", "true");
    const top = place();
    if (focus) card.focus({ preventScroll: true });
    const calm = matchMedia("(prefers-reduced-motion)").matches;
    if (pinned && top) scrollBy({ top, behavior: calm ? "instant" : "smooth" });
  }

  function close({ focus = false } = {}) {
    clearTimeout(timer);
    if (!owner) return;
    const number = owner;
    owner = null;
    pinned = false;
    card.hidden = true;
    number.setAttribute("aria-expanded", "false");
    if (focus) number.focus({ preventScroll: true });
  }

  const toggle = (number, focus) => (owner === number && pinned ? close({ focus }) : open(number, { pin: true, focus }));

  // The dialog stands at the end of the article; for Tab it follows its number.
  const TABBABLE = "a[href], button, input, select, textarea, summary, [tabindex='0']";
  const shown = (node) => node.checkVisibility() && !node.disabled;
  function tab(event) {
    const inside = [...card.querySelectorAll(TABBABLE)].filter(shown);
    const at = document.activeElement;
    let next = null;
    if (at === owner && !event.shiftKey) next = inside[0];
    else if ((at === card || at === inside[0]) && event.shiftKey) next = owner;
    else if (card.contains(at) && !event.shiftKey && (at === inside.at(-1) || !inside.length)) {
      const all = [...document.querySelectorAll(TABBABLE)].filter((node) => shown(node) && !card.contains(node));
      next = all[all.indexOf(owner) + 1];
      close();
    }
    if (next) {
      event.preventDefault();
      next.focus();
    }
  }

  function followAddress() {
    const name = decodeURIComponent(location.hash.slice(1));
    const target = name && document.getElementById(name);
    if (!target) return;
    if (target.matches(NUMBER)) return open(target, { pin: true });
    if (!target.matches(".gm-card, .gm-cards")) return;
    for (let box = target.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    close();
    target.scrollIntoView({ block: "start" });
  }

  function start() {
    owner = null;
    const page = document.querySelector(".md-content__inner");
    const numbers = document.querySelectorAll(NUMBER);
    if (!page || !numbers.length || document.getElementById(CARD_ID)) return;
    card = Object.assign(document.createElement("div"), { id: CARD_ID, className: "gm-card gm-open no-copy", hidden: true });
    card.tabIndex = -1;
    card.setAttribute("role", "dialog");
    page.append(card);
    for (const number of numbers) {
      // Within a link or the head of a fold it stays part of that, with its title.
      if (number.closest("a, button, summary") || !document.getElementById(number.dataset.card)) continue;
      const kind = number.dataset.kind;
      if (!document.getElementById("gm-kind-" + kind)) {
        page.append(Object.assign(document.createElement("span"), { id: "gm-kind-" + kind, textContent: kind, hidden: true }));
      }
      number.removeAttribute("title"); // its card says it: no second tooltip
      const aria = { haspopup: "dialog", expanded: "false", controls: CARD_ID, describedby: "gm-kind-" + kind };
      for (const [key, value] of Object.entries(aria)) number.setAttribute("aria-" + key, value);
      number.setAttribute("role", "button");
      number.tabIndex = 0;
    }
    // The home page shows one card in the open.
    for (const place of document.querySelectorAll(".gm-specimen[data-card]")) {
      const article = document.getElementById(place.dataset.card);
      if (article) place.replaceChildren(copyOf(article));
      document.querySelector(`${NUMBER}[data-card="${CSS.escape(place.dataset.card)}"]`)?.classList.add("gm-shown");
    }
    followAddress();
  }

  const live = (number) => number && number.getAttribute("role") === "button";

  document.addEventListener("click", (event) => {
    const number = numberAt(event.target);
    if (live(number)) {
      toggle(number, event.detail === 0); // no pointer: the focus goes along
    } else if (owner && !card.contains(event.target)) close();
  });

  document.addEventListener("keydown", (event) => {
    const number = numberAt(document.activeElement);
    if (live(number) && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      toggle(number, true);
    } else if (!owner) return;
    else if (event.key === "Escape") {
      event.stopPropagation();
      close({ focus: card.contains(document.activeElement) || pinned });
    } else if (event.key === "Tab") tab(event);
  });

  document.addEventListener("focusin", (event) => {
    if (owner && pinned && !card.contains(event.target) && event.target !== owner) close();
  });

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return;
    const number = numberAt(event.target);
    if (live(number) && number !== owner) {
      if (!pinned) later(SHOW_AFTER_MS, () => open(number, { pin: false }));
    } else if (owner && (number === owner || card.contains(event.target))) clearTimeout(timer);
    else if (!pinned) owner ? later(HIDE_AFTER_MS, close) : clearTimeout(timer);
  });

  addEventListener("resize", () => owner && place());
  document.addEventListener("toggle", () => owner && place(), true);
  addEventListener("hashchange", followAddress);

  // document$ is the theme's: one event a page, with instant navigation too.
  if (typeof document$ !== "undefined" && document$.subscribe) document$.subscribe(start);
  else if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
