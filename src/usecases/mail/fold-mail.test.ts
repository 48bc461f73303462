import { expect, test } from "bun:test";
import { anEntry } from "../../../testkit/contracts/store/merges.ts";
import { aTask } from "../../../testkit/contracts/store/rows.ts";
import { type MailWorld, mailWorld } from "../../../testkit/mail-world.ts";
import { activeRun } from "../../../testkit/use-case.ts";
import { ok } from "../../domain/result.ts";
import { fields } from "../../domain/schema/schema.ts";
import type { UseCase } from "../usecase.ts";
import { changedSince, foldMail } from "./fold-mail.ts";
import { fromEngine, post } from "./post.ts";
import { whyMail } from "./read-mail.ts";
import { sendMail } from "./send.ts";

const runId = "run-2";

async function coordinatedRun(): Promise<MailWorld> {
  const world = await mailWorld();
  const run = { ...activeRun(runId, world.clock.now), coordinatorName: "chief" };
  await world.store.transaction((tx) => tx.runs.insert(run));
  await world.seat("chief", { capability: "coordinator", runId });
  return world;
}

interface News {
  readonly type?: "merged" | "merge_failed" | "status" | "worker_died" | "worker_done";
  readonly payload: object;
  readonly wake?: boolean;
}

const tell = (world: MailWorld, { type = "status", payload, wake = true }: News): Promise<string> => {
  const telling: UseCase<object, string> = {
    kind: "write",
    request: fields({}),
    run: async (tx, context) => {
      const words = { subject: "news", body: "news", payload: JSON.stringify(payload) };
      const recipients = [{ name: "chief", wake }];
      const letter = {
        ...fromEngine,
        runId,
        address: "chief",
        recipients,
        type,
        priority: "normal",
        ...words,
      } as const;
      return ok((await post(tx, context, letter)).id);
    },
  };
  return world.must(telling, {});
};

/** What the next turn of the coordinator would bring. */
const brought = (world: MailWorld): Promise<readonly string[]> =>
  world.store.transaction(async (tx) => {
    const queued = await tx.deliveries.queued("chief", world.clock.now, 100);
    return (await foldMail(tx, queued, world.clock.now)).map(({ message }) => message.id);
  });

const why = async (world: MailWorld, id: string) => (await world.must(whyMail, { id })).recipients[0];

test("L5: older news of the engine about a branch is folded into the newest, and mail why says so", async () => {
  await using world = await coordinatedRun();
  const failed = await tell(world, { type: "merge_failed", payload: { branch: "overstory/b1/T1" } });
  const other = await tell(world, { type: "merged", payload: { branch: "overstory/b2/T2" } });
  const landed = await tell(world, { type: "merged", payload: { branch: "overstory/b1/T1" } });
  expect(await brought(world)).toEqual([other, landed]);
  expect(await why(world, failed)).toMatchObject({
    code: "cancelled",
    sentence: `It was withdrawn: folded into ${landed}, which has the newest state.`,
  });
});

test("L5: a branch that an agent hands over twice is one piece of news, and other branches are others", async () => {
  await using world = await coordinatedRun();
  const caller = await world.seat("l1", { capability: "lead", parentName: "chief", runId });
  const ready = async (branch: string) => {
    const words = { to: "chief", type: "merge_ready", subject: "ready", body: "It is ready.", wake: true };
    world.clock.now += 1000;
    return (await world.must(sendMail, { ...words, payload: JSON.stringify({ branch }) }, caller)).id ?? "";
  };
  const first = await ready("overstory/b1/T1");
  const other = await ready("overstory/b2/T2");
  const again = await ready("overstory/b1/T1");
  expect(await brought(world)).toEqual([other, again]);
  expect(await why(world, first)).toMatchObject({ code: "cancelled" });
});

test("L5: news that brings tasks to start is kept, says what was started since, and takes in a copy that says less", async () => {
  await using world = await coordinatedRun();
  await world.store.transaction(async (tx) => {
    await tx.tasks.insert(aTask("T1", { runId }));
    await tx.tasks.insert(aTask("T2", { runId, status: "in_progress", claimedBy: "b2" }));
  });
  const branch = "overstory/b1/T0";
  const ready = await tell(world, { type: "merged", payload: { branch, readyTasks: ["T1", "T2"] } });
  const again = await tell(world, { type: "merged", payload: { branch, readyTasks: [] } });
  expect(await brought(world)).toEqual([ready]);
  expect((await why(world, again))?.sentence).toStartWith(`It was withdrawn: folded into ${ready}`);
  const since = await world.store.read(async (tx) => {
    const message = await tx.messages.get(ready);
    return message === undefined ? undefined : changedSince(tx, message);
  });
  expect(since).toBe("no longer to be started: T2");
});

