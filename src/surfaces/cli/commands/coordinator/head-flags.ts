import type { Refusal } from "../../../../domain/refusal.ts";
import { ok, type Result } from "../../../../domain/result.ts";
import type { HeadCapability } from "../../../../usecases/coordinators/find.ts";
import type { Call, Flag } from "../../command.ts";
import { text } from "../../given.ts";
import { givenBody } from "../mail/given-body.ts";

/** Which one is meant, for every command about one that is there. */
export const nameFlag = (capability: HeadCapability): Flag => ({
  name: "name",
  value: "name",
  complete: "agents",
  summary: `Which ${capability} (default: "${capability}", or the only one there is)`,
});

export const questionOf = (capability: HeadCapability, { flags }: Pick<Call, "flags">) => ({
  capability,
  name: text(flags.name),
});

/** The one that a message is meant for, and what the message says. */
export async function headAndBody(
  capability: HeadCapability,
  call: Call,
): Promise<Result<{ readonly agentName: string; readonly body: string }, Refusal>> {
  const found = await call.app.call("coordinator.find", questionOf(capability, call));
  if (!found.ok) return found;
  const body = await givenBody(call);
  return body.ok ? ok({ agentName: found.value.agentName, body: body.value }) : body;
}
