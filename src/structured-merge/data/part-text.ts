import { unsure } from "../outcome.ts";
import { type Branch, isSpecial, meaning, type Node, type Part, print, type Special } from "./document-tree.ts";
import { type Path, spelled } from "./merge-values.ts";

/** What differs between formats. */
export interface Habits {
  /** How a text of theirs is made to fit ours when the indentation differs; undefined when it cannot be. */
  readonly reindent: (text: string, from: string, to: string) => string | undefined;
  /** Ways of being tied to other places that keep a part from being moved. */
  readonly ties: readonly Special[];
  /** Maps in which the order of keys has a meaning. */
  readonly ordered: (path: Path) => boolean;
}

/** Whether text around parts, which is otherwise blank, says anything. */
export const hasComment = (text: string): boolean => text.trim() !== "";

/** The whitespace a part's line starts with; undefined for one that stands in the middle of a line. */
export function indentOf(lead: string): string | undefined {
  const start = lead.lastIndexOf("\n");
  return start < 0 ? undefined : lead.slice(start + 1);
}

/**
 * A branch whose first part starts like the others. What stood before the first is the `opening`: it belongs to the
 * place (the start of the file, a dash, a bracket on the same line), not to the part.
 */
export function uniform(branch: Branch): { readonly branch: Branch; readonly opening?: string } {
  const [first, ...rest] = branch.parts;
  if (first === undefined || first.lead.startsWith("\n")) return { branch };
  const indent = indentAmong(branch);
  const lead = indent === undefined ? (rest[0]?.lead ?? " ") : `\n${indent}`;
  return { branch: { ...branch, parts: [{ ...first, lead }, ...rest] }, opening: first.lead };
}

/** A part of theirs, written so that it can stand among the parts of ours. */
export function adopted(adoption: { part: Part; into: Branch; path: Path; habits: Habits }): Part {
  const { part, into, path, habits } = adoption;
  if (into.parts.length === 0) return part;
  const sibling = into.parts.findLast(({ lead }) => indentOf(lead) !== undefined) ?? into.parts.at(-1);
  return { ...part, lead: leadAmong(part, into), ...moved({ part, to: sibling, habits, path }) };
}

/** Head and value of a part of theirs, written the way its place among ours wants it. */
export function moved(move: {
  part: Part;
  to: Part | undefined;
  habits: Habits;
  path: Path;
}): Pick<Part, "head" | "value"> {
  const { part, to, habits, path } = move;
  const text = print(part.value);
  const from = indentOf(part.lead);
  const into = to === undefined ? undefined : indentOf(to.lead);
  if (!text.includes("\n") || into === undefined || from === undefined || from === into) {
    return { head: part.head, value: part.value };
  }
  const fitted = habits.reindent(text, from, into);
  if (fitted === undefined) return unsure(`${spelled(path)} is indented differently on the two sides`);
  return { head: part.head, value: { kind: "scalar", text: fitted, value: meaning(part.value) } };
}

/** Gives up where a change involves anchors, aliases or tags: what they mean is decided elsewhere. */
export function untied(path: Path, { ties }: Habits, ...nodes: readonly (Node | undefined)[]): void {
  if (nodes.some((node) => node !== undefined && isSpecial(node, ties))) {
    unsure(`an anchor, alias or tag is involved in the change of ${spelled(path)}`);
  }
}

function leadAmong(part: Part, into: Branch): string {
  const indent = indentAmong(into);
  if (indent === undefined) {
    if (hasComment(part.lead) || hasComment(part.trail)) unsure("a comment cannot be put into a shared line");
    return into.parts[1]?.lead ?? " ";
  }
  if (hasComment(part.lead)) {
    if (!part.lead.startsWith("\n") || indentOf(part.lead) !== indent) unsure("a comment is indented differently");
    return part.lead;
  }
  const own = part.lead.lastIndexOf("\n");
  return own < 0 ? `\n${indent}` : `${part.lead.slice(0, own + 1)}${indent}`;
}

/** The indentation parts have on lines of their own; undefined when they share a line. */
function indentAmong({ parts, style, column }: Branch): string | undefined {
  if (style === "block") return " ".repeat(column ?? 0);
  const found = parts.findLast((part, at) => (at > 0 || parts.length === 1) && indentOf(part.lead) !== undefined);
  return found === undefined ? undefined : indentOf(found.lead);
}