const sinceOf = (world: MailWorld, id: string) =>
  world.store.read(async (tx) => {
    const message = await tx.messages.get(id);
    return message === undefined ? "no message" : changedSince(tx, message);
  });

test("the news of a death says when the agent is back, or what became of its task", async () => {
  await using world = await coordinatedRun();
  const dead = { state: "zombie", outcome: "crashed", runId, parentName: "chief" } as const;
  for (const name of ["b1", "b2", "b3"]) {
    const taskId = `T-${name}`;
    await world.seat(name, { ...dead, taskId });
    await world.store.transaction((tx) => tx.tasks.insert(aTask(taskId, { runId, claimedBy: name })));
  }
  const died = (name: string) =>
    tell(world, { type: "worker_died", payload: { agentName: name, generation: 1, taskId: `T-${name}` } });
  const ids = [await died("b1"), await died("b2"), await died("b3")];
  const all = () => Promise.all(ids.map((id) => sinceOf(world, id)));
  expect(await all()).toEqual([undefined, undefined, undefined]);
  await world.seat("b1", { ...dead, id: "agent-b1-2", generation: 2, state: "in_turn", outcome: null });
  await world.store.transaction(async (tx) => {
    const [second, third] = [await tx.tasks.get("T-b2"), await tx.tasks.get("T-b3")];
    if (second !== undefined) await tx.tasks.update({ ...second, status: "closed", mergeState: "abandoned" });
    if (third !== undefined) await tx.tasks.update({ ...third, claimedBy: "b4" });
  });
  expect(await all()).toEqual(["b1 was started again and is at work", "task T-b2 was dropped", "b4 has task T-b3 now"]);
});

test("the report of a review that started a builder again says when that has finished", async () => {
  await using world = await coordinatedRun();
  const branch = "overstory/b1/T1";
  await world.seat("b1", { runId, parentName: "chief", taskId: "T1", branch, state: "in_turn" });
  const payload = { verdict: "needs_changes", reviewedBranch: branch };
  const id = await tell(world, { type: "worker_done", payload });
  expect(await sinceOf(world, id)).toBeUndefined();
  const over = { state: "completed", outcome: "done", endedAt: world.clock.now + 1 } as const;
  await world.seat("b1", { runId, taskId: "T1", branch, id: "agent-b1-2", generation: 2, ...over });
  expect(await sinceOf(world, id)).toBe("b1 has finished again");
});

test("a collision with work that was given up since is dropped as stale", async () => {
  await using world = await coordinatedRun();
  const at = { runId, parentName: "chief", headCommit: "h", ahead: 1 } as const;
  await world.seat("b1", { ...at, branch: "overstory/b1/T1", state: "in_turn" });
  await world.seat("b2", { ...at, branch: "overstory/b2/T2", state: "in_turn" });
  const payload = { branches: ["overstory/b1/T1", "overstory/b2/T2"], agents: ["b1", "b2"], files: ["a.ts"] };
  const collision = await tell(world, { payload });
  expect(await brought(world)).toEqual([collision]);
  const landed = (branch: string) =>
    world.store.transaction((tx) =>
      tx.merges.insert(anEntry(branch, { runId, status: "merged", updatedAt: world.clock.now })),
    );
  const late = await tell(world, { payload: { ...payload, agents: ["b1", null] } });
  await landed("overstory/b1/T1");
  expect(await brought(world)).toEqual([collision]);
  expect((await why(world, late))?.sentence).toContain("what collided has landed before it was read");
  world.clock.now += 1000;
  const again = await tell(world, { payload: { ...payload, agents: ["b1", null] } });
  expect(await brought(world)).toEqual([collision, again]);
  await landed("overstory/b1/T1");
  expect(await brought(world)).toEqual([collision]);
  await world.store.transaction((tx) => tx.agents.requestStop("agent-b2", "chief"));
  expect(await brought(world)).toEqual([]);
  expect((await why(world, collision))?.sentence).toContain("the work of b2 was given up before it was read");
});

