import { expect, test } from "bun:test";
import { gitMergeWorld } from "../../../testkit/git-merge-world.ts";
import { landingWorld } from "../../../testkit/landing-world.ts";
import { mergeWorld } from "../../../testkit/merge-queue-world.ts";
import { lookAheadIn, worldWith } from "../../../testkit/world.ts";
import { ok } from "../../domain/result.ts";
import { isUseCase, type OperationName, operationOf } from "../catalog.ts";
import { enqueueBranch } from "./queue/enqueue.ts";
import { settleConflicts } from "./settle-conflicts.ts";
import { showConflicts } from "./show-conflicts.ts";

/** A branch with a conflict, in the queue with this commit. */
async function conflictWorld() {
  const world = await mergeWorld();
  const repo = gitMergeWorld({ files: { "a.txt": "old\n" } });
  const commit = (branch: string, text: string) => repo.branch(branch, () => repo.write(repo.root, "a.txt", text));
  const head = commit("work", "of work\n");
  const onto = commit("main", "of main\n");
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
  return {
    world,
    repo,
    entry,
    head,
    commit,
    queue,
    settle,
    [Symbol.asyncDispose]: async () => {
      repo[Symbol.dispose]();
      await world[Symbol.asyncDispose]();
    },
  };
}

test("conflicts of a branch that was queued anew since are not settled under its old number", async () => {
  await using made = await conflictWorld();
  const { world, repo, entry, head, commit, queue, settle } = made;
  const { entry: newer } = await queue(commit("work", "mended\n"));
  repo.git(repo.root, "update-ref", "refs/heads/work", head);
  expect(await settle()).toMatchObject({ refusal: { kind: "merge-queued", entry: entry.id, instead: newer.id } });
  expect(await world.entries()).toMatchObject([{ status: "conflict" }, { id: newer.id, status: "pending" }]);
  await world.store.transaction((tx) => tx.merges.change(newer.id, ["pending"], { status: "cancelled" }));
  expect(await settle()).toMatchObject({ value: { entry: { branch: "work", status: "pending" } } });
});

test("conflicts are settled neither past newer commits of the branch nor with commits that it has dropped", async () => {
  await using made = await conflictWorld();
  const { world, repo, head, commit, settle } = made;
  const refused = { refusal: { kind: "invalid", field: "branch", allowed: ["ov merge --branch work"] } };
  commit("work", "newer\n");
  expect(await settle()).toMatchObject(refused);
  repo.git(repo.root, "update-ref", "refs/heads/work", `${head}~1`);
  expect(await settle()).toMatchObject(refused);
  expect(await world.entries()).toMatchObject([{ status: "conflict", headCommit: head }]);
  expect(repo.tip("work")).toBe(repo.tip(`${head}~1`));
});

test.each(["checked out", "checked out nowhere"])(
  "conflicts of a target's own commits are settled on the target alone: the target is %s",
  async (place) => {
    await using world = await landingWorld({ files: { "a.txt": "old\n" }, gates: ["! grep -q bad a.txt"] });
    const commit = (branch: string, text: string) => world.branch(branch, () => world.write(world.root, "a.txt", text));
    commit("a", "of a\n");
    await world.enqueue("a");
    await world.work();
    const head = commit("main", "of main\n");
    expect(await world.promote()).toMatchObject({ status: "dropped" });
    const [entry] = (await world.store.read((tx) => tx.merges.list({ branch: "main" }))).slice(-1);
    if (place !== "checked out") world.git(world.root, "checkout", "--quiet", "--detach");
    const answers = worldWith({
      call: (async (name: OperationName, request: unknown) => {
        const operation = await operationOf(name);
        if (!isUseCase(operation)) throw new Error(`${name} is played by nobody`);
        return ok(await world.call(operation as never, request as never));
      }) as never,
      settlingGit: async () => ({ ...world.merging, resolve: async () => ({ kind: "escalate", reason: "no rule" }) }),
      lookAhead: lookAheadIn(world.root),
    });
    const of = String(entry?.id);
    const shown = await showConflicts.run(answers, { of });
    expect(shown).toMatchObject({ value: { outlook: "conflicts", head, files: [{ path: "a.txt", canTake: false }] } });
    const onto = shown.ok ? (shown.value.onto ?? "") : "";
    const files = [{ path: "a.txt", content: "bad of both\n" }];
    const refused = await settleConflicts.run(answers, { of, onto, head, files });
    expect(refused).toMatchObject({ refusal: { kind: "invalid", problem: expect.stringContaining("git merge --ff") } });
    await world.work();
    expect(world.tip("main")).toBe(head);
    // The steps that are shown instead lead to the end.
    const steps = shown.ok ? shown.value.byHand.steps.map(({ command }) => command) : [];
    const typed = steps.map((one) => (one.startsWith("git merge") ? `${one} || printf 'of both\\n' > a.txt` : one));
    const done = Bun.spawnSync({ cmd: ["sh", "-ec", typed.join("\n")], cwd: world.root, env: person });
    expect([done.exitCode, done.stderr.toString()]).toEqual([0, expect.any(String)]);
    expect(await world.promote()).toMatchObject({ status: "done", problem: null });
    expect(world.show("main", "a.txt")).toBe("of both");
  },
  60_000,
);

const person = {
  PATH: process.env.PATH ?? "",
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.invalid",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.invalid",
};
