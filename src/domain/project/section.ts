/**
 * What became of a text that should hold our section. `broken`: its marks are not a pair, so our part cannot be told.
 */
export type SectionEdit =
  | { readonly kind: "same" }
  | { readonly kind: "changed"; readonly text: string }
  | { readonly kind: "broken" };

export const begin = "<!-- overstory:begin -->";
const end = "<!-- overstory:end -->";

/**
 * Puts our section into a file of another author: in the place of an existing section, else at the end. Not a character
 * outside the two marks changes. Line ends follow the file's.
 */
export function withSection(text: string | undefined, body: string): SectionEdit {
  const section = `${begin}\n${body.trimEnd()}\n${end}`;
  if (text === undefined || text === "") return { kind: "changed", text: `${section}\n` };
  const found = find(text);
  if (found === "none") return { kind: "changed", text: appended(text, section) };
  if (found === "broken") return { kind: "broken" };
  const old = text.slice(found.from, found.to);
  const fitting = old.includes("\r\n") ? section.replaceAll("\n", "\r\n") : section;
  return old === fitting
    ? { kind: "same" }
    : { kind: "changed", text: text.slice(0, found.from) + fitting + text.slice(found.to) };
}

/** What stands between the marks; `none` where there is no section, `broken` where our part cannot be told. */
export function sectionIn(text: string): { readonly body: string } | "none" | "broken" {
  const found = find(text);
  if (typeof found === "string") return found;
  const between = text.slice(found.from + begin.length, found.to - end.length);
  return { body: between.replace(/^[ \t]*\r?\n/, "") };
}

/** Where the section begins and ends, marks included. */
function find(text: string): { readonly from: number; readonly to: number } | "none" | "broken" {
  const begins = places(text, begin);
  const ends = places(text, end);
  if (begins.length === 0 && ends.length === 0) return "none";
  const [from] = begins;
  const [to] = ends;
  const paired = begins.length === 1 && ends.length === 1 && from !== undefined && to !== undefined && from < to;
  return paired ? { from, to: to + end.length } : "broken";
}

/** Where a mark stands alone on its line; a text that only speaks of the mark is not meant. */
function places(text: string, mark: string): number[] {
  return [...text.matchAll(new RegExp(`^${mark}(?=[ \\t]*\\r?$)`, "gm"))].map(({ index }) => index);
}

function appended(text: string, section: string): string {
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const gap = text.endsWith("\n") ? newline : newline + newline;
  return text + gap + section.replaceAll("\n", newline) + newline;
}
