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
