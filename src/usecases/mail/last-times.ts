import { ok } from "../../domain/result.ts";
import { fields, list, text } from "../../domain/schema/schema.ts";
import type { UseCase } from "../usecase.ts";

/** When an agent last wrote mail, and when it was last written to; null for never. */
export interface MailTimes {
  readonly name: string;
  readonly sentAt: number | null;
  readonly receivedAt: number | null;
}

/** Of each of these names, in their order. */
export const lastTimes: UseCase<{ readonly names: readonly string[] }, { readonly times: readonly MailTimes[] }> = {
  kind: "read",
  request: fields({ names: list(text) }),
  run: async (tx, _context, { names }) => {
    const times: MailTimes[] = [];
    for (const name of names) {
      const [sent] = await tx.messages.list({ from: name, limit: 1 });
      const [received] = await tx.messages.list({ to: name, limit: 1 });
      times.push({ name, sentAt: sent?.createdAt ?? null, receivedAt: received?.createdAt ?? null });
    }
    return ok({ times });
  },
};
