import { alignThree, type Chunk } from "../lines/align.ts";
import { mergeNearLines } from "../lines/merge-lines.ts";
import { type Texts, unsure } from "../outcome.ts";

/** A heading with the text below it, up to the next heading, and the sections inside it. */
export interface Section {
  /** Level and title; the key among its siblings. The text before the first heading has an empty one. */
  readonly key: string;
  readonly level: number;
  /** The lines of the heading itself. */
  readonly heading: string;
  /** Without the blank lines at its end. */
  readonly body: string;
  /** Those blank lines. */
  readonly tail: string;
  /** A blank line stands before its heading. */
  readonly spaced: boolean;
  readonly children: readonly Section[];
}

/** A Markdown file by its headings. Printing gives the source back. */
export interface Outline {
  /** With its `---` lines; empty when there is none. */
  readonly frontMatter: string;
  readonly root: Section;
}

export function outlineOf(text: string): Outline {
  const frontMatter = /^---\n(?:[^\n]*\n)*?---\n/.exec(text)?.[0] ?? "";
  const flat = flatten(text.slice(frontMatter.length));
  const [top, ...rest] = flat;
  if (top === undefined) return { frontMatter, root: emptyRoot };
  return { frontMatter, root: { ...top, children: nested(rest) } };
}

/** The text of a section with all inside it. A section that stood after a blank line gets one wherever it stands now. */
export function printSection(section: Section): string {
  let out = "";
  const write = ({ heading, body, tail, spaced, children }: Section): void => {
    if (spaced && out !== "" && out !== "\n" && !out.endsWith("\n\n")) out += out.endsWith("\n") ? "\n" : "\n\n";
    out += `${heading}${body}${tail}`;
    for (const child of children) write(child);
  };
  write(section);
  return out;
}

