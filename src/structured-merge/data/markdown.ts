import { hasConflictMarkers, unconserved } from "../lines/conserved-lines.ts";
import { mergeNearLines } from "../lines/merge-lines.ts";
import { attempt, type MergeOutcome, merged, type Texts, unsure } from "../outcome.ts";
import { mergeYaml } from "./json-yaml.ts";
import { mergeBody, type Outline, opaqueLines, outlineOf, printSection, type Section } from "./markdown-blocks.ts";

export interface MarkdownOptions {
  /** Bullets that both sides added under one heading belong there together. */
  readonly changelog: boolean;
}

/** Merges Markdown by lines, and by headings where lines collide. */
export function mergeMarkdown(texts: Texts, options: MarkdownOptions): MergeOutcome {
  return attempt(() => {
    if (texts.base.trim() === "") return unsure("there is no common text to start from");
    const lines = mergeNearLines(texts.base, texts.ours, texts.theirs);
    const plain = lines.kind === "merged" ? attempt(() => verified(lines.text, texts, options)) : undefined;
    if (plain?.kind === "merged") return plain;
    const tried = attempt(() => verified(byHeadings(texts, options), texts, options));
    if (tried.kind === "merged") return tried;
    // Sections in another order can only be the ones the other side's changes are written into.
    const exchanged = { base: texts.base, ours: texts.theirs, theirs: texts.ours };
    const second = attempt(() => verified(byHeadings(exchanged, options), texts, options));
    return second.kind === "merged" ? second : tried;
  });
}

function verified(content: string, texts: Texts, options: MarkdownOptions): MergeOutcome {
  const problem = fault(content, texts);
  if (problem !== undefined) return unsure(problem);
  const { base, ours, theirs } = texts;
  const outlines = { base: outlineOf(base), ours: outlineOf(ours), theirs: outlineOf(theirs) };
  if (outlineOf(content).frontMatter !== frontMatter(outlines)) return unsure("the front matter is unclear");
  checkSections(content, texts, options);
  return merged(content);
}

/** What would be wrong with this result. */
function fault(content: string, { base, ours, theirs }: Texts): string | undefined {
  if (hasConflictMarkers(content)) return "the result would look like a conflict";
  const [b = [], o = [], t = [], result = []] = [base, ours, theirs, content].map((text) => text.split("\n"));
  const lost = unconserved({ base: b, ours: o, theirs: t, result });
  if (lost !== undefined) return `the line "${lost}" would be lost, repeated or brought back`;
  const strayed = misplaced({ base, side: ours, content }) ?? misplaced({ base, side: theirs, content });
  if (strayed !== undefined) return `the line "${strayed}" would end up under another heading`;
  const reference = brokenReference({ base, ours, theirs }, content);
  if (reference !== undefined) return reference;
  const known = [base, ours, theirs].flatMap((text) => repeated(outlineOf(text).root));
  const fresh = repeated(outlineOf(content).root).find((heading) => !known.includes(heading));
  return fresh === undefined ? undefined : `the heading "${fresh}" would stand twice`;
}

/** A line a side wrote under one heading that the result, which still has that heading, has only under others. */
function misplaced({ base, side, content }: { base: string; side: string; content: string }): string | undefined {
  const [before, wrote, has] = [placesOf(base), placesOf(side), placesOf(content)];
  for (const [line, paths] of wrote.lines) {
    if (before.lines.has(line)) continue;
    for (const path of paths) {
      if (has.headings.has(path) && has.lines.get(line)?.has(path) !== true) return line;
    }
  }
  return undefined;
}

interface Places {
  readonly headings: Set<string>;
  readonly lines: Map<string, Set<string>>;
}

function placesOf(text: string): Places {
  const places: Places = { headings: new Set(), lines: new Map() };
  const visit = (section: Section, path: string): void => {
    places.headings.add(path);
    for (const line of section.body.split("\n")) {
      if (line.trim() === "") continue;
      const known = places.lines.get(line.trim()) ?? new Set();
      places.lines.set(line.trim(), known.add(path));
    }
    for (const child of section.children) visit(child, `${path} > ${child.key}`);
  };
  visit(outlineOf(text).root, "");
  return places;
}

/** Headings that stand twice under the same parent, as paths. */
function repeated(section: Section, path = ""): readonly string[] {
  const keys = section.children.map(({ key }) => key);
  const twice = keys.filter((key, at) => keys.indexOf(key) !== at).map((key) => `${path}${key}`);
  return [...twice, ...section.children.flatMap((child) => repeated(child, `${path}${child.key} > `))];
}

