import { expect, test } from "bun:test";
import { gitMergeWorld } from "../../../testkit/git-merge-world.ts";
import { mergeWorld } from "../../../testkit/merge-queue-world.ts";
import { worldWith } from "../../../testkit/world.ts";
import { isUseCase, type OperationName, operationOf } from "../catalog.ts";
import { enqueueBranch } from "./queue/enqueue.ts";
import { settleConflicts } from "./settle-conflicts.ts";

test("conflicts of a branch that was queued anew since are not settled under its old number", async () => {
  await using world = await mergeWorld();
  using repo = gitMergeWorld({ files: { "a.txt": "old\n" } });
  const write = (text: string) => () => repo.write(repo.root, "a.txt", text);
  const head = repo.branch("work", write("of work\n"));
  const onto = repo.branch("main", write("of main\n"));
  const asked = { branch: "work", targetBranch: "main", taskId: null, agentName: null, runId: "run-2" } as const;
  const queue = (headCommit: string) =>
    world.asEngine((tx, context) =>
      enqueueBranch(tx, context, {
        ...asked,
        headCommit,
        filesModified: [],
        source: "mail",
        enqueuedBy: "b1",
        asker: "operator",
      }),
    );
  const { entry } = await queue(head);
  await world.store.transaction((tx) => tx.merges.change(entry.id, ["pending"], { status: "conflict" }));
  const settle = () =>
    settleConflicts.run(
      worldWith({
        call: (async (name: OperationName, request: unknown) => {
          const operation = await operationOf(name);
          if (!isUseCase(operation)) throw new Error(`${name} is played by nobody`);
          return world.call(operation, request);
        }) as never,
        settlingGit: async () => ({ ...repo.merging, resolve: async () => ({ kind: "escalate", reason: "no rule" }) }),
      }),
      { of: String(entry.id), onto, head, files: [{ path: "a.txt", content: "of both\n" }] },
    );
  const { entry: newer } = await queue(repo.branch("work", write("mended\n")));
  expect(await settle()).toMatchObject({ refusal: { kind: "merge-queued", entry: entry.id, instead: newer.id } });
  expect(await world.entries()).toMatchObject([{ status: "conflict" }, { id: newer.id, status: "pending" }]);
  await world.store.transaction((tx) => tx.merges.change(newer.id, ["pending"], { status: "cancelled" }));
  expect(await settle()).toMatchObject({ value: { entry: { branch: "work", status: "pending" } } });
});
