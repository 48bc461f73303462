import type { NotificationRows } from "../ports/store/notifications.ts";
import { placeholders, type Sql, type SqlRow } from "./sql.ts";

export const notificationRows = (sql: Sql): NotificationRows => ({
  known: async (items) => {
    if (items.length === 0) return new Set();
    const found = await sql.all(`SELECT item FROM notifications WHERE item IN ${placeholders(items.length)}`, ...items);
    return new Set(itemsOf(found));
  },
  claim: async (items, now) => {
    for (const item of items) await sql.run("INSERT INTO notifications (item, told_at) VALUES (?, ?)", item, now);
  },
  settle: async (items, now) => {
    if (items.length === 0) return;
    await sql.run(
      `UPDATE notifications SET settled_at = ? WHERE settled_at IS NULL AND item IN ${placeholders(items.length)}`,
      now,
      ...items,
    );
  },
  unsettled: async () =>
    itemsOf(await sql.all("SELECT item FROM notifications WHERE settled_at IS NULL ORDER BY item")),
  settledBefore: async (time, most) =>
    itemsOf(
      await sql.all(
        "SELECT item FROM notifications WHERE settled_at < ? ORDER BY settled_at, item LIMIT ?",
        time,
        most,
      ),
    ),
  remove: async (items) =>
    items.length === 0 ? 0 : sql.run(`DELETE FROM notifications WHERE item IN ${placeholders(items.length)}`, ...items),
});

const itemsOf = (rows: readonly SqlRow[]): string[] => rows.map(({ item }) => String(item));
