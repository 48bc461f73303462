import {
  type Answer,
  escalate,
  type Piece,
  piecesOf,
  plainOf,
  resolved,
  skip,
} from "../../../structured-merge/index.ts";
import type { Rung, Triple } from "./triple.ts";

/** A digest of a text, as hexadecimal digits or the like. */
export type Digest = (text: string) => string;

/** The texts that once replaced the conflicts of a file, in order. */
export type Resolution = readonly string[];

export interface RememberedPorts {
  readonly digest: Digest;
  /** Only resolutions that landed and were not undone. */
  readonly recall: (fingerprint: string) => Promise<Resolution | undefined>;
  /** Whether a text can be read in the format its path asks for; true for formats nobody can check. */
  readonly reads: (path: string, content: string) => Promise<boolean>;
}

/** The same conflict was settled before: the same answer holds, put into the file as it is now. */
export function rememberedRung(ports: RememberedPorts): Rung {
  return { name: "remembered", attempt: (triple) => remembered(triple, ports) };
}

/** Names the conflicts of a file: equal for equal hunks at the same path, whatever the rest of the file looks like. */
export function fingerprintOf(triple: Triple, digest: Digest): string | undefined {
  const conflicts = piecesOf(triple)?.filter((piece) => piece.kind === "conflict");
  if (conflicts === undefined || conflicts.length === 0) return undefined;
  const trimmed = (lines: readonly string[]): string[] => lines.map((line) => line.trimEnd());
  const hunks = conflicts.map(({ base, ours, theirs }) => [base, ours, theirs].map(trimmed));
  return digest(JSON.stringify([triple.path, hunks]));
}

/** What was put in place of each conflict, read from the finished file; undefined when other lines changed as well. */
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
