import { expect, test } from "bun:test";
import { worldWith } from "../../../../testkit/world.ts";
import type { StoredCheck } from "../../../domain/completion/check.ts";
import { ok } from "../../../domain/result.ts";
import { roles } from "../../../domain/role/roles.ts";
import { followCheck } from "../../../usecases/completions/checks.ts";
import type { Listener } from "../../../usecases/operation.ts";
import type { McpApp } from "../tool-call.ts";
import { Given, type ToolContext } from "../tool-call.ts";
import { finish } from "./finish.ts";

const queued: StoredCheck = {
  seq: 1,
  id: "check-1",
  kind: "completion",
  agentId: "agent-1",
  agentName: "b1",
  refName: "overstory/b1/T1",
  commitId: null,
  status: "queued",
  request: { kind: "check" },
  progress: null,
  verdict: null,
  receiptId: null,
  problem: [],
  attempts: 0,
  requestedBy: "b1",
  createdAt: 0,
  updatedAt: 0,
};

/** A program in which a check goes through these stages, one per look. */
function contextOf(stages: readonly Partial<StoredCheck>[], signal = new AbortController().signal) {
  const told: string[] = [];
  const asked: unknown[] = [];
  const rest = [...stages];
  const call = async (name: string, request: unknown) => {
    if (name === "done.request") {
      asked.push(request);
      return ok({ id: queued.id, attached: false });
    }
    const stage = rest.length > 1 ? rest.shift() : rest[0];
    return ok({ check: { ...queued, ...stage }, receipt: null, results: [] });
  };
  const world = worldWith({
    call: call as McpApp["call"],
    until: async (ask) => {
      for (;;) {
        const answer = await ask();
        if (answer !== undefined) return answer;
      }
    },
  });
  const follow = (_name: string, request: { id: string }, { onItem = () => {} }: Partial<Listener<StoredCheck>>) =>
    followCheck.run(world, request, { onItem, signal });
  const app = { version: "1", call, follow };
  const self = {
    name: "b1",
    capability: "builder",
    parentName: "lead",
    runId: "run-1",
    taskId: "T1",
    branch: null,
  } as const;
  const context: ToolContext = {
    app: app as unknown as McpApp,
    self,
    role: roles.builder,
    signal,
    progress: (message) => void told.push(message),
  };
  return { context, told, asked };
}

test("it waits for the answer and says meanwhile what is being done, each thing once", async () => {
  const { context, told } = contextOf([
    {},
    {},
    { status: "running", progress: "gate test" },
    { status: "running", progress: "gate test" },
    { status: "done", verdict: "verified" },
  ]);
  const answer = await finish(new Given({ summary: "did it" }), context);
  expect(answer).toMatchObject({ ok: true, value: { data: { status: "done", verdict: "verified" } } });
  expect(told).toEqual(["waiting for the engine", "gate test"]);
});

test("what is missing is listed with how to mend it, as an error the model can act on", async () => {
  const problem = [
    { kind: "uncommitted", message: "a.ts is not committed", fix: "commit it: git commit" },
    { kind: "gate", message: "gate test failed", fix: "mend it", logTail: "boom\u001b[31m", logPath: "/log" },
  ] as const;
  const { context } = contextOf([{ status: "failed", problem }]);
  const answer = await finish(new Given({ summary: "did it" }), context);
  expect(answer).toMatchObject({ ok: true, value: { failed: true, data: { missing: problem } } });
  expect(answer.ok && answer.value.text).toBe(
    [
      "Not finished. What is missing:",
      "- a.ts is not committed",
      "  commit it: git commit",
      "- gate test failed",
      "  mend it",
      "  | boom\\u{1b}[31m",
      "  whole output: /log",
    ].join("\n"),
  );
});

test("when nobody waits any more it stops asking; the check itself goes on", async () => {
  const stop = new AbortController();
  const { context } = contextOf([{ status: "running" }], stop.signal);
  const waiting = finish(new Given({ summary: "did it" }), { ...context, progress: () => stop.abort() });
  expect(await waiting).toMatchObject({ ok: true, value: { data: { status: "open" } } });
});

test("findings travel as the completion step reads them", async () => {
  const { context, asked } = contextOf([{ status: "done" }]);
  const findings = [{ file: "a.ts", line: 3, text: "off by one" }];
  await finish(new Given({ summary: "read it", verdict: "fail", findings }), context);
  expect(asked).toMatchObject([{ summary: "read it", verdict: "fail", findings: JSON.stringify(findings) }]);
});
