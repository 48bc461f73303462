import { expect, test } from "bun:test";
import type { ProcessIdentity } from "../domain/process/process.ts";
import { ok } from "../domain/result.ts";
import { linuxProcesses } from "../host/processes.ts";
import type { App } from "../surfaces/cli/app.ts";
import type { StopIntent } from "../usecases/agents/stop.ts";
import { makeStopper } from "./stopper.ts";

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
function scripted(agents: readonly StopIntent[]): { readonly call: App["call"]; looks(): number } {
  let looks = 0;
  const call = async (name: string, request: unknown) => {
    if (name === "agent.stop") return ok({ agents, liveChildren: [] });
    looks++;
    return ok({ open: (request as { agentIds: readonly string[] }).agentIds.slice(looks) });
  };
  // The two use cases above are all a stopper calls.
  return { call: call as App["call"], looks: () => looks };
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

const command = { name: "ann", tree: false, force: false };

test("the agent's process is ended, its supervisor is not", async () => {
  await using agent = start("exec sleep 60");
  await using supervisor = start("exec sleep 60");
  const { call } = scripted([intent("ann", { processes: [record(supervisor, "supervisor"), record(agent)] })]);
  const report = await makeStopper({ call, remote: false }).stop(command);
  expect(report).toMatchObject({
    ok: true,
    value: { stopped: true, killed: [{ pid: agent.pid, role: "agent", escalated: false }], survivors: [] },
  });
  expect(linuxProcesses.check(agent)).toBe("gone");
  expect(linuxProcesses.check(supervisor)).toBe("alive");
});

test("a recorded pid that belongs to somebody else by now is left alone and not reported", async () => {
  await using stranger = start("exec sleep 60");
  const recorded = record({ ...stranger, startToken: "1" });
  const { call } = scripted([intent("ann", { processes: [recorded] })]);
  const report = await makeStopper({ call, remote: false }).stop({ ...command, force: true });
  expect(report).toMatchObject({ ok: true, value: { stopped: true, killed: [] } });
  expect(linuxProcesses.check(stranger)).toBe("alive");
});

test("where processes are out of sight, the engine is waited for and nothing is touched", async () => {
  await using agent = start("exec sleep 60");
  const world = scripted([intent("ann", { processes: [record(agent)] })]);
  const report = await makeStopper({ call: world.call, remote: true }).stop(command);
  expect(report).toMatchObject({ ok: true, value: { stopped: true, killed: [] } });
  expect(linuxProcesses.check(agent)).toBe("alive");
});

test("whoever is below is reported as a child, and all of them are waited for", async () => {
  const agents = [intent("cid", { depth: 3 }), intent("bob", { depth: 2, ended: true }), intent("ann")];
  const world = scripted(agents);
  const report = await makeStopper({ call: world.call, remote: false }).stop({ ...command, tree: true });
  expect(report).toMatchObject({
    ok: true,
    value: { agentName: "ann", children: [{ agentName: "cid" }, { agentName: "bob" }] },
  });
  expect(world.looks()).toBe(2);
});

test("nobody is waited for when everybody had ended with the request", async () => {
  const world = scripted([intent("ann", { ended: true })]);
  expect(await makeStopper({ call: world.call, remote: false }).stop(command)).toMatchObject({ ok: true });
  expect(world.looks()).toBe(0);
});
