import { expect } from "bun:test";
import type { StoredCheck } from "../../../src/domain/completion/check.ts";
import { doneRequest } from "../../done-request.ts";
import type { Check } from "./database.ts";
import { noon } from "./rows.ts";

const done = doneRequest({ summary: "ünïcode" });

export const aCheck = (id: string, change: Partial<StoredCheck> = {}): Omit<StoredCheck, "seq"> => ({
  id,
  kind: "completion",
  agentId: "b1-1",
  agentName: "b1",
  refName: "overstory/b1/T1",
  commitId: null,
  status: "queued",
  request: { kind: "completion", done },
  progress: null,
  verdict: null,
  receiptId: null,
  problem: [],
  attempts: 0,
  requestedBy: "b1",
  createdAt: noon,
  updatedAt: noon,
  ...change,
});

export function checkPromises(check: Check): void {
  check("checks are taken in the order in which they were asked for", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.checks.insert(aCheck("z"));
      await tx.checks.insert(aCheck("a", { kind: "verify", request: { kind: "verify", receiptId: "r" } }));
      await tx.checks.insert(aCheck("m", { status: "running" }));
      await tx.checks.insert(aCheck("d", { status: "done", verdict: "verified", commitId: "c1" }));
    });
    const ids = (rows: readonly StoredCheck[]) => rows.map(({ id }) => id);
    expect(ids(await store.read((tx) => tx.checks.queued()))).toEqual(["z", "a"]);
    expect(ids(await store.read((tx) => tx.checks.running()))).toEqual(["m"]);
    expect(ids(await store.read((tx) => tx.checks.completionsOf("b1-1")))).toEqual(["z", "m", "d"]);
    expect(await store.read((tx) => tx.checks.completionsOf("b1-2"))).toEqual([]);
    expect(await store.read((tx) => tx.checks.get("z"))).toMatchObject(aCheck("z"));
    expect(await store.read((tx) => tx.checks.get("none"))).toBeUndefined();
  });

  check("a check is changed only by whoever knows its status, and is work until it is answered", async ({ store }) => {
    const problem = [{ kind: "gate", message: "red", fix: "mend it", logTail: "x\ny" }] as const;
    await store.transaction((tx) => tx.checks.insert(aCheck("c1")));
    const change = (from: StoredCheck["status"], to: Partial<StoredCheck>) =>
      store.transaction((tx) => tx.checks.change("c1", [from], to));
    expect(await change("running", { status: "done" })).toBe(false);
    expect(await change("queued", { status: "running", attempts: 1 })).toBe(true);
    const due = (agentId?: string) => store.read((tx) => tx.checks.dueWork(agentId));
    expect([await due(), await due("b1-1"), await due("b2-1")]).toEqual([true, true, false]);
    expect(await change("running", { status: "failed", problem, updatedAt: noon + 1 })).toBe(true);
    expect([await due(), await due("b1-1")]).toEqual([false, false]);
    expect(await store.read((tx) => tx.checks.get("c1"))).toMatchObject({ attempts: 1, problem, updatedAt: noon + 1 });
  });

  check("answered checks are found by when, newest first, and only they can be removed", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.checks.insert(aCheck("a", { status: "done" }));
      await tx.checks.insert(aCheck("b", { status: "failed" }));
      await tx.checks.insert(aCheck("c", { status: "running" }));
      await tx.checks.insert(aCheck("d", { status: "queued" }));
      await tx.checks.insert(aCheck("e", { status: "done", updatedAt: noon + 1 }));
    });
    const answered = async (at: number, id: string, most = 9) =>
      (await store.read((tx) => tx.checks.answered({ at, id }, most))).map((one) => one.id);
    expect(await answered(noon + 1, "")).toEqual(["b", "a"]);
    expect(await answered(noon + 2, "", 2)).toEqual(["e", "b"]);
    expect(await answered(noon, "b")).toEqual(["a"]);
    expect(await store.transaction((tx) => tx.checks.remove(["a", "c", "d", "none"]))).toBe(1);
    expect(await answered(noon + 2, "")).toEqual(["e", "b"]);
    expect((await store.read((tx) => tx.checks.running())).map(({ id }) => id)).toEqual(["c"]);
  });
}
