import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import type { Effect } from "../operation.ts";
import { type CleanEffects, type CleanReport, carryOutClean } from "./carry-out-clean.ts";
import { type CleanWorktreesReport, type CleanWorktreesRequest, cleanWorktrees } from "./clean-worktrees.ts";
import { type CleanPlan, type CleanRequest, planClean, type StateDirs } from "./plan-clean.ts";
import { worktreePorts } from "./ports.ts";
import { type Surveyed, survey } from "./survey.ts";

export const listWorktrees: Effect<object, readonly Surveyed[]> = {
  kind: "effect",
  place: "engine",
  run: async (world) => {
    const { worktrees, facts } = await worktreePorts(world);
    const owners = await facts.owners();
    return owners.ok ? ok(await survey(worktrees, owners.value)) : owners;
  },
};

export const cleanUpWorktrees: Effect<CleanWorktreesRequest, CleanWorktreesReport> = {
  kind: "effect",
  place: "engine",
  run: async (world, request) => cleanWorktrees(await worktreePorts(world), request),
};

/** Files and backups of a project's state that cleaning works on. */
export interface CleanFiles extends StateDirs, Omit<CleanEffects, "purgeMail"> {
  /** The names of all backups. */
  backups(): readonly string[];
  /** Brings back what a backup holds, as far as nothing has taken its place. */
  bringBack(name: string): Promise<Omit<RestoreReport, "name">>;
  /** Gives the space of removed rows back to the disk. */
  shrinkDatabase(): void;
}

/** What `ov clean` would do; touches nothing. */
export const planCleaning: Effect<CleanRequest & { readonly dryRun: boolean }, CleanPlan> = {
  kind: "effect",
  place: "engine",
  run: async (world, request) =>
    planClean({ ...(await worktreePorts(world)), dirs: await world.cleanFiles() }, request),
};

export const runCleaning: Effect<CleanPlan, CleanReport> = {
  kind: "effect",
  place: "engine",
  run: async (world, plan) => {
    const files = await world.cleanFiles();
    const effects: CleanEffects = {
      backUp: files.backUp,
      emptyDir: files.emptyDir,
      moveTrash: files.moveTrash,
      purgeMail: (before) => world.call("mail.purge", { before }),
    };
    const done = await carryOutClean({ ...(await worktreePorts(world)), effects }, plan);
    if (done.ok) files.shrinkDatabase();
    return done;
  },
};

export interface RestoreReport {
  readonly name: string;
  /** Refs that were missing and are back. */
  readonly refs: readonly string[];
  readonly rows: number;
  /** Files and directories that were missing and are back, relative to the state directory. */
  readonly files: readonly string[];
}

/** Brings back what a clean removed, as far as nothing has taken its place. */
export const restoreCleaned: Effect<{ readonly name: string }, RestoreReport> = {
  kind: "effect",
  place: "engine",
  run: async (world, { name }) => {
    // Where the database is gone, nobody is on record who could be asked.
    const refused = await world.requireOperator("clean.restore");
    if (refused !== undefined) return no(refused);
    const files = await world.cleanFiles();
    const known = files.backups();
    if (!known.includes(name)) return no(invalid("--restore", "names no backup", { value: name, allowed: known }));
    return ok({ name, ...(await files.bringBack(name)) });
  },
};
