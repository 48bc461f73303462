import { expect, test } from "bun:test";
import { cleanly, conflicts, desk } from "../../../../testkit/merge-desk.ts";
import { builderBranch, mergeWorld } from "../../../../testkit/merge-queue-world.ts";
import { askAbout } from "../../../usecases/merge/queue/approval.ts";
import { blocked } from "../../../usecases/merge/queue/settle-entry.ts";

test("a branch that waits for approval says so everywhere, with the command to type", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const ov = desk(world);
  const { id } = await world.announce();
  const approve = `ov merge approve ${id}`;
  for (const line of [["merge", "list"], ["merge", "show", String(id)], ["merge", "plan"], ["status"], ["run"]]) {
    const { out } = await ov.run(...line);
    expect({ line, out }).toEqual({ line, out: expect.stringContaining(approve) });
  }
  for (const line of [
    ["merge", "list"],
    ["merge", "show", builderBranch],
  ]) {
    const { out } = await ov.run(...line);
    expect({ line, out }).toEqual({ line, out: expect.stringContaining("unverified") });
  }
  const { document } = await ov.json("status");
  expect(document).toMatchObject({
    mergeQueueCount: 1,
    needsOperator: true,
    merges: { pending: 1, waitingForApproval: [id], failed: [] },
  });
  expect((await ov.json("run")).document.run).toMatchObject({ status: "needs operator" });
  expect(await ov.json("merge", "approve", String(id))).toMatchObject({ exit: 0, document: { count: 1 } });
  expect((await ov.json("status")).document).toMatchObject({ needsOperator: false });
  await conflicts(world)();
  expect((await ov.json("status")).document).toMatchObject({ merges: { pending: 0, failed: [id] } });
});

test("a blocked merge is named with its reason and the command to type, and needs the operator", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  const { id } = await world.announce();
  await world.asEngine(async (tx, context) => {
    const [entry] = await tx.merges.list({});
    const detail = { message: "the commit could not be signed" };
    if (entry !== undefined) await blocked(tx, context, entry, { cause: "git_error", detail, notBefore: 1 });
  });
  const { out } = await ov.run("status");
  expect(out).toContain("1 blocked");
  expect(out).toContain(`merge ${id} of ${builderBranch} is blocked: git failed: the commit could not be signed`);
  expect(out).toContain(`ov merge resume ${id}`);
  expect((await ov.run("run")).out).toContain(`ov merge resume ${id}`);
  expect((await ov.json("status")).document).toMatchObject({ needsOperator: true, merges: { blocked: [{ id }] } });
});

test("a merge with which git fails again and again needs the operator too, in the status and in the inbox", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  const { id } = await world.announce();
  const failed = { cause: "git_error", causeDetail: { message: "empty filename in tree entry" } } as const;
  await world.asEngine((tx) => tx.merges.change(id, ["pending"], failed));
  const words = `merge ${id} of ${builderBranch} is blocked: git failed: empty filename in tree entry`;
  for (const command of ["status", "inbox"]) {
    const { out } = await ov.run(command);
    expect(out).toContain(words);
    expect(out).toContain(`ov merge cancel ${id}`);
  }
  expect((await ov.json("status")).document).toMatchObject({ needsOperator: true });
  expect((await ov.json("inbox")).document).toMatchObject({ blocked: [{ id }] });
});

test("what the operator is asked about stands in the list, and in the answer to the approval", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const ov = desk(world);
  const { id } = await world.announce();
  await world.asEngine(async (tx, context) => {
    const [entry] = await tx.merges.list({});
    const doubt = { why: ["it changes CLAUDE.md"], files: ["CLAUDE.md"], difference: "-a\n+b\n" };
    if (entry !== undefined) await askAbout(tx, context, entry, doubt);
  });
  expect((await ov.run("merge", "list")).out).toContain("waits for approval: it changes CLAUDE.md");
  expect((await ov.run("merge", "approve", String(id))).out).toContain("it changes CLAUDE.md");
});

test("where a person says when, a branch that its parent approved says what it waits for", async () => {
  await using world = await mergeWorld({ mode: "manual" });
  const { id } = await world.announce();
  expect((await desk(world).run("merge", "list")).out).toContain(`waits until you say when: ov merge approve ${id}`);
});

test("the plan is the order of landing, and says what is not ready and why", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  const one = await world.announce();
  await ov.json("merge", "add", "feature", "--priority", "0");
  const { document } = await ov.json("merge", "plan");
  expect(document.entries).toMatchObject([{ id: one.id, prediction: cleanly }]);
  expect(document.waiting).toMatchObject([
    { branchName: "feature", priority: 0, why: "it waits for the operator's approval" },
  ]);
});

test("an agent may not approve", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const { id } = await world.announce();
  const answer = await world.callAs("lead-1", "merge.recordApproval", { of: String(id) });
  expect(answer).toMatchObject({ ok: false, refusal: { kind: "not-allowed" } });
});

test("reject, cancel, retry and resume tell the new status", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  const { id } = await world.announce();
  const status = async (...argv: string[]) => {
    const { exit, document } = await ov.json("merge", ...argv);
    return exit === 0 ? (document.entry as { status: string }).status : exit;
  };
  expect(await status("reject", String(id))).toBe(2);
  expect(await status("reject", builderBranch, "--reason", "not like this")).toBe("failed");
  expect(await status("retry", String(id))).toBe("pending");
  expect(await status("resume", String(id))).toBe(2);
  expect(await status("cancel", `#${id}`)).toBe("cancelled");
  expect(await status("show", "99")).toBe(7);
});

test("an approval of an entry without a commit puts the commit on record, and asks again", async () => {
  await using world = await mergeWorld();
  const { id } = await world.announce({ branch: "feature" });
  expect(await world.entries()).toMatchObject([{ headCommit: "", approval: "waiting" }]);
  const table = desk(world);
  for (const flags of [[], ["--leave-rest"]]) {
    await world.store.transaction((tx) => tx.merges.change(id, ["pending"], { headCommit: "" }));
    const refused = await table.run("merge", "approve", "feature", ...flags);
    expect(refused).toMatchObject({ exit: 2, err: expect.stringContaining("had no commit on record") });
    expect(await world.entries()).toMatchObject([{ headCommit: "f1", approval: "waiting" }]);
  }
  const approved = await table.run("merge", "approve", "feature");
  expect(approved).toMatchObject({ exit: 0, out: expect.stringContaining("feature at f1") });
  expect(await world.entries()).toMatchObject([{ headCommit: "f1", approval: "operator" }]);
});

test("a merge that does not exist is not found, whether a number, a branch or another word was typed", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const ov = desk(world);
  for (const of of ["99", "one", "overstory/x/y"]) {
    for (const line of [
      ["approve", of],
      ["reject", of, "--reason", "r"],
      ["show", of],
    ]) {
      expect([line, (await ov.json("merge", ...line)).exit]).toEqual([line, 7]);
    }
  }
});