/** Which lines are inside a fenced code block or an HTML comment, its first and last lines included. */
export function opaqueLines(lines: readonly string[]): readonly boolean[] {
  let fence: string | undefined;
  let comment = false;
  return lines.map((line) => {
    if (fence !== undefined) {
      const mark = /^\s*(`{3,}|~{3,})\s*$/.exec(line)?.[1];
      if (mark !== undefined && mark[0] === fence[0] && mark.length >= fence.length) fence = undefined;
      return true;
    }
    if (comment) {
      comment = !line.includes("-->");
      return true;
    }
    fence = /^\s*(?:(?:[-*+]|\d+[.)])\s+)?(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1];
    const opened = line.lastIndexOf("<!--");
    comment = fence === undefined && opened >= 0 && !line.slice(opened).includes("-->");
    return fence !== undefined || comment;
  });
}

const emptyRoot: Section = { key: "", level: 0, heading: "", body: "", tail: "", spaced: false, children: [] };

const atx = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const underline = /^ {0,3}(=+|-+)[ \t]*$/;
/** A line that can be the one line of an underlined heading. */
const paragraph = /^ {0,3}[^\s>|#*+\-<`~\d[]/;

interface Heading {
  readonly level: number;
  readonly title: string;
  readonly lines: number;
}

function flatten(text: string): readonly Section[] {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const opaque = opaqueLines(lines.map((line) => line.replace(/\n$/, "")));
  const sections: Section[] = [];
  let heading: Heading = { level: 0, title: "", lines: 0 };
  let start = 0;
  const close = (end: number): void => {
    const body = lines.slice(start + heading.lines, end).join("");
    const kept = body.trim() === "" ? "" : body.replace(/\n[ \t\n]*$/, "\n");
    sections.push({
      key: heading.level === 0 ? "" : `${"#".repeat(heading.level)} ${heading.title}`,
      level: heading.level,
      heading: lines.slice(start, start + heading.lines).join(""),
      body: kept,
      tail: body.slice(kept.length),
      spaced: start > 0 && (lines[start - 1] ?? "").trim() === "",
      children: [],
    });
  };
  for (let at = 0; at < lines.length; at++) {
    const found = opaque[at] === true ? undefined : headingAt(lines, at, opaque);
    if (found === undefined) continue;
    close(at);
    heading = found;
    start = at;
    at += found.lines - 1;
  }
  close(lines.length);
  return sections;
}

function headingAt(lines: readonly string[], at: number, opaque: readonly boolean[]): Heading | undefined {
  const line = (lines[at] ?? "").replace(/\n$/, "");
  const hashes = atx.exec(line);
  if (hashes !== null) return { level: hashes[1]?.length ?? 1, title: (hashes[2] ?? "").trim(), lines: 1 };
  const below = underline.exec((lines[at + 1] ?? "").replace(/\n$/, ""));
  const alone = at === 0 || (lines[at - 1] ?? "").trim() === "" || opaque[at - 1] === true;
  if (below === null || !alone || opaque[at + 1] === true || !paragraph.test(line)) return undefined;
  return { level: below[1]?.startsWith("=") === true ? 1 : 2, title: line.trim(), lines: 2 };
}

function nested(flat: readonly Section[]): readonly Section[] {
  const top: Section[] = [];
  for (let at = 0; at < flat.length; ) {
    const section = flat[at];
    if (section === undefined) break;
    let end = at + 1;
    while (end < flat.length && (flat[end]?.level ?? 0) > section.level) end++;
    top.push({ ...section, children: nested(flat.slice(at + 1, end)) });
    at = end;
  }
  return top;
}

interface BodyOptions {
  /** Where in the file, for the reason of a refusal. */
  readonly where: string;
  /** New items may also have been put at the top of a list. */
  readonly changelog: boolean;
}

/**
 * Merges the text of one section by lines. Where lines collide it knows three things that have no order among
 * themselves: items at the end of one bullet list, rows at the end of one table, link definitions.
 */
export function mergeBody({ base, ours, theirs }: Texts, options: BodyOptions): string {
  const lines = mergeNearLines(base, ours, theirs);
  if (lines.kind === "merged") return lines.text;
  const sides = { base: linesOf(base), ours: linesOf(ours), theirs: linesOf(theirs) };
  const opaque = opaqueLines(sides.base);
  const result: string[] = [];
  let at = 0;
  for (const chunk of alignThree(sides, (line) => line)) {
    result.push(...settled(chunk, { ...options, lines: sides.base, at, opaque }));
    at += chunk.base.length;
  }
  return result.map((line) => `${line}\n`).join("");
}

function linesOf(text: string): readonly string[] {
  if (text !== "" && !text.endsWith("\n")) return unsure("a section does not end with its line");
  return text === "" ? [] : text.slice(0, -1).split("\n");
}

interface Place extends BodyOptions {
  /** Of the base. */
  readonly lines: readonly string[];
  /** Where the chunk begins in them. */
  readonly at: number;
  readonly opaque: readonly boolean[];
}

function settled({ stable, base, ours, theirs }: Chunk<string>, place: Place): readonly string[] {
  const same = (a: readonly string[], b: readonly string[]): boolean => a.join("\n") === b.join("\n");
  if (stable || same(ours, theirs) || same(base, theirs)) return ours;
  if (same(base, ours)) return theirs;
  const collision = `both sides changed the same lines of ${place.where}`;
  const { lines, at, opaque } = place;
  const apart = opaque[at] === true ? undefined : lineByLine({ stable, base, ours, theirs });
  if (apart !== undefined) return apart;
  if (base.length > 0 || (opaque[at - 1] === true && opaque[at] === true)) return unsure(collision);
  if ([...ours, ...theirs].some((line) => /^\s*(```|~~~)|<!--|-->/.test(line))) return unsure(collision);
  const additions: Additions = { ours, theirs, before: lines.slice(0, at), after: lines.slice(at) };
  return items(additions, place) ?? rows(additions) ?? definitions(additions) ?? unsure(collision);
}

/** Rows of a table, or one-line items of a list, of which each was edited by one side only. */
function lineByLine({ base, ours, theirs }: Chunk<string>): readonly string[] | undefined {
  if (base.length === 0 || ours.length !== base.length || theirs.length !== base.length) return undefined;
  const lines = base.map((line, at) => {
    const [mine = "", other = ""] = [ours[at], theirs[at]];
    const edited = mine === line ? other : other === line || mine === other ? mine : undefined;
    return edited !== undefined && (edited === line || isSameLine(line, edited)) ? edited : undefined;
  });
  return lines.every((line) => line !== undefined) ? lines : undefined;
}

/** A row keeps its first cell and its width; an item keeps its words and has another box. */
function isSameLine(was: string, is: string): boolean {
  if (isRow(was) && isRow(is)) {
    const [old, now] = [cellsOf(was), cellsOf(is)];
    return old.length === now.length && old[0]?.trim() === now[0]?.trim() && !/^\s*\|[\s:|-]+\|\s*$/.test(was);
  }
  const box = /^(\s*[-*+]\s+)\[[ xX]\](\s+.*)$/;
  return box.test(was) && was.replace(box, "$1$2") === is.replace(box, "$1$2");
}

const isRow = (line: string | undefined): boolean => line !== undefined && /^\s*\|.*\|\s*$/.test(line);
const cellsOf = (line: string): readonly string[] => line.trim().slice(1, -1).split("|");

interface Additions {
  readonly ours: readonly string[];
  readonly theirs: readonly string[];
  readonly before: readonly string[];
  readonly after: readonly string[];
}

const bullet = /^(\s*)([-*+])(\s+)\S/;

/** Bullets both sides put at one end of the same list. */
function items(additions: Additions, { changelog }: Place): readonly string[] | undefined {
  const [mine, other] = [itemsOf(additions.ours), itemsOf(additions.theirs)];
  const shape = mine?.[0]?.shape;
  if (mine === undefined || other === undefined || shape === undefined) return undefined;
  if ([...mine, ...other].some((item) => item.shape !== shape)) return undefined;
  const atEnd = inList(additions.before, shape) && !goesOn(additions.after, shape);
  const atTop = changelog && startsList(additions, shape);
  if (!atEnd && !atTop) return undefined;
  return united(additions, mine, other);
}

interface Item {
  /** Indentation and mark. */
  readonly shape: string;
  /** Its beginning, when that names it: a link, a code word, bold text. */
  readonly label: string | undefined;
  readonly text: string;
}

function itemsOf(lines: readonly string[]): readonly Item[] | undefined {
  const found: { shape: string; label: string | undefined; lines: string[] }[] = [];
  for (const line of lines) {
    const mark = bullet.exec(line);
    const current = found.at(-1);
    const deeper = current !== undefined && (line.trim() === "" || indentWidth(line) > indentWidth(current.shape));
    if (deeper) current.lines.push(line);
    else if (mark !== null) found.push({ shape: `${mark[1]}${mark[2]}`, label: labelOf(line), lines: [line] });
    else if (line.trim() !== "") return undefined;
  }
  return found.map(({ shape, label, lines: own }) => ({ shape, label, text: own.join("\n").trim() }));
}

const indentWidth = (line: string): number => line.length - line.trimStart().length;

const labelOf = (line: string): string | undefined =>
  /^\s*[-*+]\s+(?:\[[ xX]\]\s+)?(\[[^\]]+\]|`[^`]+`|\*\*[^*]+\*\*|__[^_]+__)/.exec(line)?.[1];

/** The nearest line above that is no continuation is an item of this very list. */
function inList(before: readonly string[], shape: string): boolean {
  for (const line of before.toReversed()) {
    if (line.trim() === "") continue;
    const mark = bullet.exec(line);
    if (mark !== null && `${mark[1]}${mark[2]}` === shape) return true;
    if (indentWidth(line) <= indentWidth(shape)) return false;
  }
  return false;
}

/** The list, or its last item, has more lines below. */
function goesOn(after: readonly string[], shape: string): boolean {
  const next = after.find((line) => line.trim() !== "");
  if (next === undefined) return false;
  const mark = bullet.exec(next);
  return (mark !== null && `${mark[1]}${mark[2]}` === shape) || indentWidth(next) > indentWidth(shape);
}

/** The list begins right here, or there is none yet below the heading. */
function startsList({ before, after }: Additions, shape: string): boolean {
  const next = after.find((line) => line.trim() !== "");
  const mark = next === undefined ? null : bullet.exec(next);
  const belongs = next === undefined || (mark !== null && `${mark[1]}${mark[2]}` === shape);
  return belongs && before.every((line) => line.trim() === "");
}

/** Ours, then what only theirs has. Two items with the same name and different words are about the same thing. */
function united(additions: Additions, mine: readonly Item[], other: readonly Item[]): readonly string[] {
  const known = new Set(mine.map(({ text }) => text));
  // An item that stands twice was meant twice, or is a mistake; which, decides what becomes of the other side's.
  for (const side of [mine, other]) if (repeats(side)) unsure("one side added the same item twice");
  const labels = new Set(mine.flatMap(({ label }) => label ?? []));
  const fresh = other.filter(({ text }) => !known.has(text));
  for (const { label } of fresh) if (label !== undefined && labels.has(label)) unsure(`both sides added ${label}`);
  if (fresh.length === 0) return additions.ours;
  const { ours, before } = additions;
  const filled = ours.map((line) => line.trim() !== "");
  const [start, end] = [filled.indexOf(true), filled.lastIndexOf(true) + 1];
  // Items stand apart where ours set them apart: from the list above, or from each other.
  const apart = (start > 0 && bullet.test(before.at(-1) ?? "")) || ours.slice(start, end).includes("");
  const written = fresh.flatMap((item) => [
    ...(apart ? [""] : []),
    ...`${item.shape.slice(0, -1)}${item.text}`.split("\n"),
  ]);
  return [...ours.slice(0, end), ...written, ...ours.slice(end)];
}

const repeats = (items: readonly Item[]): boolean => new Set(items.map(({ text }) => text)).size < items.length;

/** Rows both sides put at the end of the same table. The first cell names a row. */
function rows({ ours, theirs, before, after }: Additions): readonly string[] | undefined {
  if (![...ours, ...theirs].every(isRow) || !isRow(before.at(-1)) || isRow(after[0])) return undefined;
  if (!before.some((line) => /^\s*\|[\s:|-]+\|\s*$/.test(line))) return undefined;
  const cells = cellsOf;
  const width = cells(before.at(-1) ?? "").length;
  if ([...ours, ...theirs].some((line) => cells(line).length !== width)) return undefined;
  const fresh = theirs.filter((line) => !ours.includes(line));
  const named = new Set(ours.map((line) => cells(line)[0]?.trim()));
  for (const line of fresh) {
    const name = cells(line)[0]?.trim();
    if (named.has(name)) return unsure(`both sides added a table row ${JSON.stringify(name ?? "")}`);
  }
  return [...ours, ...fresh];
}

const definition = /^ {0,3}\[([^\]]+)\]:\s*\S/;

/** Link definitions: their order means nothing, but a label has one target. */
function definitions({ ours, theirs }: Additions): readonly string[] | undefined {
  const labels = (lines: readonly string[]): readonly string[] | undefined => {
    const found = lines.filter((line) => line.trim() !== "").map((line) => definition.exec(line)?.[1]?.toLowerCase());
    const known = found.filter((label) => label !== undefined);
    return known.length === found.length && found.length > 0 ? known : undefined;
  };
  const [mine, other] = [labels(ours), labels(theirs)];
  if (mine === undefined || other === undefined) return undefined;
  const fresh = theirs.filter((line) => !ours.includes(line));
  for (const line of fresh) {
    const label = definition.exec(line)?.[1]?.toLowerCase();
    if (label !== undefined && mine.includes(label)) return unsure(`both sides defined the link [${label}]`);
  }
  return [...ours, ...fresh];
}
