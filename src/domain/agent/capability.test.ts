import { describe, expect, test } from "bun:test";
import type { MailType } from "../mail/types.ts";
import {
  type Capability,
  type CapabilityClass,
  capabilities,
  isCapability,
  isIn,
  isTerminal,
  maySpawn,
  parseCapability,
  spawnable,
  terminalCandidates,
  terminalTypes,
} from "./capability.ts";

describe("classes", () => {
  const members: Record<CapabilityClass, readonly string[]> = {
    taskScoped: ["builder", "lead", "merger", "reviewer", "scout"],
    persistent: ["coordinator", "monitor", "orchestrator"],
    stopHookPersistent: ["coordinator", "lead", "monitor", "orchestrator"],
    implementation: ["builder", "merger"],
    readOnly: ["reviewer", "scout"],
  };
  const classes: readonly CapabilityClass[] = [
    "taskScoped",
    "persistent",
    "stopHookPersistent",
    "implementation",
    "readOnly",
  ];
  test.each(classes)("%s has exactly its members, and supervisor is none of them", (name) => {
    expect(capabilities.filter((capability) => isIn(name, capability)).sort()).toEqual(
      members[name].filter(isCapability),
    );
  });

  test("an unknown name belongs to no class", () => {
    expect(classes.some((name) => isIn(name, "wizard") || isIn(name, "constructor"))).toBe(false);
  });
});

describe("parsing", () => {
  test("supervisor is another word for lead", () => {
    expect(parseCapability("supervisor")).toEqual({ ok: true, value: "lead" });
    expect(parseCapability(" Builder ")).toEqual({ ok: true, value: "builder" });
  });

  test("an unknown capability is refused with the list and the nearest one", () => {
    const parsed = parseCapability("bilder");
    expect(parsed).toMatchObject({ ok: false, refusal: { kind: "invalid", field: "capability", nearest: "builder" } });
    expect(parsed.ok ? [] : parsed.refusal.allowed).not.toContain("supervisor");
  });
});

describe("spawning", () => {
  const matrix: readonly (readonly [Capability | "operator", readonly Capability[]])[] = [
    ["operator", ["scout", "builder", "reviewer", "lead", "merger"]],
    ["coordinator", ["lead", "scout", "builder"]],
    ["lead", ["scout", "builder", "reviewer", "merger"]],
    ["orchestrator", []],
    ["monitor", []],
    ["builder", []],
    ["scout", []],
    ["reviewer", []],
    ["merger", []],
  ];
  test.each(matrix)("%s may spawn %j", (parent, may) => {
    expect(spawnable(parent)).toEqual(may);
  });

  test("a refusal says what the parent may spawn instead", () => {
    expect(maySpawn({ name: "lead-1", capability: "lead" }, "lead")).toEqual({
      ok: false,
      refusal: {
        kind: "may-not-spawn",
        parent: "lead-1",
        capability: "lead",
        may: ["scout", "builder", "reviewer", "merger"],
      },
    });
    expect(maySpawn({ name: "coordinator", capability: "coordinator" }, "supervisor")).toEqual({
      ok: true,
      value: "lead",
    });
  });
});

describe("terminal mail", () => {
  const cases: readonly (readonly [string, MailType, "parent" | "other", boolean])[] = [
    ["builder", "worker_done", "parent", true],
    ["builder", "worker_done", "other", true],
    ["lead", "result", "parent", true],
    ["lead", "result", "other", false],
    ["lead", "status", "parent", false],
    ["merger", "merged", "parent", true],
    ["merger", "merge_failed", "parent", true],
    ["merger", "worker_done", "parent", false],
    ["merger", "result", "parent", false],
    ["coordinator", "result", "parent", false],
    ["coordinator", "merged", "other", false],
    ["wizard", "worker_done", "parent", true],
    ["constructor", "worker_done", "parent", true],
  ];
  test.each(cases)("%s sending %s to its %s: %p", (capability, type, to, ends) => {
    expect(isTerminal({ capability, type, toParent: to === "parent" })).toBe(ends);
  });

  test("candidates include result exactly where it is tolerated", () => {
    expect(terminalCandidates("builder")).toEqual(["worker_done", "result"]);
    expect(terminalCandidates("merger")).toEqual(["merged", "merge_failed"]);
    expect(terminalTypes("monitor")).toEqual([]);
  });
});
