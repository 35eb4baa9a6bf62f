"use strict";
// What the theme makes in the browser without a name, or without a stop for the keyboard.
document$.subscribe(() => {
  document.querySelector("[data-md-component=search]")?.setAttribute("aria-label", "Search");
  document.querySelectorAll(".md-code__nav").forEach((each, index) => {
    each.setAttribute("aria-label", `Code ${index + 1}`);
  });
  for (const [selector, name] of [[".md-typeset__scrollwrap", "Table"], [".md-typeset pre", "Code"]]) {
    for (const box of document.querySelectorAll(selector)) {
      box.tabIndex = 0;
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", name);
    }
  }
});
