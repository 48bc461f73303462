import type { Conflict, ConflictKind, PathVersion } from "../../../domain/merge/ladder.ts";
import { zeroEnded } from "../git.ts";

/** One version of a path in a conflict, as `merge-tree` lists it. */
interface Stage {
  readonly mode: string;
  readonly oid: string;
  readonly stage: string;
  readonly path: Buffer;
}

/** What git says about some paths; `kind` is one of its fixed words. */
interface MergeNote {
  readonly paths: readonly Buffer[];
  readonly kind: string;
  readonly text: string;
}

export interface MergeOutput {
  readonly tree: string;
  readonly stages: readonly Stage[];
  readonly notes: readonly MergeNote[];
}

/** Reads what `merge-tree -z --messages` prints for one pair. */
export const readMerge = (raw: Buffer): MergeOutput => readRecord(new Fields(raw));

interface BatchRecord extends MergeOutput {
  readonly clean: boolean;
}

/** Reads what `merge-tree -z --messages --stdin` prints; fewer records than pairs when it gave up at one of them. */
export function readBatch(raw: Buffer): readonly BatchRecord[] {
  const fields = new Fields(raw);
  const records: BatchRecord[] = [];
  while (!fields.atEnd()) records.push({ clean: fields.next().toString() === "1", ...readRecord(fields) });
  return records;
}

/** Is this all that git prints for one pair? It ends with an empty field, or with advice about submodules. */
export function isRecord(raw: Buffer): boolean {
  const mayEnd = raw.at(-1) === 0 && (raw.at(-2) === 0 || raw.subarray(-adviceEnd.length).equals(adviceEnd));
  if (!mayEnd) return false;
  const fields = new Fields(raw);
  fields.next();
  readRecord(fields);
  return fields.hasRead();
}

const adviceEnd = Buffer.from("superproject\n\0");

class Fields {
  readonly #fields: readonly Buffer[];
  #at = 0;

  constructor(raw: Buffer) {
    this.#fields = zeroEnded(raw);
  }

  next(): Buffer {
    return this.#fields[this.#at++] ?? nothing;
  }

  atEnd(): boolean {
    return this.#at >= this.#fields.length;
  }

  /** All of them were read, and none that is not there. */
  hasRead(): boolean {
    return this.#at === this.#fields.length;
  }
}

const nothing = Buffer.alloc(0);

function readRecord(fields: Fields): MergeOutput {
  const tree = fields.next().toString();
  const stages: Stage[] = [];
  for (let field = fields.next(); field.length > 0; field = fields.next()) stages.push(readStage(field));
  const notes: MergeNote[] = [];
  for (;;) {
    // Nothing more ends a record, and so does advice about submodules, which git prints without counting its paths.
    const count = fields.next().toString();
    if (!/^\d+$/.test(count)) return { tree, stages, notes };
    const paths = Array.from({ length: Number(count) }, () => fields.next());
    notes.push({ paths, kind: fields.next().toString(), text: fields.next().toString().trim() });
  }
}

function readStage(field: Buffer): Stage {
  const tab = field.indexOf(tabByte);
  const [mode = "", oid = "", stage = ""] = field.toString("latin1", 0, tab).split(" ");
  return { mode, oid, stage, path: field.subarray(tab + 1) };
}

const tabByte = 0x09;

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
const isInner = (text: string): boolean => text.startsWith("From inner merge:");

const sideOf = (stage: string): "base" | "ours" | "theirs" =>
  stage === "1" ? "base" : stage === "2" ? "ours" : "theirs";

/** Where a file and a directory want one path, git writes the file to `path~commit`. The conflict is about `path`. */
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

/** A file name that is not valid text would not survive its way through a resolver. */
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
