import { expect } from "bun:test";
import { type Caller, operator } from "../src/domain/caller/caller.ts";
import type { MergeEntry } from "../src/domain/merge/entry.ts";
import { notFound, type Refusal } from "../src/domain/refusal.ts";
import { no, ok, type Result } from "../src/domain/result.ts";
import type { AheadGit } from "../src/ports/merge-git.ts";
import type { App } from "../src/surfaces/cli/app.ts";
import { runCli } from "../src/surfaces/cli/run.ts";
import type { Sink } from "../src/surfaces/cli/sink.ts";
import { gateCommand, mergeCommand } from "../src/surfaces/cli/tree/merge-commands.ts";
import { inboxCommand } from "../src/surfaces/cli/tree/team-commands.ts";
import { runCommand, statusCommand } from "../src/surfaces/cli/tree/watch-commands.ts";
import {
  isUseCase,
  type OperationName,
  operationOf,
  type ReplyOf,
  type RequestOf,
  type StreamName,
} from "../src/usecases/catalog.ts";
import { newOp } from "../src/usecases/merge/merge-records.ts";
import { landed, rejected } from "../src/usecases/merge/queue/settle-entry.ts";
import type { Listener } from "../src/usecases/operation.ts";
import { runEffect } from "../src/usecases/operation.ts";
import { builderBranch, type MergeWorld } from "./merge-queue-world.ts";
import { worldWith } from "./world.ts";

const tree = {
  name: "ov",
  summary: "",
  commands: [mergeCommand, gateCommand, runCommand, statusCommand, inboxCommand],
};

export interface Desk {
  run(...argv: string[]): Promise<{ exit: number; out: string; err: string }>;
  /** The one document of a command, whatever its end. */
  json(...argv: string[]): Promise<{ exit: number; document: Record<string, unknown> }>;
  /** Plays the engine while a command waits; without it, a command that waits fails the test. */
  engine: (() => Promise<void>) | undefined;
  answer: boolean | undefined;
  readonly heads: Map<string, string>;
  /** Branches that were deleted. */
  readonly gone: Set<string>;
}

