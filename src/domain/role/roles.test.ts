import { describe, expect, test } from "bun:test";
import { admit } from "../agent/admission.ts";
import { type Capability, capabilities, isTerminal } from "../agent/capability.ts";
import { checkSender } from "../mail/sender.ts";
import { mailTypes } from "../mail/types.ts";
import { enforcements } from "./failures.ts";
import type { RoleSpec } from "./role-spec.ts";
import { roleList, roleOf, roles, toolsOf } from "./roles.ts";
import { toolNames } from "./tools.ts";

const limits = { maxDepth: 9, maxSessionsPerRun: 0, maxAgentsPerLead: 0 };

function admits(parent: Capability, capability: Capability): boolean {
  const facts = {
    run: { id: "run-1", agentsEver: 0 },
    parent: { name: "p", capability: parent, depth: 1, state: "between_turns" },
    liveChildren: 0,
    namesake: null,
    holders: [],
    limits,
  } as const;
  return admit({ name: "x", capability, taskId: "t" }, facts).ok;
}

test("every capability has a role, and a supervisor plays that of a lead", () => {
  expect(Object.keys(roles).sort()).toEqual(capabilities.filter((name) => name !== "supervisor").sort());
  expect(roleList.map(({ capability }) => roles[capability])).toEqual([...roleList]);
  expect(roleOf("supervisor")).toBe(roles.lead);
});

describe.each(roleList.map((role): [string, RoleSpec] => [role.capability, role]))("%s", (_, role) => {
  test("may sling exactly what admission lets in", () => {
    const admitted = capabilities.filter((child) => child !== "supervisor" && admits(role.capability, child));
    expect([...role.spawns].sort()).toEqual(admitted.sort());
  });

  test("may send exactly what its mail is not refused for, and ends with one of those", () => {
    const { capability } = role;
    expect(role.sends).toEqual(mailTypes.filter((type) => checkSender(type, capability).ok));
    expect(role.sends).toEqual(expect.arrayContaining([...role.terminal]));
    expect(role.terminal.every((type) => isTerminal({ capability, type, toParent: true }))).toBe(true);
  });

  test("has a completion step if and only if it ends by itself", () => {
    expect(role.tools.includes("finish")).toBe(role.terminal.length > 0);
    expect(role.commands.includes("done")).toBe(role.terminal.length > 0);
  });

  test("has the tool and the command to start agents if and only if it may start some", () => {
    expect(role.tools.includes("spawn")).toBe(role.spawns.length > 0);
    expect(role.commands.includes("sling")).toBe(role.spawns.length > 0);
  });

  test("names each mistake once, in capitals, with what keeps it from doing harm", () => {
    const names = role.failures.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, means, how, enforcedBy } of role.failures) {
      expect(name).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
      expect(enforcements).toContain(enforcedBy);
      expect(means.length).toBeGreaterThan(10);
      expect(how.length).toBeGreaterThan(10);
    }
  });

  test("works in phases, awaits mail, and is told about tools in the order of the protocol, each once", () => {
    expect(role.phases.length).toBeGreaterThan(2);
    expect(new Set(role.awaits).size).toBe(role.awaits.length);
    const tools = toolsOf(role, { expertise: true });
    expect(tools).toEqual(toolNames.filter((name) => tools.includes(name)));
    expect(new Set(role.tools).size).toBe(role.tools.length);
  });
});

test("only builders and mergers write, and only those who coordinate work in the project's own checkout", () => {
  const of = (want: (role: RoleSpec) => boolean) => roleList.filter(want).map(({ capability }) => capability);
  expect(of(({ access }) => access.files === "scoped-write")).toEqual(["builder", "merger"]);
  expect(of(({ access }) => access.commits)).toEqual(["builder", "merger"]);
  expect(of(({ access }) => access.place === "root")).toEqual(["orchestrator", "coordinator", "monitor"]);
});

test("nobody but the coordinator has the tool that queues a merge, and a scout has none to start agents", () => {
  expect(roleList.filter(({ tools }) => tools.includes("merge")).map(({ capability }) => capability)).toEqual([
    "coordinator",
  ]);
  expect(toolsOf(roles.scout, { expertise: false })).not.toContain("spawn");
});

test("tools of expertise are offered only where expertise is kept", () => {
  expect(toolsOf(roles.builder, { expertise: false })).not.toContain("learn");
  expect(toolsOf(roles.builder, { expertise: true })).toEqual(expect.arrayContaining(["learn", "expertise_search"]));
});
