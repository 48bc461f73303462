import { describe, expect, test } from "bun:test";
import { type Capability, capabilities, isIn, terminalTypes } from "../agent/capability.ts";
import { checkSender, typesOf } from "./sender.ts";
import { type MailType, mailTypes } from "./types.ts";

describe("who may send what", () => {
  const cases: readonly (readonly [Capability, MailType, boolean])[] = [
    ["builder", "worker_done", true],
    ["builder", "merge_ready", false],
    ["builder", "dispatch", false],
    ["builder", "worker_died", false],
    ["builder", "escalation", true],
    ["scout", "spec_ready", true],
    ["scout", "review", false],
    ["reviewer", "review", true],
    ["merger", "merged", true],
    ["merger", "worker_done", false],
    ["lead", "merge_ready", true],
    ["lead", "shutdown", false],
    ["coordinator", "shutdown", true],
    ["coordinator", "merge_ready", true],
    ["coordinator", "worker_done", false],
    ["monitor", "health_check", true],
    ["monitor", "dispatch", false],
  ];
  test.each(cases)("a %s sending %s: %p", (capability, type, allowed) => {
    expect(checkSender(type, capability).ok).toBe(allowed);
  });

  test("a refusal lists what the capability may send", () => {
    expect(checkSender("dispatch", "builder")).toEqual({
      ok: false,
      refusal: {
        kind: "type-not-yours",
        type: "dispatch",
        capability: "builder",
        allowed: ["status", "question", "result", "error", "worker_done", "escalation", "decision_gate"],
      },
    });
  });

  test("the operator and the engine may send every type", () => {
    expect(mailTypes.every((type) => checkSender(type, null).ok)).toBe(true);
  });

  test("every task-scoped agent may send its own terminal mail", () => {
    for (const capability of capabilities.filter((one) => isIn("taskScoped", one))) {
      expect(typesOf(capability)).toEqual(expect.arrayContaining([...terminalTypes(capability)]));
    }
  });
});
