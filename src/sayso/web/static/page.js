// What scripts begin with: how they find what is on a page, and make what is not there yet.
// (Shared by name and not by import, because the addresses of scripts change with their content.)

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

function element(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content.firstElementChild;
}

const FROM_THE_RIGHT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

// The words of others for a sentence of ours: read from their own side, and nothing beside them moves.
const isolated = (text) => (FROM_THE_RIGHT.test(text) ? `\u2068${text}\u2069` : text);

globalThis.sayso = { $, $$, element, isolated };
