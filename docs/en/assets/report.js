// The number that a reader came to report: its card links here with the number in the address, and this writes it out,
// ready to be copied. Without the script the page still says what a report needs.
(() => {
  "use strict";

  function show() {
    const place = document.getElementById("reported");
    const number = new URLSearchParams(location.search).get("number");
    if (!place || !number) return;
    const code = document.createElement("code");
    code.textContent = number;
    place.replaceChildren("You came from this number: ", code);
    place.hidden = false;
  }

  if (typeof document$ !== "undefined" && document$.subscribe) document$.subscribe(show);
  else if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", show);
  else show();
})();
