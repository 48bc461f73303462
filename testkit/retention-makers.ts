import { expect } from "bun:test";
import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Tx } from "../src/ports/store.ts";
import { aCheck } from "./contracts/store/checks.ts";
import { aReceipt, aResult } from "./contracts/store/gates.ts";
import { anEntry, anOp } from "./contracts/store/merges.ts";
import { aDelivery, aMessage, anAgent, aProcess, aRun, aTurn } from "./contracts/store/rows.ts";
import { aSpending } from "./contracts/store/spending.ts";
import type { RetentionWorld as World } from "./retention-world.ts";

const dayMs = 24 * 60 * 60_000;

/**
 * Makes one thing of this row, dated `at`, and returns a check whether it still exists. With `needed` the thing must
 * stay.
 */
type Make = (world: World, id: string, at: number, needed: boolean) => Promise<() => boolean | Promise<boolean>>;

const counts =
  ({ db }: World, from: string) =>
  (): boolean =>
    (db.query<{ n: number }, []>(`SELECT COUNT(*) AS n FROM ${from}`).get()?.n ?? 0) > 0;

const stored =
  (from: (id: string) => string, put: (tx: Tx, id: string, at: number, needed: boolean) => Promise<unknown>): Make =>
  async (world, id, at, needed) => {
    await world.store.transaction((tx) => put(tx, id, at, needed));
    return counts(world, from(id));
  };

const file =
  (path: (id: string) => string, more: (tx: Tx, id: string) => Promise<unknown>): Make =>
  async (world, id, at, needed) => {
    const made = join(world.state, path(id));
    mkdirSync(dirname(made), { recursive: true });
    writeFileSync(made, "x");
    for (const aged of [made, dirname(made)]) utimesSync(aged, new Date(at), new Date(at));
    if (needed) await world.store.transaction((tx) => more(tx, id));
    return () => existsSync(made);
  };

const nameIf = (needed: boolean): string => (needed ? "live" : "ended");
const agentIf = (needed: boolean) => anAgent(nameIf(needed), needed ? {} : { generation: 2, runId: "over" });

/** Commits a file on a branch of its own. A landed one is merged into main too. */
function commitOf({ git }: World, id: string, landed: boolean): string {
  const commit = git.branch(`work-${id}`, () => git.write(git.root, `${id}.txt`, `${id}\n`));
  if (landed) git.git(git.root, "merge", "--quiet", "--no-ff", "-m", id, commit);
  git.git(git.root, "branch", "--quiet", "-D", `work-${id}`);
  return commit;
}

