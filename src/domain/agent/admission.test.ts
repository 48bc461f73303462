import { describe, expect, test } from "bun:test";
import { type AdmissionFacts, type AdmissionRequest, admit } from "./admission.ts";

const builder: AdmissionRequest = { name: "b1", capability: "builder", taskId: "T1" };
const free: AdmissionFacts = {
  run: { id: "run-1", agentsEver: 0 },
  parent: null,
  liveChildren: 0,
  namesake: null,
  holders: [],
  limits: { maxDepth: 2, maxSessionsPerRun: 0, maxAgentsPerLead: 5 },
};
const lead = { name: "l1", capability: "lead", depth: 1, state: "between_turns" } as const;

const refusal = (request: AdmissionRequest, facts: Partial<AdmissionFacts>) => {
  const answer = admit(request, { ...free, ...facts });
  return answer.ok ? answer : answer.refusal.kind;
};

describe("an agent may join a run", () => {
  test("below the operator at depth 1, below a lead one deeper", () => {
    expect(admit(builder, free)).toEqual({ ok: true, value: { depth: 1 } });
    expect(admit(builder, { ...free, parent: lead })).toEqual({ ok: true, value: { depth: 2 } });
  });

  test("under the name of an ended, released agent", () => {
    const namesake = { name: "b1", state: "completed", outcome: "done", releasedAt: 5 } as const;
    expect(admit(builder, { ...free, namesake }).ok).toBe(true);
  });

  test("on the task its own parent holds, or to read what a builder works on", () => {
    expect(admit(builder, { ...free, parent: lead, holders: [lead] }).ok).toBe(true);
    const reviewer = { ...builder, capability: "reviewer" } as const;
    expect(admit(reviewer, { ...free, parent: lead, holders: [{ name: "b0", capability: "builder" }] }).ok).toBe(true);
  });
});

describe("an agent is refused", () => {
  const limits = { maxDepth: 1, maxSessionsPerRun: 3, maxAgentsPerLead: 2 };
  const live = { name: "b1", state: "in_turn", outcome: null, releasedAt: null } as const;
  const submitted = { name: "b1", state: "completed", outcome: "done", releasedAt: null } as const;
  const cases: [string, AdmissionRequest, Partial<AdmissionFacts>, string][] = [
    ["a reviewer below the operator", { ...builder, capability: "reviewer" }, {}, "may-not-spawn"],
    ["a reserved name", { ...builder, name: "operator" }, {}, "invalid"],
    ["the name of a folder of ours", { ...builder, name: "merge" }, {}, "invalid"],
    ["too deep a place", builder, { parent: lead, limits }, "too-deep"],
    ["a full run", builder, { limits, run: { id: "r", agentsEver: 3 } }, "run-full"],
    ["a full parent", builder, { parent: lead, liveChildren: 5 }, "parent-full"],
    ["a parent that ended", builder, { parent: { ...lead, state: "zombie" } }, "parent-ended"],
    ["a parent without the right to spawn", builder, { parent: { ...lead, capability: "scout" } }, "may-not-spawn"],
    ["a name somebody lives under", builder, { namesake: live }, "name-taken"],
    ["a name whose work is not released", builder, { namesake: submitted }, "name-taken"],
    ["a task with an implementer", builder, { holders: [{ name: "b0", capability: "builder" }] }, "task-held"],
    ["a second lead on a task", { ...builder, capability: "lead" }, { holders: [lead] }, "task-held"],
  ];
  test("under a name that is taken, by the words that the status has for its agent", () => {
    const namesake = { ...live, state: "booting" } as const;
    expect(admit(builder, { ...free, namesake })).toMatchObject({ refusal: { state: "starting" } });
    expect(admit(builder, { ...free, namesake: submitted })).toMatchObject({ refusal: { state: "submitted" } });
  });

  for (const [what, request, facts, kind] of cases)
    test(what, () => expect(refusal(request, facts)).toBe(kind as never));
});
