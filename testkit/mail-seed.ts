import { type Message, priorityRank } from "../src/domain/mail/types.ts";
import type { Tx } from "../src/ports/store.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import { aDelivery, aMessage } from "./contracts/store/rows.ts";
import { statePath } from "./state.ts";

/** Puts rows into a project's database in one transaction, as the setting of a test whose subject is the program. */
export async function fillStore(root: string, work: (tx: Tx) => Promise<void>): Promise<void> {
  const store = openSqlite({ path: statePath(root, "overstory.db"), life: "process" });
  await store.transaction(work);
  await store.close();
}

/** Stores these messages in this order, each to one name. */
export async function seedMail(
  root: string,
  to: string,
  mail: readonly (Partial<Message> & Pick<Message, "id">)[],
): Promise<void> {
  await fillStore(root, async (tx) => {
    for (const { id, ...change } of mail) {
      const message = aMessage(id, { runId: null, fromAgent: "operator", address: to, ...change });
      const seq = await tx.messages.insert(message);
      await tx.deliveries.insert([aDelivery(seq, to, { priorityRank: priorityRank[message.priority] })]);
    }
  });
}
