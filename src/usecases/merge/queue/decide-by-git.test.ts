import { expect, test } from "bun:test";
import { gitMergeWorld } from "../../../../testkit/git-merge-world.ts";
import { mergeWorld } from "../../../../testkit/merge-queue-world.ts";
import { lookAheadIn } from "../../../../testkit/world.ts";
import type { Asker } from "../../../domain/merge/entry.ts";
import { settledSubject } from "../../../domain/merge/words.ts";
import { ok } from "../../../domain/result.ts";
import type { World } from "../../operation.ts";
import { showMerge } from "../read-merges.ts";
import { addMerge, previewMerge } from "./add-entry.ts";
import { approveBranches, retryBranch } from "./decide-by-git.ts";
import { approveMerge, retryMerge } from "./decide-entry.ts";
import { enqueueBranch, moveEntry, type NewMerge } from "./enqueue.ts";

const [first, second] = ["1".repeat(40), "2".repeat(40)] as const;

const queued = (branch: string, headCommit: string, targetBranch: string, asker: Asker): NewMerge => ({
  branch,
  headCommit,
  targetBranch,
  taskId: null,
  agentName: null,
  runId: "run-2",
  filesModified: [],
  source: "mail",
  enqueuedBy: "b1",
  asker,
});

test("an approval of all branches covers those that were looked at, and none that is announced meanwhile", async () => {
  await using world = await mergeWorld();
  await world.asEngine((tx, context) => enqueueBranch(tx, context, queued("seen", first, "main", "other")));
  const answers: Record<string, (request: never) => Promise<unknown>> = {
    "merge.recordApproval": (request) => world.must(approveMerge, request),
    "branch.listRests": async () => ({ rests: [] }),
    // While git is asked, an agent announces another branch.
    "branch.find": async () => {
      await world.asEngine((tx, context) => enqueueBranch(tx, context, queued("unseen", second, "main", "other")));
      return { commit: first };
    },
  };
  const call = async (name: string, request: never) => ok(await answers[name]?.(request));
  const reply = await approveBranches.run({ call } as unknown as World, { all: true });
  expect(reply).toMatchObject(ok({ approved: [{ branch: "seen", approval: "operator" }] }));
  const stored = (await world.entries()).map(({ branch, approval }) => [branch, approval]);
  expect(stored).toEqual([
    ["seen", "operator"],
    ["unseen", "waiting"],
  ]);
});

test("a retry takes what a person settled on top of a branch, and never a commit that the branch dropped", async () => {
  using repo = gitMergeWorld();
  const write = (text: string) => () => repo.write(repo.root, "a.txt", text);
  const good = repo.branch("work", write("good\n"));
  const bad = repo.branch("work", write("bad\n"));
  const tree = await repo.merging.treeOf(good);
  const message = `${settledSubject("work", "main")}\n`;
  const settled = await repo.merging.commit({ tree, parents: [good, repo.tip("main")], message });
  const retried = async (queuedCommit: string, tip: string) => {
    await using world = await mergeWorld();
    await world.asEngine((tx, context) => enqueueBranch(tx, context, queued("work", queuedCommit, "main", "operator")));
    await world.store.transaction((tx) => tx.merges.change(1, ["pending"], { status: "failed" }));
    const answers: Record<string, (request: never) => Promise<unknown>> = {
      "merge.readEntry": (request) => world.must(showMerge, request),
      "merge.preview": (request) => world.must(previewMerge, request),
      "merge.add": (request) => world.must(addMerge, request),
      "merge.recordRetry": (request) => world.must(retryMerge, request),
      "branch.find": async ({ branch }: { branch: string }) => ({ commit: branch === "work" ? tip : first }),
      "branch.listChanges": async () => ({ files: ["a.txt"] }),
    };
    const call = async (name: string, request: never) => ok(await answers[name]?.(request));
    const effects = { call, lookAhead: lookAheadIn(repo.root) } as unknown as World;
    const reply = await retryBranch.run(effects, { of: "1" });
    return reply.ok ? [reply.value.entry.headCommit, reply.value.isNewer] : reply.refusal;
  };
  expect(await retried(bad, good)).toEqual([good, true]);
  expect(await retried(settled, good)).toEqual([settled, false]);
  expect(await retried(good, bad)).toEqual([bad, true]);
  // Git has deleted the queued commit.
  expect(await retried(second, good)).toEqual([good, true]);
});

for (const { announced, approval, title } of [
  { announced: second, approval: "waiting", title: "a newer commit of the branch waits for its own approval" },
  { announced: first, approval: "operator", title: "the same commit keeps its approval" },
] as const) {
  test(`when an entry moves to the landing branch, ${title}`, async () => {
    await using world = await mergeWorld();
    const landing = "overstory/integration/run-2";
    await world.asEngine((tx, context) => enqueueBranch(tx, context, queued("work", first, "main", "operator")));
    await world.asEngine((tx, context) => enqueueBranch(tx, context, queued("work", announced, landing, "other")));
    const [older] = await world.entries();
    if (older === undefined) throw new Error("the branch is not in the queue");
    await world.asEngine((tx, context) => moveEntry(tx, context, older, landing));
    expect(await world.entries()).toMatchObject([
      { headCommit: first, status: "superseded" },
      { headCommit: announced, status: "pending", approval, targetBranch: landing },
    ]);
    const asked = (await world.mailOf("operator", "decision_gate")).length;
    expect(asked).toBe(1);
  });
}
