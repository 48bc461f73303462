import { engineCaller } from "../../domain/caller/caller.ts";
import { integrationPrefix, isIntegration } from "../../domain/merge/landing-branch.ts";
import type { Clock } from "../../ports/clock.ts";
import type { GateRunner } from "../../ports/gate-runner.ts";
import type { Ids } from "../../ports/ids.ts";
import type { ReachKillPoint } from "../../ports/kill-points.ts";
import type { ConflictInPlace, KeepTerms, MergeGit, RefChange, Settled } from "../../ports/merge-git.ts";
import type { Processes } from "../../ports/process.ts";
import type { Settings } from "../../ports/settings.ts";
import type { Store } from "../../ports/store.ts";
import type { Worktrees } from "../../ports/worktrees.ts";
import type { Context } from "../../usecases/usecase.ts";

/** What bringing branches in needs. */
export interface MergePorts {
  readonly worktrees: Pick<Worktrees, "currentBranch">;
  readonly settings: { readonly canonicalBranch: string };
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly reach: ReachKillPoint;
  readonly merging: MergeGit;
  readonly gateRunner: GateRunner;
  readonly processes: Pick<Processes, "endTree">;
  readonly rules: Settings;
  /** Settles a conflicted path by rule, or says why no rule does. */
  resolve(conflict: ConflictInPlace): Promise<Settled>;
  /** Merging for the sake of the answer: everything it makes vanishes when `look` has ended. */
  lookAhead<T>(look: (ahead: LookAhead) => Promise<T>): Promise<T>;
  /** Writes a list of paths, each ended by a NUL. */
  saveChangedFiles(path: string, files: readonly string[]): Promise<void>;
  /** The bytes of a regular file; undefined when there is none. */
  readFile(path: string): Promise<Uint8Array | undefined>;
  /** Where the output of a train's gates goes. */
  mergeLogDir(trainId: string): string;
  /** Puts a failure on record. Never throws. */
  report(error: unknown): void;
}

export interface LookAhead {
  readonly merging: Pick<MergeGit, "mergePairs">;
  resolve(conflict: ConflictInPlace): Promise<Settled>;
}

type ContextPorts = Pick<MergePorts, "ids" | "rules"> & { readonly clock: Pick<Clock, "now"> };

export const mergeContext = ({ clock, ids, rules }: ContextPorts): Context => ({
  caller: engineCaller,
  now: clock.now(),
  ids,
  settings: rules,
});

/** What a checkout for gates or other commands of the project has besides its files, as the project wants it. */
export const keepTerms = ({ rules }: Pick<MergePorts, "rules">, landed: string | null): KeepTerms => {
  const { keepIgnored, cache, setup } = rules.merge;
  return { keepIgnored, cache, setup, landed, rest: "goes" };
};

/** What kept git from an answer, as an entry keeps it. */
export const problemOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const branchRef = (branch: string): string => `refs/heads/${branch}`;
export const queueRefs = "refs/overstory/queue/";
export const queueRef = (id: number): string => queueRefs + id;
export const backupRefs = "refs/overstory/backup/";
export const backupRef = (opId: string): string => backupRefs + opId;
/** Each ref pins the tip of one landing branch until it is promoted, so that deleting the branch deletes no work. */
export const landingRefs = "refs/overstory/landing/";
export const landingRef = (landing: string): string => landingRefs + landing.slice(integrationPrefix.length);

/** The change of the pin that belongs to each move of a landing branch. `to: null` removes the pin. */
export async function pinLanding(
  { merging }: { readonly merging: Pick<MergeGit, "commitOf"> },
  branch: string,
  to: string | null,
): Promise<readonly RefChange[]> {
  if (!isIntegration(branch)) return [];
  const ref = landingRef(branch);
  const from = (await merging.commitOf(ref)) ?? null;
  return from === to ? [] : [{ ref, from, to }];
}