function byHeadings(texts: Texts, options: MarkdownOptions): string {
  const outlines = { base: outlineOf(texts.base), ours: outlineOf(texts.ours), theirs: outlineOf(texts.theirs) };
  for (const [side, outline] of Object.entries(outlines)) {
    const source = side === "base" ? texts.base : side === "ours" ? texts.ours : texts.theirs;
    if (`${outline.frontMatter}${printSection(outline.root)}` !== source) unsure("the headings cannot be told apart");
  }
  const { base, ours, theirs } = outlines;
  const front = frontMatter(outlines);
  const root = mergeSections({ base: base.root, ours: ours.root, theirs: theirs.root }, "the text", options);
  const ending = /\n*$/.exec(texts.ours)?.[0] ?? "";
  return `${front}${printSection(root)}`.replace(/\n*$/, ending);
}

function frontMatter(outlines: Record<"base" | "ours" | "theirs", Outline>): string {
  const [base, ours, theirs] = [outlines.base.frontMatter, outlines.ours.frontMatter, outlines.theirs.frontMatter];
  if (ours === theirs || base === theirs) return ours;
  if (base === ours) return theirs;
  if ([base, ours, theirs].includes("")) return unsure("both sides changed the front matter");
  const inner = (text: string): string => text.slice("---\n".length, -"---\n".length);
  const result = mergeYaml({ base: inner(base), ours: inner(ours), theirs: inner(theirs) });
  return result.kind === "merged" ? `---\n${result.content}---\n` : unsure(`front matter: ${result.reason}`);
}

interface Three {
  readonly base: Section;
  readonly ours: Section;
  readonly theirs: Section;
}

function mergeSections({ base, ours, theirs }: Three, where: string, options: MarkdownOptions): Section {
  const [b, o, t] = [printed(base), printed(ours), printed(theirs)];
  if (o === t || b === t) return ours;
  if (b === o) return { ...theirs, tail: ours.tail, spaced: ours.spaced };
  if ([base, ours, theirs].some(({ children }) => hasTwins(children))) return asText({ base, ours, theirs }, where);
  const body = mergeBody(
    { base: base.body, ours: ours.body, theirs: theirs.body },
    { where, changelog: options.changelog },
  );
  return { ...ours, body, children: mergeChildren({ base, ours, theirs }, options) };
}

/** Without the blank lines at the end, which belong to what follows. */
const printed = (section: Section): string => printSection(section).trimEnd();

const hasTwins = (sections: readonly Section[]): boolean =>
  new Set(sections.map(({ key }) => key)).size !== sections.length;

/** Headings that cannot be told apart: only lines can be merged. */
function asText({ base, ours, theirs }: Three, where: string): Section {
  const [b, o, t] = [base, ours, theirs].map((section) => `${printed(section)}\n`);
  const lines = mergeNearLines(b ?? "", o ?? "", t ?? "");
  if (lines.kind === "conflict") return unsure(`both sides changed ${where}, where headings repeat`);
  const tail = /\n*$/.exec(printSection(ours))?.[0].slice(1) ?? "";
  return { ...ours, heading: "", body: lines.text, tail, children: [] };
}

function mergeChildren(three: Three, options: MarkdownOptions): readonly Section[] {
  const [inBase, inOurs, inTheirs] = [byKey(three.base), byKey(three.ours), byKey(three.theirs)];
  checkRenamed(three);
  const shared = (section: Section): readonly string[] =>
    section.children.flatMap(({ key }) => (inBase.has(key) && inTheirs.has(key) ? [key] : []));
  if (shared(three.base).join("\n") !== shared(three.theirs).join("\n")) unsure("sections were put in another order");
  const result: Section[] = [];
  for (const ours of three.ours.children) {
    const base = inBase.get(ours.key);
    const theirs = inTheirs.get(ours.key);
    if (base !== undefined && theirs !== undefined)
      result.push(mergeSections({ base, ours, theirs }, ours.key, options));
    else if (theirs !== undefined) result.push(bothAdded(ours, theirs, options));
    else if (base === undefined) result.push(ours);
    else checkGone(base, ours);
  }
  const known = new Set([...inBase.keys(), ...inTheirs.keys()]);
  for (const [at, theirs] of three.theirs.children.entries()) {
    const base = inBase.get(theirs.key);
    if (base !== undefined && !inOurs.has(theirs.key)) checkGone(base, theirs);
    if (base !== undefined || inOurs.has(theirs.key)) continue;
    const before = three.theirs.children.slice(0, at).findLast(({ key }) => result.some((other) => other.key === key));
    let place = before === undefined ? 0 : result.findIndex(({ key }) => key === before.key) + 1;
    while (place < result.length && !known.has(result[place]?.key ?? "")) {
      if (options.changelog && !isKindOfChange(theirs)) unsure("both sides added a release");
      place++;
    }
    result.splice(place, 0, { ...theirs, spaced: theirs.spaced || place > 0 });
  }
  return result;
}

