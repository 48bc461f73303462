import { expect, test } from "bun:test";
import { worldWith } from "../../../../testkit/world.ts";
import type { MergeOp } from "../../../domain/merge/operation.ts";
import { ok } from "../../../domain/result.ts";
import { followOperation, type OperationUnderWay } from "../../../usecases/merge/follow.ts";
import type { Listener } from "../../../usecases/operation.ts";
import type { App } from "../app.ts";
import type { Io } from "../command.ts";
import { settledOp } from "./merge-operations.ts";

const asked = {
  id: "op-1",
  kind: "promote",
  ref: "refs/heads/main",
  status: "intended",
  request: { landing: "overstory/integration/run-1", target: "main" },
  problem: null,
} as const;

/** What a person reads while the operation stays as it is, until they have read something. */
async function saidWhile(op: object, full?: string): Promise<string> {
  const said: string[] = [];
  const io = { say: (line: string) => said.push(line) } as unknown as Io;
  const call = (async (name: string) =>
    ok(
      name === "merge.operation" ? { operation: said.length === 0 ? op : { ...op, status: "done" } } : { entries: [] },
    )) as App["call"];
  const world = worldWith({
    call,
    until: async (ask) => {
      for (;;) {
        const answer = await ask();
        if (answer !== undefined) return answer;
        await Bun.sleep(10);
      }
    },
    fullDisk: () => full,
  });
  const follow = (
    _name: string,
    request: { id: string },
    { onItem = () => {} }: Partial<Listener<OperationUnderWay>>,
  ) => followOperation.run(world, request, { onItem, signal: new AbortController().signal });
  const app = { call, follow } as unknown as App;
  await settledOp(app, io, asked as unknown as MergeOp);
  return said.join("\n");
}

test("a person who waits for an operation reads why its last try failed", async () => {
  expect(await saidWhile({ ...asked, problem: "git could not be started" })).toContain(
    "moving main forward to overstory/integration/run-1; the last try failed and is repeated: git could not be started",
  );
}, 30_000);

test("a person who waits while the disk of the store is full reads that", async () => {
  expect(await saidWhile(asked, "the disk that holds /p is full")).toContain("the disk that holds /p is full");
}, 30_000);

test("Ctrl-C ends the waiting for an operation at once, and not the operation", async () => {
  const follow = () => new Promise<never>(() => {});
  const io = { say: () => {} } as unknown as Io;
  const waiting = settledOp({ follow } as unknown as App, io, asked as unknown as MergeOp);
  process.emit("SIGINT");
  expect(await waiting).toEqual({ ok: true, value: undefined });
});
