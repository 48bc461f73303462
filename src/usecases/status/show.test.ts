import { expect, test } from "bun:test";
import { activeRun } from "../../../testkit/use-case.ts";
import { ok } from "../../domain/result.ts";
import type { ProjectFiles } from "../../ports/project-files.ts";
import type { World } from "../operation.ts";
import { type Overview, overview } from "./overview.ts";
import { showStatus } from "./show.ts";

/** Two landing branches with work that waits, and commits of main that neither could take in. */
async function startsShown(active: readonly string[]): Promise<readonly unknown[]> {
  const runs = active.map((id) => ({ ...activeRun(id, 1), landingBranch: `overstory/integration/${id}` }));
  const landed = { target: "main", landings: 1, takenOut: 0, notTakenIn: 7, unverified: [] };
  const unpromoted = ["run-1", "run-2"].map((id) => {
    const landing = `overstory/integration/${id}`;
    const openRuns = runs.filter(({ landingBranch }) => landingBranch === landing).map((run) => run.id);
    return { ...landed, runId: id, landing, openRuns };
  });
  const call = async (name: string, request: { readonly runId?: string | null }) => {
    if (name === "status.overview") return ok({ run: runs[0] ?? null, otherRuns: [], unpromoted });
    // A run that is there goes on where it lands; a new one where the newest work waits.
    const branch = `overstory/integration/${request.runId ?? "run-2"}`;
    return ok({ branch, target: "main", missing: 2, missingCommits: "failed", failedMerge: 7, promoted: [] });
  };
  const shown = await showStatus.run({ call, fullDisk: () => undefined } as unknown as World, {
    all: false,
    mailbox: "operator",
  });
  return shown.ok ? shown.value.starts.map(({ branch, runs: of }) => [branch.split("/").at(-1), of]) : [];
}

test("commits that a landing branch lacks are told of active runs, else of the place where the next run starts", async () => {
  expect(await startsShown(["run-2"])).toEqual([["run-2", ["run-2"]]]);
  expect(await startsShown(["run-1", "run-2"])).toEqual([
    ["run-1", ["run-1"]],
    ["run-2", ["run-2"]],
  ]);
  expect(await startsShown([])).toEqual([["run-2", []]]);
});

test("nothing waits of a branch that was taken out again where the target lost its promotion", async () => {
  const landed = {
    landing: "l",
    target: "main",
    runId: "run-1",
    openRuns: [],
    landings: 0,
    takenOut: 1,
    promoted: "p1",
  };
  const waiting = async (has: boolean) => {
    const git = { commitOf: async (name: string) => name, contains: async () => has };
    const world = {
      call: async (name: string) =>
        ok(name === "status.overview" ? { run: null, unpromoted: [landed] } : { branch: "main", promoted: [] }),
      lookAhead: (look: (ahead: unknown) => unknown) => look(git),
      fullDisk: () => undefined,
    } as unknown as World;
    const shown = await showStatus.run(world, { all: false, mailbox: "operator" });
    return shown.ok ? shown.value.unpromoted : undefined;
  };
  expect(await waiting(true)).toEqual([landed] as never);
  expect(await waiting(false)).toEqual([]);
});

test("the missing target of each place where active runs land is told once, with the run to name", async () => {
  const run = (id: string, targetBranch: string, landingBranch: string | null) => ({
    ...activeRun(id, 1),
    targetBranch,
    landingBranch,
  });
  const found = {
    run: run("run-4", "main", "l-4"),
    otherRuns: [run("run-3", "gone", "l-3"), run("run-2", "gone", "l-3"), run("run-1", "old", null)].map((other) => ({
      run: other,
    })),
    unpromoted: [
      { landing: "l-3", target: "gone", runId: "run-2", landings: 1 },
      { landing: "l-0", target: "gone", runId: "run-0", landings: 1 },
    ],
  } as unknown as Overview;
  const files = { lacksBranch: (branch: string) => branch !== "main" } as unknown as ProjectFiles;
  expect(await overview.finish?.(files, found)).toMatchObject({
    value: {
      missingTargets: [
        { target: "gone", runId: "run-3" },
        { target: "old", runId: "run-1" },
        { target: "gone", runId: "run-0" },
      ],
    },
  });
});
