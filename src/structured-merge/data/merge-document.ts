import { hasConflictMarkers, unconserved } from "../lines/conserved-lines.ts";
import { mergeNearLines } from "../lines/merge-lines.ts";
import { attempt, type MergeOutcome, merged, refused, type Texts, Unsure, unsure } from "../outcome.ts";
import { checkDangling } from "./dangling.ts";
import { type Document, meaning, print, printDocument } from "./document-tree.ts";
import { checkOrder } from "./key-order.ts";
import { mergeTrees } from "./merge-tree.ts";
import { mergeValues } from "./merge-values.ts";
import { checkMoves } from "./moves.ts";
import type { Habits } from "./tree-merge.ts";
import { sameValue, type Value } from "./value.ts";

/** A format of trees: how it is read, and what is particular about writing it. `parse` gives up on what it cannot read. */
export interface TreeFormat extends Habits {
  readonly parse: (text: string) => Document;
}

/**
 * Merges three versions of a data file. What it has to say is decided on values; the text is then made by lines or, where
 * lines collide, by tree. A text counts only if it reads as exactly that value and keeps every comment both sides want.
 */
export function mergeDocuments({ base, ours, theirs }: Texts, format: TreeFormat): MergeOutcome {
  return attempt(() => {
    const documents = { base: read(base, format), ours: read(ours, format), theirs: read(theirs, format) };
    const [b, o, t] = [meaning(documents.base.root), meaning(documents.ours.root), meaning(documents.theirs.root)];
    const wanted = mergeValues(b, o, t);
    checkMoves({ base: b, ours: o, theirs: t });
    checkOrder({ base: b, ours: o, theirs: t }, format.ordered);
    checkDangling({ base: b, ours: o, theirs: t });
    if (wanted === undefined) return refused("nothing would be left of the file");
    const check = (text: string): string | undefined => fault(text, { wanted, format, ...documents });
    const lines = mergeNearLines(base, ours, theirs);
    if (lines.kind === "merged" && check(lines.text) === undefined) return merged(lines.text);
    const tried = attempt(() => checked(byTree(documents, format), check));
    if (tried.kind === "merged") return tried;
    // A side that put things in another order can only be the one the other's changes are written into.
    const exchanged = { base: documents.base, ours: documents.theirs, theirs: documents.ours };
    const second = attempt(() => checked(byTree(exchanged, format), check));
    return second.kind === "merged" ? second : tried;
  });
}

function checked(text: string, check: (text: string) => string | undefined): MergeOutcome {
  const problem = check(text);
  return problem === undefined ? merged(text) : refused(problem);
}

interface Documents {
  readonly base: Document;
  readonly ours: Document;
  readonly theirs: Document;
}

/** A parser that cannot give the text back exactly has misunderstood it. */
function read(text: string, format: TreeFormat): Document {
  const document = format.parse(text);
  return printDocument(document) === text ? document : unsure("the file cannot be taken apart without changing it");
}

function byTree({ base, ours, theirs }: Documents, format: TreeFormat): string {
  const ties = sameAnchors([base, ours, theirs]) ? format.ties.filter((tie) => tie !== "alias") : format.ties;
  const root = mergeTrees({ base: base.root, ours: ours.root, theirs: theirs.root }, { ...format, ties });
  const around = (b: string, o: string, t: string): string => (o === b ? t : o);
  return `${around(base.before, ours.before, theirs.before)}${print(root)}${around(base.after, ours.after, theirs.after)}`;
}

/** An alias means the same everywhere when all versions agree on what every anchor stands for. */
function sameAnchors(documents: readonly Document[]): boolean {
  const told = documents.map(({ anchors }) =>
    anchors === undefined ? undefined : JSON.stringify([...anchors].sort()),
  );
  return told[0] !== undefined && told.every((one) => one === told[0]);
}

interface Expectation extends Documents {
  readonly wanted: Value;
  readonly format: TreeFormat;
}

function fault(text: string, { wanted, format, base, ours, theirs }: Expectation): string | undefined {
  if (hasConflictMarkers(text)) return "the result would look like a conflict";
  const document = readable(text, format);
  if (document === undefined || !sameValue(meaning(document.root), wanted)) {
    return "the merged text would not say what both sides want";
  }
  if (document.anchors === undefined && ours.anchors !== undefined && theirs.anchors !== undefined) {
    return "both sides gave one name to different things";
  }
  const lost = unconserved({
    base: base.comments,
    ours: ours.comments,
    theirs: theirs.comments,
    result: document.comments,
  });
  return lost === undefined ? undefined : `the comment "${lost}" would be lost, repeated or brought back`;
}

function readable(text: string, format: TreeFormat): Document | undefined {
  try {
    return format.parse(text);
  } catch (thrown) {
    if (thrown instanceof Unsure) return undefined;
    throw thrown;
  }
}
