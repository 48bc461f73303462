import { fleetAgentView, seatView } from "../../../contract/views/agent.ts";
import { ok } from "../../../domain/result.ts";
import { withValues } from "../../../domain/schema/schema.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { AgentStanding } from "../../../usecases/status/overview.ts";
import type { ToolHandler } from "../tool-call.ts";

export const spawn: ToolHandler = async (given, context) => {
  const optional = {
    specPath: given.optionalText("spec"),
    title: given.optionalText("title"),
    name: given.optionalText("name"),
    siblings: given.texts("siblings"),
    shares: given.texts("shares"),
    allowOverlap: given.isOn("allow_overlap") || undefined,
    dispatchMaxAgents: given.number("max_agents"),
    skipReview: given.isOn("skip_review") || undefined,
  };
  const seat = await context.app.call("agent.sling", {
    taskId: given.text("task_id"),
    capability: given.text("capability"),
    files: given.texts("files") ?? [],
    // Children get what the person's shell gave their parent.
    environment: {},
    ...withValues(optional),
  });
  if (!seat.ok) return seat;
  const { agentName, capability, taskId, branch, warnings } = seat.value;
  const lines = [
    `Started ${capability} ${agentName} on ${taskId}, branch ${branch}.`,
    ...warnings.map((warning) => `Warning: ${visibleLine(warning)}`),
  ];
  return ok({ text: lines.join("\n"), data: seatView(seat.value) });
};

export const fleet: ToolHandler = async (given, { app, self }) => {
  const scope = given.optionalText("scope") ?? "children";
  const seen = await app.call("status.overview", { all: scope === "all", mailbox: self.name });
  if (!seen.ok) return seen;
  const wanted = seen.value.agents.filter(({ agent }) =>
    scope === "children" ? agent.parentName === self.name : scope === "all" || agent.runId === self.runId,
  );
  const { openMerges, approvals } = seen.value;
  const merges =
    openMerges === 0 ? [] : [`${openMerges} in the merge queue, ${approvals.length} wait for the operator`];
  const lines = [...(wanted.length === 0 ? ["No agents."] : wanted.map(agentLine)), ...merges];
  return ok({ text: lines.join("\n"), data: { agents: wanted.map(fleetAgentView), openMerges } });
};

function agentLine({ agent, submitted, unread, waits }: AgentStanding): string {
  const state = submitted ? "submitted" : agent.state;
  const parts = [
    `${agent.name} ${agent.capability} ${state}${agent.outcome === null ? "" : `/${agent.outcome}`}`,
    ...(agent.taskId === null ? [] : [`task ${agent.taskId}`]),
    ...(unread === 0 ? [] : [`${unread} unread`]),
    ...waits.map(({ kind, ref }) => `waits for ${kind} ${visibleLine(ref)}`),
  ];
  return parts.join(", ");
}
