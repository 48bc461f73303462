import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type AgentState, agentStates, hasEnded } from "../agent/agent.ts";
import { type Capability, capabilities } from "../agent/capability.ts";
import { type Address, type AgentFacts, groupAddresses, parseAddress, resolveRecipients } from "./recipient.ts";

const agent = (name: string, capability: Capability, more: Partial<AgentFacts> = {}): AgentFacts => ({
  name,
  capability,
  state: "between_turns",
  parentName: "operator",
  runId: "run-1",
  submitted: false,
  ...more,
});

const fleet: readonly AgentFacts[] = [
  agent("coordinator", "coordinator"),
  agent("l1", "lead", { parentName: "coordinator" }),
  agent("l2", "lead", { parentName: "coordinator", runId: "run-2" }),
  agent("b1", "builder", { parentName: "l1" }),
  agent("b2", "builder", { parentName: "l1", state: "in_turn" }),
  agent("b3", "builder", { parentName: "l1", state: "completed", submitted: true }),
  agent("s1", "scout", { parentName: "l1", state: "zombie" }),
  agent("own", "builder", { parentName: null }),
];

function address(text: string): Address {
  const parsed = parseAddress(text);
  if (!parsed.ok) throw new Error(`${text} was refused`);
  return parsed.value;
}

function recipients(to: string, from: string) {
  const sender = fleet.find(({ name }) => name === from) ?? { name: from, parentName: null, runId: null };
  return resolveRecipients(address(to), sender, fleet);
}

describe("parsing an address", () => {
  test("a name is a name, whatever its case", () => {
    expect(parseAddress(" B1 ")).toEqual({ ok: true, value: { kind: "agent", name: "b1" } });
    expect(parseAddress("coordinator")).toMatchObject({ value: { kind: "agent", name: "coordinator" } });
  });

  test.each(["", "../etc", "a b", "x".repeat(65), "a\nb"])("%j is no name", (text) => {
    expect(parseAddress(text)).toMatchObject({ ok: false, refusal: { kind: "invalid", field: "to" } });
  });

  const forms = [...groupAddresses(), ...capabilities.map((capability) => `@${capability}`)];
  test.each(forms)("%s is a group in any case", (form) => {
    expect(parseAddress(form)).toEqual(parseAddress(form.toUpperCase()));
    expect(parseAddress(form)).toMatchObject({ ok: true, value: { kind: "group", text: form } });
  });

  test("an unknown group is refused with all groups and the nearest", () => {
    expect(parseAddress("@bilders")).toEqual({
      ok: false,
      refusal: {
        kind: "invalid",
        field: "to",
        problem: "is not a group",
        value: "@bilders",
        allowed: groupAddresses(),
        nearest: "@builders",
      },
    });
  });
});

describe("recipients", () => {
  test.each([
    ["@all", "b1", ["coordinator", "l1", "l2", "b2", "own"]],
    ["@builders", "b1", ["b2", "own"]],
    ["@builder", "l1", ["b1", "b2", "own"]],
    ["@supervisors", "coordinator", ["l1", "l2"]],
    ["@leads", "l1", ["l2"]],
    ["@coordinators", "operator", ["coordinator"]],
    ["@children", "l1", ["b1", "b2"]],
    ["@children", "operator", ["coordinator", "own"]],
    ["@siblings", "b1", ["b2"]],
    ["@siblings", "l2", ["l1"]],
    ["@run", "l1", ["coordinator", "b1", "b2", "own"]],
    ["s1", "l1", ["s1"]],
    ["nobody-here", "l1", ["nobody-here"]],
  ] as const)("%s from %s reaches %j", (to, from, names) => {
    expect(recipients(to, from)).toEqual({ ok: true, value: [...names] });
  });

  test.each([
    ["@scouts", "l1", "no other agent with the capability scout is live"],
    ["@orchestrators", "l1", "no other agent with the capability orchestrator is live"],
    ["@children", "b1", "b1 has no live children"],
    ["@siblings", "operator", "operator has no parent"],
    ["@run", "operator", "operator belongs to no run"],
    ["@coordinators", "coordinator", "no other agent with the capability coordinator is live"],
  ] as const)("%s from %s reaches nobody, and says why", (to, from, why) => {
    expect(recipients(to, from)).toEqual({ ok: false, refusal: { kind: "no-recipients", address: to, why } });
  });

  test("no group ever reaches its sender, an ended agent, or one agent twice", () => {
    const anyAgent: fc.Arbitrary<AgentFacts> = fc.record({
      name: fc.constantFrom("a", "b", "c", "d"),
      capability: fc.constantFrom(...capabilities),
      state: fc.constantFrom<AgentState>(...agentStates),
      parentName: fc.constantFrom("a", "b", "operator", null),
      runId: fc.constantFrom("r1", "r2", null),
      submitted: fc.boolean(),
    });
    const agents = fc.uniqueArray(anyAgent, { selector: ({ name }) => name, minLength: 1 });
    fc.assert(
      fc.property(agents, fc.constantFrom(...groupAddresses()), (all, to) => {
        const [sender] = all;
        if (sender === undefined) return;
        const resolved = resolveRecipients(address(to), sender, all);
        if (!resolved.ok) return;
        const names = resolved.value;
        expect(names).not.toContain(sender.name);
        expect(new Set(names).size).toBe(names.length);
        expect(all.filter(({ name }) => names.includes(name)).some(hasEnded)).toBe(false);
      }),
    );
  });
});
