import { describe, expect, test } from "bun:test";
import {
  checkPayload,
  fillPayload,
  orderSubjects,
  payloadBeyondText,
  payloadFields,
  payloadRefusal,
} from "./payload.ts";
import { payloadShapes } from "./payload-shapes.ts";
import { type MailType, mailTypes } from "./types.ts";

const good: Record<MailType, unknown> = {
  status: null,
  question: { anything: [1] },
  result: "even a bare text",
  error: null,
  worker_done: { taskId: "T1", branch: "overstory/b1/T1", exitCode: 0, filesModified: ["a.ts"] },
  worker_died: {
    agentName: "b1",
    capability: "builder",
    taskId: null,
    reason: "crashed",
    lastActivity: "2026-01-02T03:04:05.678Z",
    terminatedBy: "runner",
  },
  merge_ready: { branch: "x", taskId: "T1", agentName: "b1", filesModified: [] },
  merged: { branch: "x", taskId: "T1", tier: "clean-merge" },
  merge_failed: { branch: "x", taskId: "T1", conflictFiles: ["a.ts"], errorMessage: "conflict" },
  escalation: { severity: "critical", taskId: null, context: "disk full" },
  health_check: { agentName: "b1", checkType: "liveness" },
  dispatch: {
    taskId: "T1",
    specPath: "s.md",
    capability: "builder",
    fileScope: ["a.ts"],
    maxAgents: 2,
    skipReview: true,
  },
  assign: { taskId: "T1", specPath: "s.md", workerName: "b1", branch: "x" },
  decision_gate: { options: ["a", "b"], context: "which", deadline: "2026-01-02T00:00:00Z" },
  review: {
    verdict: "fail",
    branch: "x",
    commit: "abc",
    findings: [{ file: "a.ts", line: 3, severity: "error", text: "off by one" }],
  },
  decision: { gateId: "msg-1", option: "a", note: "cheaper" },
  shutdown: { reason: "enough", deadline: "2026-01-02T00:00:00Z" },
  spec_ready: { taskId: "T1", specPath: "s.md" },
};

describe("checking", () => {
  test.each([...mailTypes])("a complete payload of type %s is fine, with unknown fields as well", (type) => {
    expect(checkPayload(type, JSON.stringify(good[type]))).toEqual([]);
    const extended = { ...payloadFields(JSON.stringify(good[type])), correlationId: "c1" };
    expect(checkPayload(type, JSON.stringify(extended))).toEqual([]);
  });

  const required = mailTypes.flatMap((type) =>
    payloadShapes[type].filter((field) => field.required).map((field) => [type, field.name] as const),
  );
  test.each(required)("%s without %s is a problem, and the only one", (type, name) => {
    const { [name]: _, ...rest } = payloadFields(JSON.stringify(good[type]));
    expect(checkPayload(type, JSON.stringify(rest)).map(({ field }) => field)).toEqual([`payload.${name}`]);
  });

  const everyField = mailTypes.flatMap((type) => payloadShapes[type].map((field) => [type, field.name] as const));
  test.each(everyField)("%s with a %s of the wrong kind is a problem", (type, name) => {
    const wrong = { ...payloadFields(JSON.stringify(good[type])), [name]: { wrong: true } };
    expect(checkPayload(type, JSON.stringify(wrong))).toMatchObject([{ kind: "invalid", field: `payload.${name}` }]);
  });

  test("all problems are reported together, with the allowed values", () => {
    const problems = checkPayload("review", JSON.stringify({ verdict: "maybe", findings: [{ file: "a.ts" }] }));
    expect(problems.map(({ field }) => field)).toEqual(["payload.verdict", "payload.branch", "payload.findings"]);
    expect(problems[0]?.allowed).toEqual(["pass", "fail", "needs_changes"]);
    expect(payloadRefusal(problems)).toMatchObject({ kind: "invalid", field: "payload.verdict" });
    expect(payloadRefusal(problems)?.problem).toContain("payload.branch is required for type review");
    expect(payloadRefusal([])).toBeUndefined();
  });

  test.each([
    ["status", "{nope", ["payload"]],
    ["status", "[1]", []],
    ["worker_done", "[1]", ["payload"]],
    ["worker_done", "null", ["payload"]],
    ["dispatch", null, []],
    ["shutdown", '{"reason":""}', ["payload.reason"]],
    ["decision_gate", '{"options":["a"],"context":"c","deadline":"soon"}', ["payload.deadline"]],
    ["decision_gate", '{"options":["a",1],"context":"c"}', ["payload.options"]],
  ] as const)("%s with %s has problems in %j", (type, json, fields) => {
    expect<readonly string[]>(checkPayload(type, json).map(({ field }) => field)).toEqual(fields);
  });
});

