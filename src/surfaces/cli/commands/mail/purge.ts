import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { counted } from "../../format.ts";
import { integer, isOn, text } from "../../given.ts";
import { successLine } from "../../marks.ts";

export const purge: Handler = async ({ app, flags, io }) => {
  const purged = await app.call("mail.purge", {
    all: isOn(flags.all),
    days: integer(flags.days),
    agent: text(flags.agent),
  });
  if (!purged.ok) return purged;
  const { purged: count } = purged.value;
  return ok({
    json: { purged: count },
    text: successLine(io.paint, `Deleted ${counted(count, "message")}`),
    quietText: "",
  });
};
