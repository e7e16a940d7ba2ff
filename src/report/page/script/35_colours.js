// Colours that people who see fewer of them tell apart, too (after Okabe and Ito), as CSS variables that follow the theme.
// The same name has the same colour everywhere.

const nColours = 7;

class Colours {
  constructor(names) {
    this.of = new Map(names.map((name, i) => [name, i < nColours ? `var(--colour-${i})` : "var(--colour-other)"]));
  }
  get(name) { return this.of.get(name) || "var(--colour-other)"; }
}
