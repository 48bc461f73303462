import type { MergeEntry } from "../../domain/merge/entry.ts";
import type { Conflict, ConflictKind, PathVersion } from "../../domain/merge/ladder.ts";
import { howWords } from "../../domain/merge/words.ts";
import { notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import type { AheadGit } from "../../ports/merge-git.ts";
import { alignMatched, matchingPlaces } from "../../structured-merge/index.ts";
import { heads } from "../branches/branches.ts";
import { landingTip } from "./look-ahead.ts";
import { type EntryEffect, ofEntry } from "./merge-records.ts";
import type { HandSteps } from "./settle-by-hand.ts";

/** One side of a hunk. */
interface HunkSide {
  /** The number of its first line in the file, from 1. */
  readonly line: number;
  readonly lines: readonly string[];
}

/** A place of a file that both sides changed, each in its own way. */
interface ConflictHunk {
  /** Lines around it that all sides have. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly target: HunkSide;
  readonly base: HunkSide;
  readonly branch: HunkSide;
}

type FilePart = { readonly lines: readonly string[] } | { readonly hunk: number };

interface ConflictFile {
  readonly path: string;
  readonly kind: ConflictKind;
  /** Git's own words. */
  readonly message: string;
  /** How a rule settles it, in words; null where none does. */
  readonly settledBy: string | null;
  /** Why no rule settles it; null where one does. */
  readonly reason: string | null;
  /** Whether `merge.settle` takes a side of it as a whole. */
  readonly canTake: boolean;
  /** Empty where the sides are no text, are too large, or do not differ by lines. */
  readonly hunks: readonly ConflictHunk[];
  /**
   * The whole file, part by part: lines that are settled, or the number of the hunk that stands there, from 0. The file
   * that `merge.settle` is given is put together of them. Empty where there are no hunks.
   */
  readonly parts: readonly FilePart[];
  /** Whether the file ends with the end of a line. */
  readonly endsWithLine: boolean;
  /** Why the sides cannot be shown; null where they can. */
  readonly notShown: string | null;
}

/**
 * landed      it is on its landing branch
 * contained   the landing branch has everything of it already
 * clean       it would merge without a conflict now
 * conflicts   both sides changed the same places
 * unrelated   there is no common history
 * unreadable  git cannot merge it; `problem` has its words
 */
type ConflictOutlook = "landed" | "contained" | "clean" | "conflicts" | "unrelated" | "unreadable";

export interface ShownConflicts {
  readonly outlook: ConflictOutlook;
  readonly entry: MergeEntry;
  /** The commit that it would be merged onto; null where nothing was looked at. */
  readonly onto: string | null;
  /** The commit that would be merged; null where nothing was looked at. */
  readonly head: string | null;
  readonly files: readonly ConflictFile[];
  readonly problem: string | null;
  /** How a person settles them; empty where there is nothing to settle. */
  readonly byHand: HandSteps;
}

/** The conflicts of an entry with the landing branch as it is now, with all three sides. Changes nothing. */
export const showConflicts: EntryEffect<ShownConflicts> = ofEntry<ShownConflicts>(
  async (world, { entry, meantFor }, of) => {
    const none: HandSteps = { steps: [], busyAgent: null, worktree: null };
    const bare = { entry, onto: null, head: null, files: [], problem: null, byHand: none };
    if (entry.status === "merged") return ok({ ...bare, outlook: "landed" });
    const landings = await world.call("merge.landings", { target: entry.targetBranch });
    if (!landings.ok) return landings;
    const byHand = await world.call("merge.planByHand", { of });
    if (!byHand.ok) return byHand;
    return world.lookAhead(async (git) => {
      const terms = { target: entry.targetBranch, runId: entry.runId, landings: landings.value.branches };
      const onto = await landingTip(git, terms);
      if (onto === undefined) return no(notFound("branch", entry.targetBranch));
      const head = await git.commitOf(entry.headCommit === "" ? heads + entry.branch : entry.headCommit);
      if (head === undefined) return no(notFound("branch", entry.branch));
      const shown = { ...bare, onto, head };
      if (await git.contains(onto, head)) return ok({ ...shown, outlook: "contained" });
      const merged = await git.merge(onto, head);
      if (merged.kind === "failed") return ok({ ...shown, outlook: "unreadable", problem: merged.problem });
      if (merged.kind !== "conflicts") return ok({ ...shown, outlook: merged.kind });
      const files: ConflictFile[] = [];
      for (const conflict of merged.conflicts) files.push(await fileOf(git, conflict, { ours: onto, theirs: head }));
      // The commits of a target are joined on the target.
      const settled = entry.branch === meantFor ? files.map((file) => ({ ...file, canTake: false })) : files;
      return ok({ ...shown, outlook: "conflicts", files: settled, byHand: byHand.value });
    });
  },
);

async function fileOf(
  git: AheadGit,
  conflict: Conflict,
  commits: { readonly ours: string; readonly theirs: string },
): Promise<ConflictFile> {
  const { path, kind, message } = conflict;
  const answer = await git.resolve({ conflict, ...commits });
  const isSettled = answer.kind === "resolved";
  const sides = await sidesOf(git, conflict);
  return {
    path,
    kind,
    message,
    settledBy: isSettled ? howWords({ tier: "auto-resolve", strategy: answer.strategy }) : null,
    reason: isSettled ? null : answer.reason,
    canTake: canBeTaken(conflict),
    ...(typeof sides === "string" ? { hunks: [], parts: [], endsWithLine: true } : partsOf(sides)),
    notShown: typeof sides === "string" ? sides : null,
  };
}

/** Only whole files can be chosen between: renames, submodules and directories in the way are settled on the branch. */
export const canBeTaken = ({ kind, base, ours, theirs }: Conflict): boolean =>
  !["rename", "submodule", "file-directory", "other"].includes(kind) &&
  [base, ours, theirs].every((version) => version === null || /^(100|120)/.test(version.mode));

interface Sides {
  readonly endsWithLine: boolean;
  readonly base: readonly string[];
  readonly ours: readonly string[];
  readonly theirs: readonly string[];
}

/** Longer files are looked at in an editor. */
const mostBytes = 512 * 1024;

/** The lines of all three versions; or why they cannot be shown. */
async function sidesOf(git: AheadGit, { base, ours, theirs }: Conflict): Promise<Sides | string> {
  if (ours === null || theirs === null)
    return ours === null ? "the target has no such file any more" : "the branch has no such file any more";
  const texts: string[] = [];
  for (const version of [base, ours, theirs]) {
    const content = await textOf(git, version);
    if (content !== undefined && content.length > mostBytes) return "the file is too large to be shown here";
    if (content === undefined || content.includes("\0")) return "the file is not text";
    texts.push(content);
  }
  const [inBase = [], inOurs = [], inTheirs = []] = texts.map((content) => content.replace(/\n$/, "").split("\n"));
  return {
    base: inBase,
    ours: inOurs,
    theirs: inTheirs,
    endsWithLine: texts.slice(1).some((each) => each.endsWith("\n")),
  };
}

/** Undefined for bytes that are no text: what was read from them could not be written back. */
async function textOf(git: AheadGit, version: PathVersion | null): Promise<string | undefined> {
  if (version === null) return "";
  const bytes = await git.readBlob(version.oid);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const around = 3;

function partsOf({ base, ours, theirs, endsWithLine }: Sides): Pick<ConflictFile, "hunks" | "parts" | "endsWithLine"> {
  const chunks = alignMatched({ base, ours, theirs }, matchingPlaces(base, ours), matchingPlaces(base, theirs));
  const hunks: ConflictHunk[] = [];
  const parts: FilePart[] = [];
  const at = { base: 1, ours: 1, theirs: 1 };
  for (const [place, chunk] of chunks.entries()) {
    const isOpen = !same(chunk.ours, chunk.theirs) && !same(chunk.base, chunk.theirs) && !same(chunk.base, chunk.ours);
    if (!chunk.stable && isOpen) {
      parts.push({ hunk: hunks.length });
      hunks.push({
        before: chunks[place - 1]?.ours.slice(-around) ?? [],
        after: chunks[place + 1]?.ours.slice(0, around) ?? [],
        target: { line: at.ours, lines: chunk.ours },
        base: { line: at.base, lines: chunk.base },
        branch: { line: at.theirs, lines: chunk.theirs },
      });
    } else {
      const before = parts.at(-1);
      const lines = same(chunk.base, chunk.ours) ? chunk.theirs : chunk.ours;
      if (before === undefined || "hunk" in before) parts.push({ lines });
      else parts[parts.length - 1] = { lines: [...before.lines, ...lines] };
    }
    at.base += chunk.base.length;
    at.ours += chunk.ours.length;
    at.theirs += chunk.theirs.length;
  }
  return hunks.length === 0 ? { hunks, parts: [], endsWithLine } : { hunks, parts, endsWithLine };
}

const same = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((line, at) => line === other[at]);
