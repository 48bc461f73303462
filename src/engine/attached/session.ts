import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { attachLease } from "../../domain/agent/wait.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { AttachHold, ProcessExit, TerminalProcess } from "../../ports/agent-process.ts";
import type { LaunchPlan, Runtime } from "../../ports/runtime.ts";
import type { AgentProgram } from "../../ports/sandbox.ts";
import { markFor } from "../../usecases/identity/identify.ts";
import { assignmentOf } from "../../usecases/prompts/assignment.ts";
import { makeReady, mergeRulesOf, namesOf } from "../supervisor/conserve.ts";
import { gatewayOf, shellOf, wholeShellOf } from "../supervisor/launch.ts";
import type { AttachedPorts } from "./hand-back.ts";

/**
 * Opens the agent's own program at this terminal, in its worktree and on its conversation, as the agent: with a token
 * of its own, and recorded before it begins. Resolves when the person leaves it. Giving the agent back is the caller's.
 */
export async function runAttached(ports: AttachedPorts, hold: AttachHold): Promise<Result<ProcessExit, Refusal>> {
  const agent = await ports.store.read((tx) => tx.agents.get(hold.agentId));
  if (agent === undefined) throw new Error(`agent ${hold.agentId} is not stored`);
  const ready = await makeReady(ports, agent, `attached ${hold.fence}`);
  if ("problem" in ready) return no(invalid("agent", `cannot work: ${ready.problem}`, { value: agent.name }));
  const plan = await planFor(ports, agent);
  if (!plan.ok) return plan;
  const { worktreeKind } = agent;
  const unconfined = ports.sandbox.refusal(worktreeKind);
  if (unconfined !== undefined) return no({ kind: "unconfined", problem: unconfined });
  const token = ports.ids.secret();
  const { argv, environment, footprint, steering } = plan.value;
  const cwd = agent.worktreePath ?? "/";
  const env = {
    ...environmentOf(ports, agent, environment),
    ...plan.value.env,
    ...(ports.sandbox.confines(worktreeKind) ? { OVERSTORY_CHANNEL: "engine" } : {}),
    OVERSTORY_TOKEN: token,
  };
  const shell = wholeShellOf(ports, agent);
  const program = {
    program: plan.value.program,
    agentName: agent.name,
    worktreeKind,
    cwd,
    turnDir: null,
    steering,
    makes: [],
    footprint,
    env,
    shell,
  };
  const confined = ports.sandbox.forAgent(program);
  const child = ports.terminal.start({
    argv: [...(confined?.before ?? []), ...argv],
    mark: markFor(ports.ids, agent, null),
    env: confined?.env ?? env,
    cwd,
  });
  const recorded = await record(ports, hold, child, token);
  if (!recorded) {
    child.abandon();
    return no({ kind: "busy", what: `${agent.name}, which was stopped or taken by somebody else,` });
  }
  await child.release();
  return ok(await child.exited);
}

type TerminalPlan = LaunchPlan &
  Pick<Runtime, "environment" | "footprint" | "program"> &
  Pick<AgentProgram, "steering">;

async function planFor(ports: AttachedPorts, agent: Agent): Promise<Result<TerminalPlan, Refusal>> {
  const runtime = ports.runtime(agent);
  const { name, providerSessionId: resume, model } = agent;
  const driver = runtime?.drivers.find(({ id }) => id === agent.driver);
  if (runtime === undefined || driver?.abilities.terminal !== true) {
    return no(invalid("agent", `runs on ${agent.runtime}, which cannot be opened by hand`, { value: name }));
  }
  if (resume === null) {
    return no(invalid("agent", "has no conversation yet; let its first turn begin", { value: name }));
  }
  const given = await ports.store.read((tx) => assignmentOf(tx, agent));
  const { worktreeKind, headCommit } = agent;
  const place = { given, worktreeKind, instructionFile: runtime.instructionFile, untouched: headCommit === null };
  const told = ports.instructions.place(place);
  const { found, file, guard } = told;
  const instructions = found ? null : file;
  const gateway = gatewayOf(ports, agent);
  const plan = runtime.terminal({ model, gateway, resume, tools: ports.tools, guard, instructions });
  const { environment, footprint, instructionFile, program } = runtime;
  const steering = found && agent.worktreePath !== null ? [`${agent.worktreePath}/${instructionFile}`] : [];
  return ok({ ...plan, environment, footprint, program, steering });
}

async function record(ports: AttachedPorts, hold: AttachHold, child: TerminalProcess, token: string): Promise<boolean> {
  const { agentId, agentName, fence } = hold;
  const now = ports.clock.now();
  return ports.store.transaction(async (tx) => {
    const agent = await tx.agents.get(agentId);
    const lease = await tx.leases.get(attachLease(agentName));
    const free = agent !== undefined && !hasEnded(agent) && agent.stopRequestedBy === null;
    if (!free || lease?.fence !== fence || (await tx.turns.runningFor(agentId)) !== undefined) return false;
    const open = { turnId: null, startedAt: now, endedAt: null, endReason: null };
    await tx.processes.insert({ id: ports.ids.next("process"), role: "agent", agentId, ...child.identity, ...open });
    const digest = ports.ids.digest(token);
    await tx.tokens.insert({ digest, agentId, turnId: null, createdAt: now, revokedAt: null });
    return true;
  });
}

function environmentOf(ports: AttachedPorts, agent: Agent, environment: readonly string[]): Record<string, string> {
  return {
    ...shellOf(ports, agent, environment),
    ...ports.baseEnvironment,
    ...namesOf(agent),
    ...mergeRulesOf(ports.files, agent),
    OVERSTORY_SCRATCH: ports.files.scratch(agent.name),
  };
}