const byKey = ({ children }: Section): ReadonlyMap<string, Section> =>
  new Map(children.map((child) => [child.key, child]));

/** A heading both sides removed may have been renamed, differently or by one of them only. */
function checkRenamed({ base, ours, theirs }: Three): void {
  const [inBase, inOurs, inTheirs] = [byKey(base), byKey(ours), byKey(theirs)];
  const removed = base.children.find(({ key }) => !inOurs.has(key) && !inTheirs.has(key));
  const added = [...ours.children, ...theirs.children].some(({ key }) => !inBase.has(key));
  if (removed !== undefined && added) unsure(`both sides removed or renamed "${removed.key}"`);
}

function checkGone(base: Section, kept: Section): void {
  if (printed(base) !== printed(kept)) unsure(`one side deleted "${base.key}", the other changed it`);
}

/** In a changelog both may have opened the same heading; elsewhere two texts under one title are two opinions. */
function bothAdded(ours: Section, theirs: Section, options: MarkdownOptions): Section {
  if (printed(ours) === printed(theirs)) return ours;
  if (!options.changelog) return unsure(`both sides added "${ours.key}"`);
  const base: Section = {
    ...ours,
    body: ours.body.startsWith("\n") && theirs.body.startsWith("\n") ? "\n" : "",
    children: [],
  };
  return mergeSections({ base, ours, theirs }, ours.key, options);
}

/** Added, Changed, Fixed and so on: sections inside a release, not releases. */
const isKindOfChange = ({ key }: Section): boolean => !/\d/.test(key) && key.startsWith("###");

/**
 * Gives up unless every section of the result says what its three versions ask for. Lines that repeat can make a merge by
 * lines put an edit under the wrong heading; this looks at each heading on its own. Where headings repeat it can say nothing.
 */
function checkSections(content: string, texts: Texts, options: { readonly changelog: boolean }): void {
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

/** What would point to two places, or to none, though every version alone is right: link labels, footnotes, headings. */
function brokenReference({ base, ours, theirs }: Texts, content: string): string | undefined {
  const known = new Set([...twiceDefined(ours), ...twiceDefined(theirs)]);
  const twice = twiceDefined(content).find((label) => !known.has(label));
  if (twice !== undefined) return `[${twice}] would be defined twice`;
  return lostHeading({ base, remover: ours, user: theirs }) ?? lostHeading({ base, remover: theirs, user: ours });
}

const definition = /^ {0,3}\[([^\]]+)\]:\s*\S/;

function twiceDefined(text: string): string[] {
  const lines = text.split("\n");
  const opaque = opaqueLines(lines);
  const labels = lines.flatMap((line, at) =>
    opaque[at] === true ? [] : (definition.exec(line)?.[1]?.toLowerCase() ?? []),
  );
  return labels.filter((label, at) => labels.indexOf(label) !== at);
}

interface Roles {
  readonly base: string;
  readonly remover: string;
  readonly user: string;
}

function lostHeading({ base, remover, user }: Roles): string | undefined {
  const left = slugsOf(remover);
  const lost = [...slugsOf(base)].filter((slug) => !left.has(slug));
  const [before, now] = [linksOf(base), linksOf(user)];
  const dangling = lost.find((slug) => (now.get(slug) ?? 0) > (before.get(slug) ?? 0));
  return dangling && `the heading #${dangling} is gone on one side and newly linked to on the other`;
}

function slugsOf(text: string): ReadonlySet<string> {
  const slugs = new Set<string>();
  const visit = ({ key, children }: Section): void => {
    slugs.add(slugOf(key));
    for (const child of children) visit(child);
  };
  visit(outlineOf(text).root);
  return slugs;
}

const slugOf = (heading: string): string =>
  heading
    .replace(/^#+\s+/, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");

function linksOf(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [, slug = ""] of text.matchAll(/\]\(#([^)\s]+)\)/g)) counts.set(slug, (counts.get(slug) ?? 0) + 1);
  return counts;
}
