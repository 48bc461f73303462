import type { Conflict, ConflictKind, PathVersion } from "../../../domain/merge/ladder.ts";
import type { MergeNote, MergeOutput } from "./output.ts";

/** The conflicts of a merge, one per path as a person knows it, each with the kind that decides who may settle it. */
export function conflictsIn(output: MergeOutput, sides: readonly string[]): readonly Conflict[] {
  const notes = output.notes.filter(isConflict);
  const found = new Map<string, Found>();
  const at = (path: Buffer): Found => {
    const plain = plainPath(path, notes, sides);
    const key = plain.toString("latin1");
    const known = found.get(key) ?? { path: plain, base: null, ours: null, theirs: null, notes: new Set() };
    found.set(key, known);
    return known;
  };
  for (const { path, stage, mode, oid } of output.stages) {
    const entry = at(path);
    entry[sideOf(stage)] ??= { mode, oid };
    for (const note of notes) if (note.paths.some((other) => other.equals(path))) entry.notes.add(note);
  }
  // Some conflicts, as about renamed directories, leave no versions behind.
  const told = new Set([...found.values()].flatMap((entry) => [...entry.notes]));
  for (const note of notes) if (!told.has(note) && note.paths[0] !== undefined) at(note.paths[0]).notes.add(note);
  return [...found.values()].map(conflictOf);
}

interface Found {
  readonly path: Buffer;
  base: PathVersion | null;
  ours: PathVersion | null;
  theirs: PathVersion | null;
  readonly notes: Set<MergeNote>;
}

/** Git writes some of its words without the space. Those of an inner merge are about a base, not about the result. */
const isConflict = ({ kind, text }: MergeNote): boolean => /^(CONFLICT|ERROR)/.test(kind) && !isInner(text);
export const isInner = (text: string): boolean => text.startsWith("From inner merge:");

const sideOf = (stage: string): "base" | "ours" | "theirs" =>
  stage === "1" ? "base" : stage === "2" ? "ours" : "theirs";

/** Where two things want one path, git puts a file at `path~commit`; the path itself is what it is about. */
function plainPath(path: Buffer, notes: readonly MergeNote[], sides: readonly string[]): Buffer {
  const text = path.toString("latin1");
  const side = sides.find((name) => new RegExp(`~${name}(_\\d+)?$`).test(text));
  if (side === undefined) return path;
  const plain = Buffer.from(text.slice(0, text.lastIndexOf(`~${side}`)), "latin1");
  const isNamed = notes.some(({ paths }) => [path, plain].every((one) => paths.some((other) => other.equals(one))));
  return isNamed ? plain : path;
}

function conflictOf({ path, base, ours, theirs, notes }: Found): Conflict {
  const versions = [base, ours, theirs].filter((version) => version !== null);
  const kind = isText(path)
    ? kindOf({ base, ours, theirs, versions, words: [...notes].map((note) => note.kind) })
    : "other";
  return { path: path.toString(), kind, base, ours, theirs, message: [...notes].map(({ text }) => text).join("\n") };
}

/** A name that is not text would not come back as it was from anybody who resolves it. */
const isText = (path: Buffer): boolean => Buffer.from(path.toString()).equals(path);

interface Facts {
  readonly base: PathVersion | null;
  readonly ours: PathVersion | null;
  readonly theirs: PathVersion | null;
  readonly versions: readonly PathVersion[];
  readonly words: readonly string[];
}

/** The first that applies: a file that was renamed as well as edited is not a matter of its lines alone. */
function kindOf({ base, ours, theirs, versions, words }: Facts): ConflictKind {
  const says = (pattern: RegExp): boolean => words.some((word) => pattern.test(word));
  const has = (mode: string): boolean => versions.some((version) => version.mode === mode);
  if (says(/submodule/) || has("160000")) return "submodule";
  if (says(/rename/)) return "rename";
  if (says(/file\/directory/)) return "file-directory";
  if (says(/modify\/delete/)) return "modify-delete";
  if (says(/distinct modes/)) return "mode";
  if (has("120000")) return "symlink";
  if (says(/binary/)) return "binary";
  if (!says(/contents/) || ours === null || theirs === null) return "other";
  if (base !== null) return "content";
  return ours.mode === theirs.mode ? "add-add" : "mode";
}
