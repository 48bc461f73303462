import {
  type Answer,
  escalate,
  hasConflictMarkers,
  type Piece,
  piecesOf,
  plainOf,
  type Regeneration,
  regenerationFor,
  resolved,
  skip,
  type Versions,
} from "../../structured-merge/index.ts";

/** What git says is wrong with a path, as a closed list. Only `content` and `add-add` are ever resolved by rule. */
export const conflictKinds = [
  "content",
  "add-add",
  "modify-delete",
  "rename",
  "binary",
  "submodule",
  "symlink",
  "mode",
  "file-directory",
  "other",
] as const;
export type ConflictKind = (typeof conflictKinds)[number];

/** One version of a path: `mode` as git writes it (`100644`, `100755`, `120000`, `160000`). */
export interface PathVersion {
  readonly mode: string;
  readonly oid: string;
}

/** A path that git could not merge. A version is null where that side does not have the path. */
export interface Conflict {
  readonly path: string;
  readonly kind: ConflictKind;
  readonly base: PathVersion | null;
  readonly ours: PathVersion | null;
  readonly theirs: PathVersion | null;
  /** Git's own words. */
  readonly message: string;
}

/** One conflicted path as three versions, with what git says is wrong with it. */
export interface Triple extends Versions {
  readonly kind: ConflictKind;
}

/** One way of settling a conflict. It must be sure: a rung that merely believes escalates. */
export interface Rung {
  readonly name: string;
  attempt(triple: Triple): Promise<Answer>;
}

/** A rung that was tried and did not settle it. */
export interface Tried {
  readonly rung: string;
  readonly reason: string;
}

export type Climb = (
  | { readonly kind: "resolved"; readonly content: string; readonly strategy: string }
  | { readonly kind: "escalate"; readonly reason: string }
) & { readonly tried: readonly Tried[] };

/** Tries each rung in turn until one is sure. Rungs that do not concern such a file are not counted as tried. */
export async function climb(rungs: readonly Rung[], triple: Triple): Promise<Climb> {
  const never = forbidden(triple);
  if (never !== undefined) return { kind: "escalate", reason: never, tried: [] };
  const tried: Tried[] = [];
  for (const rung of rungs) {
    const answer = await rung.attempt(triple);
    if (answer.kind === "resolved") {
      if (!hasConflictMarkers(answer.content)) return { ...answer, tried };
      tried.push({ rung: rung.name, reason: "its result would look like a conflict" });
    } else if (answer.skipped !== true) tried.push({ rung: rung.name, reason: answer.reason });
  }
  return {
    kind: "escalate",
    reason: tried.at(-1)?.reason ?? "both sides changed the same place, and no rule settles that",
    tried,
  };
}

/** Larger files are not text that people merge. */
const mostCharacters = 5 * 1024 * 1024;

/** Why no rule may decide here, independent of the contents; undefined when the ladder may be climbed. */
function forbidden({ kind, base, ours, theirs }: Triple): string | undefined {
  if (kind !== "content" && kind !== "add-add") return `a conflict of the kind ${kind} is never settled by rule`;
  const texts = [base ?? "", ours, theirs];
  if (texts.some((text) => text.length > mostCharacters)) return "the file is larger than 5 MB";
  // The replacement character is what bytes that are no UTF-8 were read as.
  if (texts.some((text) => text.includes("\0") || text.includes("\uFFFD"))) return "the file is not text";
  if (texts.some(hasConflictMarkers)) return "a version of the file has conflict markers in it";
  return undefined;
}

/** Starts from `content` as the file at `path`, runs the command there and answers the file it left; undefined when it failed. */
type Regenerate = (request: Regeneration & { path: string; content: string }) => Promise<string | undefined>;

/** Generated files are not merged: ours is taken and made again. Without a way to run commands a person has to. */
export function regenerateRung(regenerate?: Regenerate): Rung {
  return { name: "regenerate", attempt: (triple) => regenerated(triple, regenerate) };
}

async function regenerated({ path, ours }: Triple, regenerate: Regenerate | undefined): Promise<Answer> {
  const how = regenerationFor(path);
  if (how === undefined) return skip;
  const words = how.command.join(" ");
  if (regenerate === undefined) return escalate(`a generated file; make it again with: ${words}`);
  const content = await regenerate({ ...how, path, content: ours });
  return content === undefined
    ? escalate(`the file could not be made again with: ${words}`)
    : resolved("regenerate", content);
}

