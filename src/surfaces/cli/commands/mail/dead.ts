import { ok } from "../../../../domain/result.ts";
import type { Handler, Rows } from "../../command.ts";
import { integer } from "../../given.ts";
import { table } from "../../table.ts";
import { messageJson } from "./render.ts";
import { deliveryJson } from "./status.ts";

export const dead: Handler = async ({ app, flags, io }) => {
  const found = await app.call("mail.dead", { limit: integer(flags.limit) });
  if (!found.ok) return found;
  const messages = found.value.dead.map(({ message, delivery }) => ({
    ...messageJson(message),
    delivery: deliveryJson(delivery),
  }));
  const rows: Rows = {
    columns: ["ID", "FROM", "TO", "TYPE", "ATTEMPTS", "LAST ERROR", "SUBJECT"],
    cells: messages.map(({ id, from, to, type, delivery, subject }) => [
      id,
      from,
      to,
      type,
      String(delivery.attempts),
      delivery.lastError ?? "-",
      subject,
    ]),
    objects: messages,
  };
  return ok({ json: { messages }, text: messages.length === 0 ? "No dead messages." : table(rows, io.paint), rows });
};
