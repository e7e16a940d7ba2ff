// Elements, from names and texts. Texts become text nodes: whatever a spec calls things, it is never markup.

/** el("button.big", {onclick: …, "aria-label": …}, child, "text", …) */
function el(name, ...rest) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag || "div");
  if (classes.length) element.className = classes.join(" ");
  for (const part of rest.flat(Infinity)) {
    if (part === null || part === undefined || part === false) continue;
    if (part instanceof Node) element.append(part);
    else if (typeof part === "object") setAttributes(element, part);
    else element.append(String(part));
  }
  return element;
}

function setAttributes(element, attributes) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") for (const [name, of] of Object.entries(value)) element.style.setProperty(name, of);
    else element.setAttribute(key, value === true ? "" : value);
  }
}

/** A card with a heading, a line of explanation, controls at its right, and a body. */
function card(id, title, hint, controls, ...body) {
  return el("section.card", {id, "aria-labelledby": id + "-title"},
    el("header", el("div", el("h2", {id: id + "-title"}, title), hint && el("p.hint", hint)), controls), body);
}

/** A choice of one among few: buttons of which one is pressed. */
function segmented(label, choices, chosen, choose) {
  const buttons = choices.map(([value, text]) => el("button", {
    type: "button", "aria-pressed": String(value === chosen), "data-value": value,
    onclick: () => {
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.value === value));
      choose(value);
    },
  }, text));
  return el("div.segmented", {role: "group", "aria-label": label}, buttons);
}

/** A list of choices that may be long. */
function chooser(label, choices, chosen, choose) {
  return el("label.chooser", el("span", label), el("select", {onchange: (event) => choose(event.target.value)},
    choices.map(([value, text]) => el("option", {value, selected: value === chosen}, text))));
}

/** A list that shows its first items, and more on demand. */
function lengthyList(list, items, make, first = 12, step = 60) {
  let shown = 0;
  const more = el("button.more", {type: "button", onclick: () => add(step)});
  const add = (n) => {
    more.closest("tr")?.remove();
    more.remove();
    for (const item of items.slice(shown, shown + n)) list.append(make(item));
    shown = Math.min(items.length, shown + n);
    if (shown === items.length) return;
    more.textContent = `${count(items.length - shown)} more`;
    list.append(list.matches("tbody") ? el("tr", el("td", {colspan: 99}, more)) : el("li", {role: list.matches("[role=group]") ? "none" : null}, more));
  };
  add(first);
  return list;
}

// One tooltip for the page, filled by whoever is pointed at or has the focus.
const tip = document.getElementById("tip");
let tipOf = null;

function placeTip() {
  const at = tipOf.getBoundingClientRect();
  const x = Math.max(8, Math.min(at.left, document.documentElement.clientWidth - tip.offsetWidth - 8));
  const isBelow = at.bottom + 6 + tip.offsetHeight < document.documentElement.clientHeight;
  tip.style.left = `${x}px`;
  tip.style.top = `${isBelow ? at.bottom + 6 : Math.max(8, at.top - tip.offsetHeight - 6)}px`;
}

function hideTip() {
  tip.hidden = true;
  tipOf?.removeAttribute("aria-describedby");
  tipOf = null;
}

/** `content`: what the tooltip of an element says, made when it is shown. `focused`: whose focus shows it, too. */
function describe(element, content, focused = element) {
  const show = () => {
    hideTip();
    tip.replaceChildren(...[content()].flat());
    tip.hidden = false;
    tipOf = element;
    placeTip();
    focused.setAttribute("aria-describedby", "tip");
  };
  element.addEventListener("mouseenter", show);
  element.addEventListener("mouseleave", hideTip);
  focused.addEventListener("focus", show);
  focused.addEventListener("blur", hideTip);
  return element;
}
document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
document.addEventListener("scroll", () => { if (tipOf?.isConnected) placeTip(); else hideTip(); }, {passive: true, capture: true});

/** Rows of a tooltip: names at the left, values at the right. */
function facts(title, rows) {
  return [el("strong", title), el("table", rows.filter(Boolean).map(([name, value]) => el("tr", el("th", name), el("td", value))))];
}