test("a collision is dropped once a landing met it, and where both landed before it was handed on", async () => {
  await using world = await coordinatedRun();
  const branches = ["overstory/b1/T1", "overstory/b2/T2"] as const;
  for (const [at, branch] of branches.entries()) {
    await world.seat(`b${at + 1}`, { runId, parentName: "chief", headCommit: "h", ahead: 1, branch, state: "in_turn" });
  }
  const payload = { branches, agents: ["b1", "b2"], files: ["a.ts"] };
  const put = (branch: string, status: "conflict" | "merged") =>
    world.store.transaction((tx) =>
      tx.merges.insert(anEntry(branch, { runId, status, headCommit: "h", updatedAt: world.clock.now })),
    );
  await put(branches[0], "merged");
  world.clock.now += 1000;
  const met = await tell(world, { payload });
  expect(await brought(world)).toEqual([met]);
  await put(branches[1], "conflict");
  expect(await brought(world)).toEqual([]);
  expect((await why(world, met))?.sentence).toContain("was tried and did not land");
  await put(branches[1], "merged");
  world.clock.now += 1000;
  const copy = await tell(world, { payload });
  expect(await brought(world)).toEqual([]);
  expect((await why(world, copy))?.sentence).toContain("what collided has landed before it was read");
});

test("L5: news about tasks wakes while one of them can be started, and only informs after that", async () => {
  await using world = await coordinatedRun();
  const { clock, store } = world;
  await store.transaction((tx) => tx.tasks.insert(aTask("T1", { runId })));
  const ready = await tell(world, { type: "merged", payload: { branch: "overstory/b1/T0", readyTasks: ["T1"] } });
  const wakes = () =>
    store.transaction(async (tx) => {
      const queued = await tx.deliveries.queued("chief", clock.now, 100);
      return (await foldMail(tx, queued, clock.now)).map(({ delivery }) => delivery.wake);
    });
  expect(await wakes()).toEqual([true]);
  await store.transaction(async (tx) => {
    const task = await tx.tasks.get("T1");
    if (task !== undefined) await tx.tasks.update({ ...task, status: "in_progress", claimedBy: "b2" });
  });
  expect(await wakes()).toEqual([false]);
  expect((await why(world, ready))?.code).toBe("does-not-wake");
});

test("L5: a landing wakes a parent without agents at work, and only informs one that has started an agent since", async () => {
  await using world = await coordinatedRun();
  const landed = await tell(world, { type: "merged", payload: { branch: "overstory/b1/T0", readyTasks: [] } });
  expect(await brought(world)).toEqual([landed]);
  expect((await why(world, landed))?.code).not.toBe("does-not-wake");
  await world.seat("b2", { capability: "builder", runId, parentName: "chief", state: "in_turn" });
  expect(await brought(world)).toEqual([landed]);
  expect((await why(world, landed))?.code).toBe("does-not-wake");
});

test("L5: a notice that is no longer true when its turn comes is dropped as stale", async () => {
  await using world = await coordinatedRun();
  await world.seat("b1", { capability: "builder", runId, parentName: "chief" });
  const phase = await tell(world, { payload: { phase: "builder", workers: ["b1#1"] } });
  const finished = await tell(world, { payload: { finished: true, agents: ["b1#1"] } });
  expect(await brought(world)).toEqual([]);
  for (const id of [phase, finished])
    expect((await why(world, id))?.sentence).toBe("It was withdrawn: stale: b1 worked again before it was read.");
});

test("L5: what people and agents write is theirs: it is neither folded nor dropped", async () => {
  await using world = await coordinatedRun();
  const ids: (string | null)[] = [];
  for (const body of ["one", "two"]) {
    ids.push((await world.must(sendMail, { to: "chief", subject: "Re: b1", body, type: "status" })).id);
  }
  expect(await brought(world)).toEqual(ids.map(String));
});

test("L5: every wake has a reason on record, and mail that starts no turn says so", async () => {
  await using world = await coordinatedRun();
  const send = async (request: object) =>
    (await world.must(sendMail, { to: "chief", subject: "s", body: JSON.stringify(request), ...request })).id ?? "";
  const wake = async (id: string) => (await why(world, id))?.wake;
  expect(await wake(await send({}))).toBe(
    "It starts a turn, because the operator or the parent wrote it to this reader.",
  );
  expect(await wake(await send({ type: "question" }))).toBe("It starts a turn, because it asks for an answer.");
  expect(await wake(await send({ type: "status", priority: "high" }))).toContain("its priority is high");
  expect(await wake(await send({ type: "status", wake: true }))).toContain("its sender asked for it");
  expect(await wake(await send({ type: "status" }))).toBe(
    "It starts no turn of its own; it rides along with the next one.",
  );
  expect(await wake(await send({ type: "merge_ready", payload: '{"branch":"overstory/b9/T9"}' }))).toContain("no turn");
  const engine = await tell(world, { type: "merged", payload: { branch: "b" } });
  expect(await wake(engine)).toContain("a branch has landed");
});