/** The real commands over the real use cases; git and the engine are played. */
export function desk(world: MergeWorld, caller: Caller = operator): Desk {
  const heads = new Map([
    ["main", "m0"],
    [builderBranch, "head-1"],
    ["feature", "f1"],
  ]);
  const found = (branch: string) => {
    const commit = heads.get(branch);
    return commit === undefined ? no(notFound("branch", branch)) : ok({ commit });
  };
  const git: Partial<{ [N in OperationName]: (request: RequestOf<N>) => Result<ReplyOf<N>, Refusal> }> = {
    "branch.listRests": () => ok({ rests: [] }),
    "branch.find": ({ branch }) => found(branch),
    "branch.list": () => ok({ branches: [...heads.keys()] }),
    "branch.findStart": ({ target }) => no(notFound("branch", target)),
    "branch.listChanges": () => ok({ files: ["a.ts"] }),
    "branch.listMovedFiles": ({ other }) =>
      ok({ files: ["a.ts"], otherDiffers: other !== undefined && !made.gone.has(other) }),
    "branch.listStaleSubmodules": () => ok({ stale: [] }),
    "merge.predict": ({ candidates }) =>
      ok({ predictions: candidates.map(() => ({ ...cleanly, gatesLikely: ["Tests"] })) }),
    "merge.listLost": () => ok({ lost: [] }),
    "file.read": ({ path }) => ok({ path, text: path.endsWith("gone.log") ? undefined : "one\n\u001b[2Jtwo\n" }),
    "merge.showPatch": ({ branch }) => ok({ patch: `patch of ${branch}\n` }),
  };
  const until = async <T>(ask: () => Promise<T | undefined>): Promise<T> => {
    for (let round = 0; round < 5; round++) {
      const answer = await ask();
      if (answer !== undefined) return answer;
      if (made.engine === undefined) throw new Error("it waits, and nothing would ever happen");
      await made.engine();
    }
    throw new Error("it waits for ever");
  };
  const app = {
    version: "0",
    notices: async () => [],
    call: async (name: OperationName, request: unknown) => {
      const played = git[name] as ((request: unknown) => unknown) | undefined;
      if (played !== undefined) return played(request);
      const operation = await operationOf(name);
      if (isUseCase(operation)) return world.call(operation, request, { caller });
      return app.follow(name as StreamName, request as never);
    },
    engine: { status: () => undefined },
    follow: async (name: OperationName, request: unknown, listener: Partial<Listener<unknown>> = {}) => {
      const operation = await operationOf(name);
      if (isUseCase(operation)) throw new Error(`${name} tells nothing while it runs`);
      const requireOperator = async () => undefined;
      const git = { commitOf: async () => undefined } as unknown as AheadGit;
      const played = worldWith({ call: app.call, until, requireOperator, lookAhead: (look) => look(git) });
      return runEffect(played, { name, operation, request }, listener);
    },
  } as unknown as App;
  const run: Desk["run"] = async (...argv) => {
    const texts = { out: "", err: "" };
    const sink = (to: "out" | "err"): Sink => ({
      write: (text) => {
        texts[to] += text;
        return "written";
      },
      isTTY: () => false,
      isPipe: () => false,
      columns: () => undefined,
    });
    const io = {
      stdout: sink("out"),
      stderr: sink("err"),
      stdin: async () => undefined,
      confirm: async () => made.answer,
    };
    const exit = await runCli({ argv, env: {}, tree, version: "0", makeApp: () => app, ...io });
    return { exit, ...texts };
  };
  const made: Desk = {
    run,
    json: async (...argv) => {
      const { exit, out } = await run(...argv, "--json");
      expect(out.trim().split("\n")).toHaveLength(1);
      return { exit, document: JSON.parse(out) };
    },
    engine: undefined,
    answer: undefined,
    heads,
    gone: world.gone,
  };
  return made;
}

/** The prediction for a branch without conflicts. */
export const cleanly = {
  predictedTier: "clean-merge",
  conflictFiles: [],
  wouldRequireAgent: false,
  reason: "merges without conflicts",
  strategy: null,
  cause: null,
} as const;

/** Plays an engine that lands the approved entries. */
export const lands = (world: MergeWorld, ...ids: readonly number[]): (() => Promise<void>) =>
  landsOn(world, "main", ...ids);

/** Plays an engine that lands the approved entries on this branch. */
export const landsOn =
  (world: MergeWorld, landing: string, ...ids: readonly number[]) =>
  (): Promise<void> =>
    world.asEngine(async (tx, context) => {
      const entries: MergeEntry[] = (await tx.merges.list({ statuses: ["pending"] })).filter(
        ({ id, approval }) => approval !== "waiting" && (ids.length === 0 || ids.includes(id)),
      );
      if (entries.length === 0) return;
      const queueIds = entries.map(({ id }) => id);
      const op = await newOp(tx, context, { kind: "land", ref: `refs/heads/${landing}`, queueIds });
      await landed(tx, context, {
        opId: op.id,
        entries: entries.map((entry) => ({
          entry,
          tier: "clean-merge",
          strategy: null,
          verdict: "verified",
          commit: `result-${entry.id}`,
        })),
      });
      await tx.mergeOps.settle(op.id, {
        status: "done",
        beforeCommit: "m0",
        afterCommit: "m1",
        updatedAt: context.now,
      });
    });

/** Plays an engine that finds a conflict in every entry. */
export const conflicts =
  (world: MergeWorld): (() => Promise<void>) =>
  () =>
    world.asEngine(async (tx, context) => {
      for (const entry of await tx.merges.list({ statuses: ["pending"] })) {
        const detail = { message: "a.ts: both sides changed one line", files: ["a.ts"] };
        await rejected(tx, context, entry, { status: "conflict", cause: "conflict", detail });
      }
    });
