import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Glob } from "bun";

const root = resolve(import.meta.dir, "..");
const tokens = readFileSync(join(root, "src/styles/tokens.css"), "utf8");

type Theme = "light" | "dark" | "contrast-light" | "contrast-dark";
const backgrounds = ["canvas", "surface", "raised", "sunken", "hover", "selected"];

/** The worst ratio over the six backgrounds that the design promises, for each theme in the order of `themes`. */
const themes: readonly Theme[] = ["light", "dark", "contrast-light", "contrast-dark"];
const promised: Readonly<Record<string, readonly number[]>> = {
  control: [3.3, 3.7, 12.2, 11.8],
  ink: [13.9, 11.9, 16.4, 13.0],
  "ink-2": [6.7, 7.2, 12.8, 10.8],
  "ink-3": [5.1, 5.5, 9.1, 8.6],
  accent: [5.4, 6.2, 8.1, 8.1],
  live: [4.6, 7.4, 7.2, 9.2],
  good: [5.7, 6.6, 8.2, 9.1],
  attn: [4.6, 8.6, 7.1, 8.6],
  bad: [5.9, 5.0, 8.5, 7.0],
  park: [7.3, 5.1, 10.0, 7.0],
  budget: [6.7, 6.4, 9.1, 7.8],
  idle: [4.7, 5.0, 7.2, 8.0],
};

function colours(theme: Theme): ReadonlyMap<string, string> {
  const start = theme === "light" ? "  :root {\n    color-scheme: light;" : `:root[data-theme="${theme}"] {`;
  const at = tokens.indexOf(start);
  const block = tokens.slice(at, tokens.indexOf("\n  }", at));
  return new Map(
    [...block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/gi)].map(([, name = "", value = ""]) => [name, value]),
  );
}

/** WCAG 2: relative luminance, and the ratio of two colours. */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function ratio(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

test("every colour keeps its contrast on all six backgrounds of all four themes", () => {
  const short: string[] = [];
  for (const [at, theme] of themes.entries()) {
    const found = colours(theme);
    for (const [name, ratios] of Object.entries(promised)) {
      const colour = found.get(name) ?? "";
      // A field stands on the page, never on a row that is hovered or selected.
      const grounds = name === "control" ? backgrounds.slice(0, 4) : backgrounds;
      const worst = Math.min(...grounds.map((ground) => ratio(colour, found.get(ground) ?? "")));
      // The table rounds to one place.
      if (!(worst >= (ratios[at] ?? 0) - 0.06)) short.push(`${theme} ${name}: ${worst.toFixed(2)}`);
    }
  }
  expect(short).toEqual([]);
});

test("words on their own tint can be read, and so can buttons that are filled", () => {
  for (const theme of ["light", "dark"] as const) {
    const found = colours(theme);
    for (const tone of ["live", "good", "attn", "bad", "park", "budget"]) {
      const least = theme === "light" ? 4.75 : 5.35;
      expect([theme, tone, ratio(found.get(tone) ?? "", found.get(`tint-${tone}`) ?? "") >= least]).toEqual([
        theme,
        tone,
        true,
      ]);
    }
    for (const fill of ["accent", "bad"]) {
      expect(ratio(found.get("on-fill") ?? "", found.get(fill) ?? "")).toBeGreaterThan(6.6);
    }
  }
});

const sources = [...new Glob("src/**/*.{css,ts,tsx}").scanSync(root)];

test("colours and lengths are written in tokens.css and nowhere else", () => {
  const wrong: string[] = [];
  for (const file of sources.filter((name) => !name.endsWith("tokens.css"))) {
    const text = readFileSync(join(root, file), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
    for (const [found] of text.matchAll(
      /#[0-9a-f]{6}\b|#[0-9a-f]{3}\b(?=[;"'])|\brgba?\(|\b(?!0px|1px)\d+(?:\.\d+)?px\b/gi,
    )) {
      wrong.push(`${file}: ${found}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(sources.length).toBeGreaterThan(30);
});

test("text of agents never becomes HTML", () => {
  const wrong = sources.filter((file) =>
    /dangerouslySetInnerHTML|\.innerHTML|insertAdjacentHTML/.test(readFileSync(join(root, file), "utf8")),
  );
  expect(wrong).toEqual([]);
});