describe("filling in", () => {
  const facts = {
    "sender.task": "T1",
    "sender.branch": "overstory/b1/T1",
    "sender.files": ["a.ts"],
    "sender.exitCode": 0,
    "recipient.name": "b2",
    "message.body": "the text",
  } as const;

  test("a bare worker_done is completed from what is known about its sender", () => {
    const filled = fillPayload("worker_done", null, facts);
    expect(payloadFields(filled)).toEqual({
      taskId: "T1",
      branch: "overstory/b1/T1",
      exitCode: 0,
      filesModified: ["a.ts"],
    });
    expect(checkPayload("worker_done", filled)).toEqual([]);
  });

  test("what the sender wrote stays, wrong or not", () => {
    expect(payloadFields(fillPayload("worker_done", '{"exitCode":1,"x":2}', facts))).toMatchObject({
      exitCode: 1,
      x: 2,
    });
    expect(fillPayload("worker_done", "{nope", facts)).toBe("{nope");
    expect(fillPayload("status", null, facts)).toBeNull();
  });

  test("what is known to be absent is written as null only where null is a value", () => {
    expect(payloadFields(fillPayload("worker_done", null, { "sender.exitCode": null }))).toEqual({ exitCode: null });
    expect(fillPayload("spec_ready", null, { "sender.task": null })).toBeNull();
  });

  test("a branch tells its agent and task, but the sender's own branch is never taken for another's", () => {
    const filled = payloadFields(
      fillPayload("merge_ready", '{"branch":"overstory/b1/T1"}', { "sender.branch": "mine" }),
    );
    expect(filled).toEqual({ branch: "overstory/b1/T1", agentName: "b1", taskId: "T1" });
    expect(fillPayload("merge_ready", null, { "sender.branch": "mine" })).toBeNull();
    const integration = '{"branch":"overstory/integration/run-1"}';
    expect(fillPayload("merge_ready", integration, {})).toBe(integration);
  });

  test("the text stands in for a description of it", () => {
    const filled = fillPayload("escalation", '{"severity":"error"}', facts);
    expect(payloadFields(filled)).toEqual({ severity: "error", taskId: "T1", context: "the text" });
  });
});

describe("what a payload says beyond the text", () => {
  const beyond = (
    type: MailType,
    payload: unknown,
    more: { body?: string; subject?: string; fromAgent?: string } = {},
  ) => {
    const text = { subject: "Done: T1", body: "it works", fromAgent: "b1", replyTo: null, ...more };
    const shown = payloadBeyondText({ type, ...text, payload: JSON.stringify(payload) });
    return shown === null ? null : JSON.parse(shown);
  };

  test("nothing of the news of the engine, which says all of it in words", () => {
    expect(beyond("merged", { branch: "overstory/b1/T1", queueId: 4 }, { fromAgent: "system" })).toBeNull();
  });

  test("of a report the branch and its files, and not what its text says", () => {
    const gates = [{ gate: "Tests", status: "passed", exitCode: 0 }];
    const done = {
      taskId: "T1",
      branch: "overstory/b1/T1",
      exitCode: 0,
      filesModified: ["a.ts"],
      verified: true,
      verdict: "verified",
      gates,
    };
    const body = "it works\n\nChecked by the engine: verified (Tests passed)";
    expect(beyond("worker_done", done, { body })).toEqual({ branch: "overstory/b1/T1", filesModified: ["a.ts"] });
  });

  test("nothing of a branch that the subject names", () => {
    const facts = { branch: "overstory/b1/T1", taskId: "T1", agentName: "b1" };
    expect(beyond("merge_ready", facts, { subject: "overstory/b1/T1" })).toBeNull();
  });

  test("a verdict and an option are shown though their words stand in the text by chance", () => {
    const body = "no test can pass";
    const review = { verdict: "pass", branch: "x" };
    expect(beyond("review", review, { subject: "x", body })).toEqual({ verdict: "pass" });
    expect(beyond("review", review, { subject: "Review pass: x", body })).toBeNull();
    expect(beyond("decision", { gateId: "msg-1", option: "no" }, { body })).toEqual({ gateId: "msg-1", option: "no" });
    expect(beyond("decision", { option: "no" }, { body: "no" })).toBeNull();
    expect(beyond("decision_gate", { options: ["no", "pass"] }, { body })).toEqual({ options: ["no", "pass"] });
  });

  test("a finding that the text does not say, numbers, and what is part of another word", () => {
    const findings = [{ file: "a.ts", line: 3, severity: "error", text: "it leaks" }];
    expect(beyond("review", { findings })).toEqual({ findings });
    expect(beyond("review", { findings }, { body: "- a.ts:3: error: it leaks" })).toBeNull();
    expect(beyond("status", { count: 3, name: "work" })).toEqual({ count: 3, name: "work" });
  });

  test("parts of a value that the text does not say, however deep they stand", () => {
    const plan = { step: "parse", options: ["fast", "small"], rows: 500 };
    expect(beyond("status", { plan }, { body: "I parse" })).toEqual({ plan });
    expect(beyond("status", { plan }, { body: "I parse, fast or small" })).toEqual({ plan });
    expect(beyond("status", { plan }, { body: "I parse, fast or small, at most 500 rows" })).toBeNull();
    const deep = { plan: { ...plan, end: { isLast: false } } };
    expect(beyond("status", deep, { body: "I parse, fast or small, at most 500 rows" })).toEqual(deep);
  });

  test("the task and files of a dispatch that does not come with instructions", () => {
    const order = { taskId: "T2", capability: "builder", fileScope: ["src/b.ts"], sharedFiles: ["CHANGELOG.md"] };
    for (const subjectFor of Object.values(orderSubjects)) {
      expect(beyond("dispatch", order, { subject: subjectFor("T2") })).toBeNull();
    }
    const { capability: _, ...own } = order;
    expect(beyond("dispatch", order, { subject: "The second part" })).toEqual(own);
  });

  test("a text that is no object, as it is", () => {
    const text = { subject: "s", body: "b", fromAgent: "b1", replyTo: null, type: "result" } as const;
    expect(payloadBeyondText({ ...text, payload: "not json" })).toBe("not json");
    expect(payloadBeyondText({ ...text, payload: null })).toBeNull();
  });
});
