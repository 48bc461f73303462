import { ok } from "../../../../domain/result.ts";
import type { Call, Handler } from "../../command.ts";
import { successLine } from "../../marks.ts";

export const sling: Handler = async ({ app, args, flags, io }) => {
  const runtime = text(flags.runtime);
  const reply = await app.call("agent.sling", {
    taskId: text(args.task) ?? "",
    capability: text(flags.capability) ?? "builder",
    files: Array.isArray(flags.files) ? flags.files : [],
    environment: await app.environmentFor(runtime),
    ...optional("name", flags.name),
    ...optional("parent", flags.parent),
    ...optional("specPath", flags.spec),
    ...optional("runtime", runtime),
    ...optional("model", flags.model),
    ...optional("baseBranch", flags["base-branch"]),
  });
  if (!reply.ok) return reply;
  const { agentName, capability, taskId, branch, runId, state } = reply.value;
  return ok({
    json: { agentName, capability, taskId, branch, runId, state },
    text: [
      successLine(io.paint, `Reserved ${capability} for ${taskId}:`, agentName),
      `  branch ${branch}`,
      "  watch it with: ov status",
    ].join("\n"),
  });
};

type Value = Call["flags"][string];

const text = (value: Value): string | undefined => (typeof value === "string" ? value : undefined);

function optional<K extends string>(key: K, value: Value): { [P in K]?: string } {
  const known = text(value);
  return (known === undefined ? {} : { [key]: known }) as { [P in K]?: string };
}
