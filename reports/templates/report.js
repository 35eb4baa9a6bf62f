"use strict";
// The page is complete without this script. It adds filters, copying, and opening what a link points to.
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const form = document.querySelector(".filters");
  const rules = all(".rule");
  const chips = all(".status-filters button");
  const words = new Map();
  const pressed = (chip) => chip.getAttribute("aria-pressed") === "true";
  const press = (chip, wanted) => chip.setAttribute("aria-pressed", String(wanted));

  // Lower-cased once, at the first search: the page has some hundred thousand characters of rules.
  const wordsOf = (rule) => {
    if (!words.has(rule)) words.set(rule, rule.textContent.toLowerCase());
    return words.get(rule);
  };

  const apply = () => {
    const statuses = new Set(chips.filter(pressed).map((chip) => chip.dataset.status));
    const { area, level, tier, text } = form.elements;
    const sought = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const rule of rules) {
      const matches =
        (statuses.size === 0 || statuses.has(rule.dataset.status)) &&
        (!area.value || rule.closest(".area").dataset.area === area.value) &&
        (!level.value || rule.dataset.level === level.value) &&
        (!tier.value || rule.dataset.tiers.split(" ").includes(tier.value)) &&
        sought.every((word) => wordsOf(rule).includes(word));
      rule.hidden = !matches;
      if (matches) shown += 1;
    }
    for (const section of all(".area")) section.hidden = !section.querySelector(".rule:not([hidden])");
    form.querySelector("output").textContent =
      shown === rules.length ? `${shown} rules` : `${shown} of ${rules.length} rules`;
    form.querySelector("[type=reset]").hidden = shown === rules.length;
    document.querySelector(".nothing").hidden = shown > 0 || rules.length === 0;
  };

  const reset = () => {
    form.reset();
    chips.forEach((chip) => press(chip, false));
    apply();
  };

  form.hidden = rules.length === 0;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", apply);
  form.addEventListener("reset", () => {
    chips.forEach((chip) => press(chip, false));
    setTimeout(apply);
  });
  document.querySelector("[data-reset]").addEventListener("click", reset);
  chips.forEach((chip) => chip.addEventListener("click", () => {
    press(chip, !pressed(chip));
    apply();
  }));
  all("[data-show-status]").forEach((link) => link.addEventListener("click", () => {
    reset();
    chips.forEach((chip) => press(chip, chip.dataset.status === link.dataset.showStatus));
    apply();
  }));

  // A link into something closed or filtered away must still arrive.
  const open = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.closest("[hidden]")) reset();
    for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", open);

  const copy = async (button) => {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      // Some browsers keep the clipboard from pages opened as files: select the line and try the old way.
      getSelection().selectAllChildren(code);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
  };
  all(".copy").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  });

  // On paper nothing can be opened.
  addEventListener("beforeprint", () => all(".card details").forEach((each) => { each.open = true; }));

  apply();
  open();
})();