/** One maker for each row of the retention table, by what the row deletes. */
export const retentionMakers: Readonly<Record<string, Make>> = {
  events: stored(
    (id) => `events WHERE type = '${id}'`,
    (tx, id, at, needed) => tx.events.append([{ source: "agent", type: id, agentName: nameIf(needed), createdAt: at }]),
  ),
  turns: stored(
    (id) => `turns WHERE id = '${id}'`,
    async (tx, id, at, needed) => {
      await tx.turns.queue(aTurn(id, agentIf(needed), { now: at }));
      await tx.turns.cancel(id, at);
    },
  ),
  "turn logs": file(
    (id) => `logs/ended/2026-01-01T00-00-00-turn-${id}/input.json`,
    (tx, id) => tx.turns.queue(aTurn(`turn-${id}`, agentIf(true))),
  ),
  costs: stored(
    (id) => `spending WHERE source = '${id}'`,
    (tx, id, at, needed) => tx.spending.book([aSpending(id, { agentName: nameIf(needed), endedAt: at })]),
  ),
  "sums of costs": async (world, id, at, needed) => {
    world.db.run(
      `INSERT INTO spending_sums VALUES ('task', '${id}', 1, 0, 0, 1, 1, 1, 1, 1, 1, ${at}, ${needed ? at + 1_000 * dayMs : at})`,
    );
    return counts(world, `spending_sums WHERE key = '${id}'`);
  },
  processes: stored(
    (id) => `processes WHERE id = '${id}'`,
    async (tx, id, at, needed) => {
      await tx.processes.insert(aProcess(id, { startedAt: at, endedAt: at }));
      if (needed) await tx.leases.take("engine", id);
    },
  ),
  transitions: stored(
    (id) => `transitions WHERE reason = '${id}'`,
    async (tx, id, at, needed) => {
      const agent = (await tx.agents.byName(nameIf(needed))) ?? agentIf(needed);
      const { state, outcome, endedAt } = agent;
      const change = { state, stateVersion: agent.stateVersion + 1, outcome, endedAt };
      expect(await tx.agents.move(agent, change, { to: state, actor: "engine", reason: id }, at)).toBe(true);
    },
  ),
  tokens: stored(
    (id) => `tokens WHERE digest = '${id}'`,
    (tx, id, at, needed) =>
      tx.tokens.insert({ digest: id, agentId: "live-1", turnId: null, createdAt: at, revokedAt: needed ? null : at }),
  ),
  usage: stored(
    (id) => `usage WHERE turn_id = '${id}'`,
    (tx, id, at, needed) =>
      tx.usage.record({
        turnId: id,
        messageId: "m",
        agentName: nameIf(needed),
        runId: "r1",
        taskId: null,
        model: null,
        input: 1,
        output: 1,
        cacheRead: 0,
        cacheWrite: 0,
        createdAt: at,
      }),
  ),
  handoffs: stored(
    (id) => `handoffs WHERE checkpoint = '${id}'`,
    (tx, id, at, needed) =>
      tx.recovery.addHandoff({
        agentName: nameIf(needed),
        fromGeneration: 1,
        toGeneration: 2,
        reason: "reopened",
        checkpoint: id,
        createdAt: at,
      }),
  ),
  audit: stored(
    (id) => `audit WHERE action = '${id}'`,
    (tx, id, at) => tx.audit.record({ caller: "operator", action: id, refused: false, detail: "", now: at }),
  ),
  "budgets of past days": stored(
    (id) => `budgets WHERE subject = '${id}'`,
    (tx, id, at, needed) =>
      tx.budgets.book([{ scope: needed ? "run" : "day", subject: id, unit: "turns", spent: 1, reserved: 0 }], at),
  ),
  snapshots: async (world, id, at, needed) => {
    const commit = commitOf(world, id, !needed);
    const ref = `refs/overstory/snap/${id}/1/1`;
    world.git.git(world.git.root, "update-ref", ref, commit);
    const baseCommit = world.git.tip("main~0");
    await world.store.transaction(async (tx) => {
      const ended = {
        state: "completed",
        endedAt: at,
        releasedAt: at,
        cleanedAt: at,
        runId: "over",
        baseCommit,
      } as const;
      await tx.agents.reserve(anAgent(id, ended));
      const about = { agentName: id, generation: 1, ref, commitId: commit, reason: "release", skipped: [] };
      await tx.snapshots.add({ ...about, createdAt: at });
    });
    return counts(world, `snapshots WHERE ref = '${ref}'`);
  },
  trash: async (world, id, at, needed) => {
    const headCommit = commitOf(world, id, !needed);
    await world.store.transaction((tx) =>
      tx.agents.reserve(
        anAgent(id, {
          ...{ state: "completed", endedAt: at, releasedAt: at, cleanedAt: at, runId: "over" },
          ...{ headCommit, ahead: 1, baseCommit: world.git.tip(`${headCommit}~1`) },
        }),
      ),
    );
    return file(
      () => `trash/${id}-2026-01-01T00-00-00-000Z/cache`,
      async () => {},
    )(world, id, at, false);
  },
  "spec texts": async (world, id, at, needed) => {
    const digest = new Bun.CryptoHasher("sha256").update(id).digest("hex");
    const keep = (tx: Tx) => tx.specs.put({ taskId: id, path: "spec.md", author: null, digest, updatedAt: at });
    return file(() => `specs/.content/${digest}.md`, keep)(world, id, at, needed);
  },
  notifications: stored(
    (id) => `notifications WHERE item = 'decision:${id}'`,
    async (tx, id, at, needed) => {
      await tx.notifications.claim([`decision:${id}`], at);
      await tx.notifications.settle([`decision:${id}`], at);
      if (!needed) return;
      const asked = aMessage(id, { type: "decision_gate", fromAgent: "live", address: "operator" });
      await tx.deliveries.insert([aDelivery(await tx.messages.insert(asked), "operator")]);
    },
  ),
  mail: stored(
    (id) => `messages WHERE id = '${id}'`,
    async (tx, id, at, needed) => {
      const seq = await tx.messages.insert(aMessage(id, { runId: "over", createdAt: at }));
      await tx.deliveries.insert([aDelivery(seq, "ended", { state: needed ? "queued" : "acked" })]);
    },
  ),
  "merge refs": async (world, id, at, needed) => {
    const commit = commitOf(world, id, true);
    const status = needed ? "intended" : "done";
    await world.store.transaction((tx) => tx.mergeOps.insert(anOp(id, { status, createdAt: at, updatedAt: at })));
    const ref = `refs/overstory/backup/${id}`;
    world.git.git(world.git.root, "update-ref", ref, commit);
    return async () => (await world.git.merging.refsBelow("refs/overstory/backup/")).some((one) => one.ref === ref);
  },
  "gate logs": file(
    (id) => `logs/merge/${id}/1.log`,
    (tx, id) => tx.checks.insert(aCheck(id, { status: "running" })),
  ),
  "merge attempts": stored(
    (id) => `merge_attempts WHERE id = '${id}'`,
    async (tx, id, at, needed) => {
      const entry = await tx.merges.insert(anEntry(id, { status: needed ? "blocked" : "merged" }));
      const about = {
        trainId: id,
        queueIds: [entry],
        baseCommit: "b",
        candidateCommit: null,
        gateResults: [],
        members: [],
      };
      await tx.mergeAttempts.insert({ ...about, id, outcome: "landed", startedAt: at, finishedAt: at, logDir: null });
    },
  ),
  checks: stored(
    (id) => `checks WHERE id = '${id}'`,
    (tx, id, at, needed) => {
      const agentName = nameIf(needed);
      const agentId = needed ? "live-1" : "ended-2";
      return tx.checks.insert(aCheck(id, { agentName, agentId, status: "done", createdAt: at, updatedAt: at }));
    },
  ),
  receipts: stored(
    (id) => `receipts WHERE id = '${id}'`,
    (tx, id, at, needed) =>
      tx.receipts.add(aReceipt(id, { kind: needed ? "landing" : "check", tree: id, createdAt: at })),
  ),
  "gate results": stored(
    (id) => `gate_results WHERE id = '${id}'`,
    async (tx, id, at, needed) => {
      await tx.gates.add(aResult(id, { tree: id, createdAt: at }));
      if (needed) await tx.receipts.add(aReceipt(`of-${id}`, { tree: id, createdAt: at }));
    },
  ),
  "radar pairs": stored(
    (id) => `radar_pairs WHERE a_commit = '${id}'`,
    (tx, id, at) => tx.radar.put({ aCommit: id, bCommit: "b", outcome: "clean", files: [], createdAt: at }),
  ),
  "radar warnings": stored(
    (id) => `radar_warnings WHERE files_digest = '${id}'`,
    (tx, id, at, needed) => tx.radar.warnOnce("overstory/live/T", `overstory/${nameIf(needed)}/T`, id, at),
  ),
  "landed agents": async (world, id, at, needed) => {
    const branch = `overstory/${id}/T`;
    const headCommit = world.git.branch(branch, () => world.git.write(world.git.root, `${id}.txt`, `${id}\n`));
    if (!needed) world.git.git(world.git.root, "merge", "--quiet", "--no-ff", "-m", id, headCommit);
    const over = { state: "completed", outcome: "done", endedAt: at, releasedAt: at, cleanedAt: at } as const;
    await world.store.transaction(async (tx) => {
      await tx.agents.reserve(anAgent(id, { ...over, runId: "over", branch, headCommit, ahead: 1 }));
      await tx.merges.insert(anEntry(branch, { status: "merged", agentName: id, headCommit, updatedAt: at }));
    });
    const isThere = [`agents WHERE name = '${id}'`, `merge_queue WHERE agent_name = '${id}'`];
    return () => isThere.some((from) => counts(world, from)());
  },
  "landing branches": async (world, id, at, needed) => {
    const branch = `overstory/integration/${id}`;
    const tip = world.git.branch(branch, () => world.git.write(world.git.root, `${id}.txt`, `${id}\n`));
    if (!needed) world.git.git(world.git.root, "merge", "--quiet", "--no-ff", "-m", id, tip);
    const over = { status: "completed", completedAt: at, targetBranch: "main", landingBranch: branch } as const;
    await world.store.transaction((tx) => tx.runs.insert(aRun(id, over)));
    return async () => (await world.git.merging.commitOf(`refs/heads/${branch}`)) !== undefined;
  },
  replies: stored(
    (id) => `requests WHERE id = '${id}'`,
    (tx, id, at) => tx.requests.store(id, "status", "{}", at),
  ),
  "captured variables": async (world, id, at, needed) =>
    file(
      () => `run/env/${needed ? "kept" : id}`,
      async () => {},
    )(world, id, at, needed),
  "mail bodies": file(
    (id) => `mail-blobs/${id}`,
    (tx, id) => tx.messages.insert(aMessage(id, { blobPath: `/elsewhere/${id}` })),
  ),
};
