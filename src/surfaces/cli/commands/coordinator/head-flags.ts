import type { HeadCapability } from "../../../../usecases/coordinators/find.ts";
import type { Call, Flag } from "../../command.ts";
import { text } from "../task/given.ts";

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
