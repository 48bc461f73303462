import { type Texts, unsure } from "../outcome.ts";
import { mergeBody } from "./markdown-blocks.ts";
import { outlineOf, type Section } from "./markdown-parse.ts";

/**
 * Gives up unless every section of the result says what its three versions ask for. Lines that repeat can make a merge by
 * lines put an edit under the wrong heading; this looks at each heading on its own. Where headings repeat it can say nothing.
 */
export function checkSections(content: string, texts: Texts, options: { readonly changelog: boolean }): void {
  const sides = [texts.base, texts.ours, texts.theirs, content].map(bodiesOf);
  const [base, ours, theirs, result] = sides;
  if (base === undefined || ours === undefined || theirs === undefined || result === undefined) return;
  const followed = new Set([...renamed(base, ours, theirs, result), ...renamed(base, theirs, ours, result)]);
  for (const path of new Set([...base.keys(), ...ours.keys(), ...theirs.keys(), ...result.keys()])) {
    if (followed.has(path)) continue;
    const [b, o, t] = [base.get(path), ours.get(path), theirs.get(path)];
    const wanted = b === t ? o : b === o || o === t ? t : bothChanged(path, { b, o, t }, options);
    if (!sameText(wanted, result.get(path))) unsure(`"${named(path)}" would not say what both sides want`);
  }
}

type Bodies = ReadonlyMap<string, string>;

/** The text of each section by the path of its heading; undefined when a path is not unique. */
function bodiesOf(text: string): Bodies | undefined {
  const found = new Map<string, string>();
  let unique = true;
  const visit = (section: Section, path: string): void => {
    unique &&= !found.has(path);
    found.set(path, section.body.replace(/^\n+/, ""));
    for (const child of section.children) visit(child, `${path}\n${child.key}`);
  };
  visit(outlineOf(text).root, "");
  return unique ? found : undefined;
}

const named = (path: string): string => path.split("\n").at(-1) ?? path;

/** Blank lines set things apart; how many there are says nothing. */
const sameText = (a: string | undefined, b: string | undefined): boolean =>
  a === undefined || b === undefined ? a === b : spaced(a) === spaced(b);

const spaced = (text: string): string => text.replace(/\n{2,}/g, "\n\n").trim();

interface Versions {
  readonly b: string | undefined;
  readonly o: string | undefined;
  readonly t: string | undefined;
}

function bothChanged(path: string, { b, o, t }: Versions, { changelog }: { changelog: boolean }): string {
  if (o === undefined || t === undefined) return unsure(`one side deleted "${named(path)}", the other changed it`);
  if (b === undefined && !changelog) return unsure(`both sides added "${named(path)}"`);
  return mergeBody({ base: b ?? "", ours: o, theirs: t }, { where: `"${named(path)}"`, changelog });
}

/**
 * The old and new paths of sections one side only renamed: known by their text, which must be one of a kind. The result has
 * under the new name what the other side made of the old one.
 */
function renamed(base: Bodies, side: Bodies, other: Bodies, result: Bodies): readonly string[] {
  const paths: string[] = [];
  for (const [path, body] of base) {
    if (side.has(path) || body === "" || !other.has(path)) continue;
    const alike = [...side].filter(([fresh, text]) => text === body && !base.has(fresh) && !other.has(fresh));
    const [fresh] = alike[0] ?? [];
    const alone = [...base.values()].filter((text) => text === body).length === 1 && alike.length === 1;
    if (!alone || fresh === undefined || result.has(path) || !isNewName(path, fresh, side)) continue;
    if (sameText(result.get(fresh), other.get(path))) paths.push(path, fresh);
  }
  return paths;
}

/** Only the name is another: the first heading in which the paths differ is gone, so nothing was put under a new one. */
function isNewName(path: string, fresh: string, side: Bodies): boolean {
  const [old, now] = [path.split("\n"), fresh.split("\n")];
  const fork = old.findIndex((heading, depth) => heading !== now[depth]);
  // What gathers until a release is no longer open to additions once it has become one.
  if (/\b(unreleased|upcoming|next)\b/i.test(old[fork] ?? "")) return false;
  return old.length === now.length && fork !== -1 && !side.has(old.slice(0, fork + 1).join("\n"));
}
