// What scripts begin with: how they find what is on a page, and make what is not there yet.
// (Shared by name and not by import, because the addresses of scripts change with their content.)

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

function element(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content.firstElementChild;
}

globalThis.sayso = { $, $$, element };
