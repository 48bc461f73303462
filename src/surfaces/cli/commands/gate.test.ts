import { expect, test } from "bun:test";
import { desk } from "../../../../testkit/merge-desk.ts";
import { builderBranch, mergeWorld } from "../../../../testkit/merge-queue-world.ts";
import type { GateResult, Receipt } from "../../../domain/gate/gate.ts";
import { type MergeEntry, mergeRef } from "../../../domain/merge/entry.ts";

test("gates: results, their output with control bytes made visible, and the evidence of a landing", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  expect((await ov.run("gate", "list")).out).toContain("No gate has run yet.");
  const entry = await world.announce();
  await world.store.transaction(async (tx) => {
    await tx.gates.add(aResult("g-1", { logPath: "/logs/tests.log" }));
    await tx.gates.add(aResult("g-2", { gate: "Lint", status: "failed", exitCode: 1, logPath: "/logs/gone.log" }));
    await tx.receipts.add(aReceipt("rc-1", entry));
  });
  expect((await ov.json("gate", "list", "--gate", "Lint")).document.results).toMatchObject([
    { id: "g-2", exitCode: 1 },
  ]);
  expect((await ov.run("gate", "log", "g-1")).out).toBe("one\n\\u{1b}[2Jtwo\n");
  expect(await ov.json("gate", "log", "g-2")).toMatchObject({ exit: 7, document: { success: false, log: null } });
  expect((await ov.json("gate", "log", "none")).exit).toBe(7);
  for (const of of ["rc-1", String(entry.id), builderBranch]) {
    const { out } = await ov.run("gate", "show", of);
    for (const part of [
      "verified with gaps",
      "base-1",
      "head-1",
      "tree-1",
      "npm test",
      "exit 0",
      "node_modules",
      "d1",
    ]) {
      expect({ of, out }).toEqual({ of, out: expect.stringContaining(part) });
    }
  }
});

const aResult = (id: string, facts: Partial<GateResult>): GateResult => ({
  id,
  tree: "tree-1",
  gate: "Tests",
  command: "npm test",
  gateHash: "h1",
  status: "passed",
  exitCode: 0,
  durationMs: 1500,
  logPath: "",
  logDigest: "d1",
  flaky: false,
  kept: ["node_modules"],
  createdAt: 1,
  ...facts,
});

const aReceipt = (id: string, entry: MergeEntry): Receipt => ({
  id,
  kind: "landing",
  subject: mergeRef(entry.id),
  baseCommit: "base-1",
  headCommit: "head-1",
  tree: "tree-1",
  verdict: "verified_with_gaps",
  results: ["g-1"],
  gaps: ["Lint was left out"],
  createdAt: 2,
});
