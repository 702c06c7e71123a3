// The filter of the ledger: by verdict, part and document, without a page load. The choice stands in the address, so
// that it can be passed on; a link to one claim shows that claim whatever is chosen.
(() => {
  "use strict";

  const NAMES = ["verdict", "part", "document"];

  function start() {
    const form = document.querySelector("form.gm-filter");
    if (!form) return;
    const claims = [...document.querySelectorAll(".gm-claim")];
    const asked = new URLSearchParams(location.search);
    for (const name of NAMES) {
      const wanted = asked.get(name);
      if (wanted && [...form[name].options].some((option) => option.value === wanted)) form[name].value = wanted;
    }

    function show() {
      let count = 0;
      const target = decodeURIComponent(location.hash.slice(1));
      for (const claim of claims) {
        const fits = NAMES.every((name) => !form[name].value || claim.dataset[name] === form[name].value);
        claim.hidden = !fits && claim.id !== target;
        count += fits;
      }
      form.querySelector("output").textContent = `${count} of ${claims.length} shown`;
    }

    form.addEventListener("change", () => {
      const chosen = new URLSearchParams(NAMES.filter((name) => form[name].value).map((name) => [name, form[name].value]));
      history.replaceState(null, "", `${location.pathname}${chosen.size ? `?${chosen}` : ""}${location.hash}`);
      show();
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    addEventListener("hashchange", show);
    form.hidden = false;
    show();
  }

  if (typeof document$ !== "undefined" && document$.subscribe) document$.subscribe(start);
  else if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
