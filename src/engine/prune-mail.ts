import type { EnginePorts } from "./ports.ts";

/** Deletes mail of ended runs that everybody is done with and that nobody waits for. Mail that was not read stays. */
export async function pruneMail({ store, clock }: Pick<EnginePorts, "store" | "clock">, before: number): Promise<void> {
  await store.transaction(async (tx) => {
    const purged = await tx.messages.purgeSettled(before);
    if (purged === 0) return;
    const createdAt = clock.now();
    await tx.events.append([{ source: "engine", type: "mail_purged", data: { before, purged }, createdAt }]);
  });
}
