import { expect, test } from "bun:test";
import { worldWith } from "../../../testkit/world.ts";
import type { ProcessIdentity } from "../../domain/process/process.ts";
import { ok } from "../../domain/result.ts";
import type { Call, World } from "../operation.ts";
import type { StopIntent } from "./stop.ts";
import { stop } from "./stop.ts";

const intent = (name: string, facts: Partial<StopIntent> = {}): StopIntent => ({
  agentName: name,
  agentId: `agent-${name}`,
  capability: "builder",
  depth: 1,
  ended: false,
  alreadyEnded: false,
  wasZombie: false,
  wasCompleted: false,
  processes: [],
  ...facts,
});

/** Answers as the use cases would; each look at the progress finds one agent fewer. */
function scripted(agents: readonly StopIntent[]): { readonly world: World; looks(): number } {
  let looks = 0;
  const call = async (name: string, request: unknown) => {
    if (name === "agent.requestStop") return ok({ agents, liveChildren: [] });
    looks++;
    return ok({ open: (request as { agentIds: readonly string[] }).agentIds.slice(looks) });
  };
  return {
    // The two use cases above are all that a stop calls.
    world: worldWith({ call: call as Call }),
    looks: () => looks,
  };
}

function start(script: string): ProcessIdentity & AsyncDisposable {
  const child = Bun.spawn({ cmd: ["/bin/bash", "-c", script], stdio: ["ignore", "ignore", "ignore"], detached: true });
  const identity = linuxProcesses.identify(child.pid);
  if (identity === undefined) throw new Error("the process is not there");
  return {
    ...identity,
    [Symbol.asyncDispose]: async () => {
      await linuxProcesses.endTree(identity, 0);
    },
  };
}

const record = ({ pid, startToken, bootId }: ProcessIdentity, role: "agent" | "supervisor" = "agent") => ({
  pid,
  startToken,
  bootId,
  role,
  turnId: null,
});

const linuxProcesses = await worldWith({}).processes();
const command = { name: "ann", tree: false, force: false };

test("the agent's process is ended, its supervisor is not", async () => {
  await using agent = start("exec sleep 60");
  await using supervisor = start("exec sleep 60");
  const { world } = scripted([intent("ann", { processes: [record(supervisor, "supervisor"), record(agent)] })]);
  const report = await stop.run(world, command);
  expect(report).toMatchObject({
    ok: true,
    value: { stopped: true, killed: [{ pid: agent.pid, role: "agent", escalated: false }], survivors: [] },
  });
  expect(linuxProcesses.check(agent)).toBe("gone");
  expect(linuxProcesses.check(supervisor)).toBe("alive");
});

test("a recorded pid that another process has by now is left alone and not reported", async () => {
  await using stranger = start("exec sleep 60");
  const recorded = record({ ...stranger, startToken: "1" });
  const { world } = scripted([intent("ann", { processes: [recorded] })]);
  const report = await stop.run(world, { ...command, force: true });
  expect(report).toMatchObject({ ok: true, value: { stopped: true, killed: [] } });
  expect(linuxProcesses.check(stranger)).toBe("alive");
});

test("every agent below is reported as a child, and the stop waits for all of them", async () => {
  const agents = [intent("cid", { depth: 3 }), intent("bob", { depth: 2, ended: true }), intent("ann")];
  const { world, looks } = scripted(agents);
  const report = await stop.run(world, { ...command, tree: true });
  expect(report).toMatchObject({
    ok: true,
    value: { agentName: "ann", children: [{ agentName: "cid" }, { agentName: "bob" }] },
  });
  expect(looks()).toBe(2);
});

test("nobody is waited for when everybody had ended with the request", async () => {
  const { world, looks } = scripted([intent("ann", { ended: true })]);
  expect(await stop.run(world, command)).toMatchObject({ ok: true });
  expect(looks()).toBe(0);
});
