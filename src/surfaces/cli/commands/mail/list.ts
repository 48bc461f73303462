import { ok } from "../../../../domain/result.ts";
import type { MessageView } from "../../../../usecases/mail/view.ts";
import type { Handler, Rows } from "../../command.ts";
import { counted } from "../../format.ts";
import { integer, isOn, text } from "../../given.ts";
import { messageJson, messageLines } from "./render.ts";

export const list: Handler = async ({ app, flags, io }) => {
  const found = await app.call("mail.list", {
    from: text(flags.from),
    to: text(flags.to) ?? text(flags.agent),
    unread: isOn(flags.unread),
    type: text(flags.type),
    run: text(flags.run),
    thread: text(flags.thread),
    limit: integer(flags.limit),
  });
  if (!found.ok) return found;
  const { messages, more } = found.value;
  const total = more ? `The newest ${messages.length}; --limit shows more.` : `${counted(messages.length, "message")}.`;
  const blocks = messages.map((view) => messageLines(io.paint, view).join("\n"));
  return ok({
    json: { messages: messages.map(messageJson), more },
    text: messages.length === 0 ? "No messages." : [...blocks, total].join("\n\n"),
    wraps: true,
    rows: rowsOf(messages),
  });
};

const rowsOf = (messages: readonly MessageView[]): Rows => ({
  columns: ["ID", "FROM", "TO", "TYPE", "PRIORITY", "STATE", "SENT", "SUBJECT"],
  cells: messages.map(({ id, from, to, type, priority, state, createdAt, subject }) => [
    id,
    from,
    to,
    type,
    priority,
    state,
    new Date(createdAt).toISOString(),
    subject,
  ]),
  objects: messages.map(messageJson),
});
