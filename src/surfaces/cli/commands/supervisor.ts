import { agentView, seatView, stoppedAgentView } from "../../../contract/views/agent.ts";
import { ok } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { Handler } from "../command.ts";
import { integer, text, word } from "../given.ts";
import { successLine } from "../marks.ts";

export const start: Handler = async ({ app, flags, io }) => {
  const parent = text(flags.parent);
  const depth = integer(flags.depth);
  const environment = await app.call("environment.capture", {});
  if (!environment.ok) return environment;
  const slung = await app.call("agent.sling", {
    taskId: word(flags.task),
    capability: "lead",
    name: word(flags.name),
    files: [],
    environment: environment.value,
    ...(parent === undefined ? {} : { parent }),
    ...(depth === undefined ? {} : { depth }),
  });
  if (!slung.ok) return slung;
  const { agentName, warnings } = slung.value;
  for (const warning of warnings) io.warn(visibleLine(warning));
  const words = successLine(io.paint, "Reserved lead", agentName);
  return ok({ json: seatView(slung.value), text: words, quietText: agentName });
};

export const stop: Handler = async ({ app, flags, io }) => {
  const stopped = await app.call("agent.stop", { name: word(flags.name), tree: false, force: false });
  if (!stopped.ok) return stopped;
  const { agentName } = stopped.value;
  const words = successLine(io.paint, "Stopped", agentName);
  return ok({ json: stoppedAgentView(stopped.value, { force: false }), text: words, quietText: "" });
};

export const status: Handler = async ({ app, flags }) => {
  const name = text(flags.name);
  if (name !== undefined) {
    const found = await app.call("status.agent", { name });
    if (!found.ok) return found;
    const view = agentView(found.value.agent);
    return ok({ json: view, text: line(view) });
  }
  const found = await app.call("agent.discover", { capability: "lead", all: false });
  if (!found.ok) return found;
  const supervisors = found.value.agents.map(agentView);
  return ok({ json: { supervisors }, text: supervisors.map(line).join("\n") || "No leads." });
};

const line = ({ agentName, state, taskId }: ReturnType<typeof agentView>): string =>
  `${agentName} ${state}${taskId === null ? "" : ` ${taskId}`}`;
