import type { Agent } from "../../../../domain/agent/agent.ts";
import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { Handler, Paint, Rows } from "../../command.ts";
import { ago } from "../../format.ts";
import { isOn, text } from "../../given.ts";
import { statusIcon, statusWords } from "../../marks.ts";

export const discover: Handler = async ({ app, flags, io }) => {
  const found = await app.call("agent.discover", {
    capability: text(flags.capability),
    state: text(flags.state),
    parent: text(flags.parent),
    all: isOn(flags.all),
  });
  if (!found.ok) return found;
  const { agents } = found.value;
  const objects = agents.map(agentJson);
  const lines = agents.length === 0 ? ["No agents."] : agents.map((agent) => line(io.paint, agent));
  return ok({ json: { agents: objects }, text: lines.join("\n"), rows: rowsOf(agents, objects) });
};

function agentJson(agent: Agent) {
  return {
    agentName: agent.name,
    capability: agent.capability,
    state: agent.state,
    taskId: agent.taskId,
    branchName: agent.branch,
    parentAgent: agent.parentName,
    depth: agent.depth,
    fileScope: agent.scope,
    startedAt: new Date(agent.startedAt).toISOString(),
    lastActivity: new Date(agent.lastActivityAt).toISOString(),
  };
}

function line(paint: Paint, agent: Agent): string {
  const task = agent.taskId === null ? "" : ` ${agent.taskId}`;
  const scope = agent.scope.length === 0 ? "" : ` owns ${visibleLine(agent.scope.join(", "))}`;
  const parent = paint.dim(`below ${agent.parentName}, ${ago(agent.lastActivityAt, Date.now())}`);
  const state = `${statusIcon(paint, agent)} ${paint.accent(agent.name)} ${agent.capability}`;
  return `${state} ${statusWords(paint, agent)}${task}${scope} ${parent}`;
}

function rowsOf(agents: readonly Agent[], objects: readonly object[]): Rows {
  return {
    columns: ["NAME", "CAPABILITY", "STATE", "TASK", "PARENT", "BRANCH", "SCOPE"],
    cells: agents.map((agent) => [
      agent.name,
      agent.capability,
      agent.state,
      agent.taskId ?? "-",
      agent.parentName,
      agent.branch ?? "-",
      agent.scope.join(","),
    ]),
    objects,
  };
}