/** A digest of a text, as hexadecimal digits or the like. */
type Digest = (text: string) => string;

/** The texts that once replaced the conflicts of a file, in order. */
type Resolution = readonly string[];

interface RememberedPorts {
  readonly digest: Digest;
  /** Only resolutions that landed and were not undone. */
  readonly recall: (fingerprint: string) => Promise<Resolution | undefined>;
  /** Whether a text can be read in the format its path asks for; true for formats without a check. */
  readonly reads: (path: string, content: string) => Promise<boolean>;
}

/** The same conflict was settled before: the same answer holds, put into the file as it is now. */
export function rememberedRung(ports: RememberedPorts): Rung {
  return { name: "remembered", attempt: (triple) => remembered(triple, ports) };
}

/** Names the conflicts of a file: equal for equal hunks at the same path; the rest of the file does not matter. */
export function fingerprintOf(triple: Triple, digest: Digest): string | undefined {
  const conflicts = piecesOf(triple)?.filter((piece) => piece.kind === "conflict");
  if (conflicts === undefined || conflicts.length === 0) return undefined;
  const trimmed = (lines: readonly string[]): string[] => lines.map((line) => line.trimEnd());
  const hunks = conflicts.map(({ base, ours, theirs }) => [base, ours, theirs].map(trimmed));
  return digest(JSON.stringify([triple.path, hunks]));
}

/** The text in place of each conflict, read from the finished file; undefined when other lines changed as well. */
export function resolutionOf(triple: Triple, content: string): Resolution | undefined {
  const pieces = piecesOf(triple);
  const finished = plainOf({ base: null, ours: content, theirs: content })?.ours;
  if (pieces === undefined || finished === undefined) return undefined;
  const found: string[] = [];
  let at = 0;
  for (const [index, piece] of pieces.entries()) {
    if (piece.kind === "conflict") {
      const end = endOfConflict(finished, { from: at, next: pieces[index + 1], last: index + 2 >= pieces.length });
      if (end === undefined) return undefined;
      found.push(finished.slice(at, end));
      at = end;
    } else {
      const text = settledText(piece);
      if (!finished.startsWith(text, at)) return undefined;
      at += text.length;
    }
  }
  return at === finished.length ? found : undefined;
}

/** Where the settled text after a conflict begins: at the end of the file, or where it stands only once. */
function endOfConflict(
  finished: string,
  { from, next, last }: { from: number; next: Piece | undefined; last: boolean },
): number | undefined {
  if (next === undefined) return finished.length;
  const text = settledText(next);
  const end = last ? finished.length - text.length : finished.indexOf(text, from);
  if (end < from || !finished.startsWith(text, end) || (end > 0 && finished[end - 1] !== "\n")) return undefined;
  return last || finished.indexOf(text, end + 1) < 0 ? end : undefined;
}

const settledText = (piece: Piece): string =>
  piece.kind === "settled" ? piece.lines.map((line) => `${line}\n`).join("") : "";

async function remembered(triple: Triple, { digest, recall, reads }: RememberedPorts): Promise<Answer> {
  const fingerprint = triple.base === null ? undefined : fingerprintOf(triple, digest);
  const resolution = fingerprint === undefined ? undefined : await recall(fingerprint);
  if (resolution === undefined) return skip;
  const content = spliced(triple, resolution);
  if (content === undefined) return escalate("the remembered answer does not fit the conflicts any more");
  if (!(await reads(triple.path, content))) return escalate("the remembered answer does not fit the rest of the file");
  return resolved("remembered", content);
}

function spliced(triple: Triple, resolution: Resolution): string | undefined {
  const pieces = piecesOf(triple) ?? [];
  if (pieces.filter(({ kind }) => kind === "conflict").length !== resolution.length) return undefined;
  let used = 0;
  const text = pieces.map((piece) => (piece.kind === "settled" ? settledText(piece) : (resolution[used++] ?? "")));
  return plainOf(triple)?.restore(text.join(""));
}
