import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { eventsOf, moveClock, slingNew, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

const dayMs = 24 * 60 * 60_000;

/** An engine that starts at this time has made its round. */
async function roundAt(project: TestProject, offsetMs: number): Promise<void> {
  await moveClock(project, offsetMs);
  await project.until("the engine had left", async () => project.processes().length === 0);
}

const filesIn = ({ root }: TestProject, ...path: string[]): string[] => {
  const dir = statePath(root, ...path);
  return existsSync(dir) ? readdirSync(dir) : [];
};

interface Facts {
  readonly attempts: number;
  readonly receipts: string[];
  readonly statuses: string[];
  readonly logs: boolean;
  readonly specs: number;
}

test("what gates left goes with merge.keepReceiptsDays, merge.keepLogsDays and merge.keepAttemptsDays, except what the landing rests on, which can still be undone", async () => {
  await using project = await makeProject({
    gates: ["test ! -e red"],
    config: "merge:\n  keepReceiptsDays: 5\n  keepLogsDays: 5\n  keepAttemptsDays: 7\nsnapshot:\n  retentionDays: 3\n",
    scenario: `
- do:
    - edit: { file: a.txt, write: "a\\n" }
    - commit: work
    - ov: [done, --summary, Done]
`,
  });
  await project.json("spec", "write", "S1", "--body", "first");
  await project.json("spec", "write", "S1", "--body", "second");
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  await project.json("merge", "--branch", "overstory/b1/B1");
  await project.until(
    "it had landed",
    async () => (await project.read((tx) => tx.merges.list({})))[0]?.status === "merged",
  );
  await project.git("branch", "red");
  await project.git("worktree", "add", "--quiet", join(project.home, "red"), "red");
  await Bun.write(join(project.home, "red", "red"), "");
  await project.git("-C", join(project.home, "red"), "add", "red");
  await project.git("-C", join(project.home, "red"), "commit", "--quiet", "-m", "red");
  expect((await project.ov("gate", "run", "red")).code).toBe(5);
  await project.settled();
  const facts = async (): Promise<Facts> => ({
    receipts: (
      await project.read(async (tx) => [...(await tx.receipts.about("merge:1")), ...(await tx.receipts.about("red"))])
    ).map(({ kind }) => kind),
    statuses: (await project.read((tx) => tx.gates.recent(9))).map(({ status }) => status),
    attempts: (await project.read((tx) => tx.mergeAttempts.of(1))).length,
    logs: filesIn(project, "logs", "merge").length > 0,
    specs: filesIn(project, "specs", ".content").length,
  });
  const whole = { receipts: ["landing", "check"], statuses: ["failed", "passed"], logs: true, attempts: 1, specs: 2 };
  expect(await facts()).toEqual(whole);

  await roundAt(project, 2 * dayMs);
  expect(await facts()).toEqual(whole);
  await roundAt(project, 4 * dayMs);
  expect(await facts()).toEqual({ ...whole, specs: 1 });
  await roundAt(project, 6 * dayMs);
  const rest = { receipts: ["landing"], statuses: ["passed"], logs: false, attempts: 1, specs: 1 };
  expect(await facts()).toEqual(rest);
  await roundAt(project, 8 * dayMs);
  expect(await facts()).toEqual({ ...rest, attempts: 0 });
  expect(await project.json("spec", "read", "S1")).toMatchObject({ text: "second\n" });
  const pruned = await eventsOf(project, "old_pruned");
  expect(pruned.map(({ data }) => JSON.parse(data ?? "{}").removed)).toContainEqual(
    expect.objectContaining({ checks: 2, receipts: 2, "gate results": 1 }),
  );
  expect(await project.json("gate", "show", "1")).toMatchObject({
    receipt: { kind: "landing" },
    results: [{ status: "passed" }],
  });
  expect(await project.json("merge", "undo", "1", "--yes")).toMatchObject({ success: true });
}, 240_000);
