import { expect } from "bun:test";
import type { GateResult, Receipt } from "../../../src/domain/gate/gate.ts";
import type { Check } from "./database.ts";
import { anAgent, noon, seed } from "./rows.ts";

export const aResult = (id: string, change: Partial<GateResult> = {}): GateResult => ({
  id,
  tree: "tree-1",
  gate: "Tests",
  command: "npm test",
  gateHash: "hash-1",
  status: "passed",
  exitCode: 0,
  durationMs: 12,
  logPath: "/logs/1",
  logDigest: "digest",
  flaky: false,
  kept: ["node_modules"],
  createdAt: noon,
  ...change,
});

export const aReceipt = (id: string, change: Partial<Receipt> = {}): Receipt => ({
  id,
  kind: "landing",
  subject: "merge:1",
  baseCommit: "base",
  headCommit: "head",
  tree: "tree-1",
  verdict: "verified",
  results: ["g1"],
  gaps: [],
  createdAt: noon,
  ...change,
});

export function gatePromises(check: Check): void {
  check("a result is recorded once, and found by what it ran on", async ({ store }) => {
    const failed = aResult("g2", { status: "timed_out", exitCode: null, flaky: true, createdAt: noon + 1 });
    await store.transaction(async (tx) => {
      await tx.gates.add(aResult("g1"));
      await tx.gates.add(aResult("g1", { status: "failed" }));
      await tx.gates.add(failed);
      await tx.gates.add(aResult("g3", { tree: "tree-2", gate: "Lint", createdAt: noon + 2 }));
    });
    expect(await store.read((tx) => tx.gates.get("g1"))).toEqual(aResult("g1"));
    expect(await store.read((tx) => tx.gates.on("tree-1", "hash-1"))).toEqual([failed, aResult("g1")]);
    expect(await store.read((tx) => tx.gates.on("tree-1", "other"))).toEqual([]);
    expect(await store.read((tx) => tx.gates.onAnyForm("tree-1", "hash"))).toEqual([failed, aResult("g1")]);
    expect(await store.read((tx) => tx.gates.onAnyForm("tree-1", "other"))).toEqual([]);
    const ids = (results: readonly GateResult[]) => results.map(({ id }) => id);
    expect(ids(await store.read((tx) => tx.gates.all(["g3", "none", "g1"])))).toEqual(["g3", "g1"]);
    expect(await store.read((tx) => tx.gates.all([]))).toEqual([]);
    expect(ids(await store.read((tx) => tx.gates.recent(2)))).toEqual(["g3", "g2"]);
    expect(ids(await store.read((tx) => tx.gates.recent(9, "Lint")))).toEqual(["g3"]);
  });

  check("receipts are found by id and by what they speak about, newest first", async ({ store }) => {
    const later = aReceipt("rc-2", { verdict: "verified_with_gaps", gaps: ["Lint was left out"], createdAt: noon + 1 });
    await store.transaction(async (tx) => {
      await tx.receipts.add(aReceipt("rc-1"));
      await tx.receipts.add(later);
      await tx.receipts.add(aReceipt("rc-3", { subject: "merge:11" }));
    });
    expect(await store.read((tx) => tx.receipts.get("rc-1"))).toEqual(aReceipt("rc-1"));
    expect(await store.read((tx) => tx.receipts.about("merge:1"))).toEqual([later, aReceipt("rc-1")]);
  });

  check(
    "old results go, a few at a time and the newest first, unless a receipt speaks about their tree",
    async ({ store }) => {
      await store.transaction(async (tx) => {
        await tx.receipts.add(aReceipt("rc-1", { tree: "proved", results: [] }));
        await tx.gates.add(aResult("g1", { tree: "loose", createdAt: noon }));
        await tx.gates.add(aResult("g2", { tree: "proved", createdAt: noon + 1 }));
        for (const id of ["g3", "g4", "g5"]) await tx.gates.add(aResult(id, { tree: "loose", createdAt: noon + 1 }));
        await tx.gates.add(aResult("g6", { tree: "loose", createdAt: noon + 2 }));
      });
      const purge = (at: number, id: string) => store.transaction((tx) => tx.gates.purgeUnproving({ at, id }, 2));
      const left = async () => (await store.read((tx) => tx.gates.recent(9))).map(({ id }) => id);
      expect(await purge(noon + 2, "")).toEqual({ purged: 2, last: { at: noon + 1, id: "g4" } });
      expect(await purge(noon + 1, "g4")).toEqual({ purged: 1, last: { at: noon + 1, id: "g2" } });
      expect(await left()).toEqual(["g6", "g2", "g1"]);
      expect(await purge(noon + 1, "g2")).toEqual({ purged: 1, last: null });
      expect(await purge(noon, "g1")).toEqual({ purged: 0, last: null });
      expect(await left()).toEqual(["g6", "g2"]);
    },
  );

  check("receipts of completions and checks pass; those of landings are not among them", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.receipts.add(aReceipt("rc-1", { kind: "check", subject: "main" }));
      await tx.receipts.add(aReceipt("rc-2", { kind: "landing" }));
      await tx.receipts.add(aReceipt("rc-3", { kind: "completion", subject: "b1#1" }));
      await tx.receipts.add(aReceipt("rc-4", { kind: "completion", createdAt: noon + 1 }));
    });
    const passing = async (at: number, id: string, most = 9) =>
      (await store.read((tx) => tx.receipts.passing({ at, id }, most))).map((receipt) => receipt.id);
    expect(await passing(noon + 1, "")).toEqual(["rc-3", "rc-1"]);
    expect(await passing(noon + 9, "", 2)).toEqual(["rc-4", "rc-3"]);
    expect(await passing(noon, "rc-3")).toEqual(["rc-1"]);
    expect(await store.transaction((tx) => tx.receipts.remove(["rc-1", "none"]))).toBe(1);
    expect(await store.transaction((tx) => tx.receipts.remove([]))).toBe(0);
    expect(await passing(noon + 9, "")).toEqual(["rc-4", "rc-3"]);
  });

  check("a resolution is remembered, replaced, and counted when it did not hold", async ({ store }) => {
    const resolution = { fingerprint: "f1", path: "a.ts", content: "ä\n", strategy: "union", landedAt: noon, bad: 0 };
    await store.transaction(async (tx) => {
      await tx.resolutions.put(resolution);
      await tx.resolutions.put({ ...resolution, strategy: "structured" });
      await tx.resolutions.markBad("f1");
      await tx.resolutions.markBad("f1");
      await tx.resolutions.markBad("f2");
    });
    const found = await store.read((tx) => tx.resolutions.get("f1"));
    expect(found).toEqual({ ...resolution, strategy: "structured", bad: 2 });
    expect(await store.read((tx) => tx.resolutions.get("f2"))).toBeUndefined();
  });

  check("a pair of commits is looked at once, and a warning given once", async ({ store }) => {
    const pair = { aCommit: "a", bCommit: "b", outcome: "conflict", files: ["x.ts"], createdAt: noon } as const;
    await store.transaction(async (tx) => {
      await tx.radar.put(pair);
      await tx.radar.put({ ...pair, outcome: "structured" });
      await tx.radar.put({ ...pair, bCommit: "c", createdAt: noon + 5 });
    });
    expect(await store.read((tx) => tx.radar.pair("a", "b"))).toEqual({ ...pair, outcome: "structured" });
    expect(await store.read((tx) => tx.radar.pair("b", "a"))).toBeUndefined();
    expect(await store.read((tx) => tx.radar.pair("a", "c"))).toBeDefined();
    const warn = (digest: string) => store.transaction((tx) => tx.radar.warnOnce("x", "y", digest, noon));
    expect([await warn("d1"), await warn("d1"), await warn("d2")]).toEqual([true, false, true]);
  });

  check(
    "conflicts of what agents committed last and warnings about their branches go with the agents",
    async ({ store }) => {
      const conflict = { aCommit: "a", bCommit: "b", outcome: "conflict", files: ["x.ts"], createdAt: noon } as const;
      await seed(
        store,
        anAgent("x1", { branch: "b/x1", headCommit: "a", ahead: 1 }),
        anAgent("x2", { branch: "b/x2", headCommit: "b", ahead: 2 }),
        anAgent("x3", { branch: "b/x3", headCommit: "c", ahead: 0 }),
        anAgent("x4", { branch: "b/x4", headCommit: "d", ahead: 1, state: "completed", releasedAt: noon }),
      );
      await store.transaction(async (tx) => {
        await tx.radar.put(conflict);
        await tx.radar.put({ ...conflict, bCommit: "c" });
        await tx.radar.put({ ...conflict, bCommit: "d" });
        await tx.radar.put({ ...conflict, aCommit: "b", bCommit: "a", outcome: "clean" });
        for (const name of ["x2", "x1", "x4", "x0"]) await tx.radar.warnOnce(`b/${name}`, `b/${name}`, "d1", noon);
      });
      expect(await store.read((tx) => tx.radar.conflictsOfHeads())).toEqual([conflict]);
      const [branchA, branchB] = ["b/x1", "b/x2"];
      const warned = { filesDigest: "d1", createdAt: noon };
      expect(await store.read((tx) => tx.radar.warnings())).toEqual([
        { branchA, branchB: branchA, ...warned },
        { branchA: branchB, branchB, ...warned },
      ]);
    },
  );
}
