import { namingOf } from "../meaning/naming.ts";
import { type Flow, flowOf } from "../meaning/purity.ts";
import { type Code, textOf } from "../syntax.ts";

/**
 * One member of a keyed container with everything that travels with it. Written out it is
 * `gap` (blank lines), `before` (comment lines, indentation), `text`, a separator where the container needs one, `after`.
 */
export interface Unit {
  readonly key: string;
  readonly names: readonly string[];
  readonly flow: Flow;
  /** What to look into when both sides changed it; absent for comments and for overloads written one after another. */
  readonly code: Code | undefined;
  readonly gap: string;
  readonly before: string;
  readonly text: string;
  readonly after: string;
}

/**
 * lines    each unit owns whole lines and ends itself
 * rows     each unit owns whole lines, separators stand between
 * inline   all on one line
 */
export const layouts = ["lines", "rows", "inline"] as const;
export type Layout = (typeof layouts)[number];

/** A node cut into units. `head` and `tail` are what stands around them; nothing of the text is in two places or in none. */
export interface Container {
  readonly layout: Layout;
  readonly head: string;
  readonly units: readonly Unit[];
  readonly tail: string;
  readonly separator: string;
  /** A separator also stands after the last unit. */
  readonly trailing: boolean;
}

/** A unit for one node standing alone. */
export function unitOf(code: Code, around: Pick<Unit, "gap" | "before" | "after">): Unit {
  return { ...namingOf(code), flow: flowOf(code), code, text: textOf(code), ...around };
}

/** Two versions of a unit say the same; how they are indented, spaced or separated does not count. */
export const isSame = (one: Unit, other: Unit): boolean => spelling(one) === spelling(other);

/** A unit without the white space around it and without its separator. */
export const spelling = ({ before, text, after }: Unit): string =>
  [before, text.replace(/[;,]$/, ""), after.replace(/^\s*[;,]/, "")].map((part) => part.trim()).join("\n");
