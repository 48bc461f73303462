import { expect } from "bun:test";
import type { Check } from "./database.ts";

export function notificationPromises(check: Check): void {
  check(
    "a thing that the operator was notified of is claimed once, and known until it is removed",
    async ({ store }) => {
      await store.transaction((tx) => tx.notifications.claim(["a", "b"], 5));
      await expect(store.transaction((tx) => tx.notifications.claim(["c", "a"], 6))).rejects.toThrow();
      expect(await store.read((tx) => tx.notifications.known(["a", "b", "c"]))).toEqual(new Set(["a", "b"]));
      expect(await store.read((tx) => tx.notifications.unsettled())).toEqual(["a", "b"]);
      await store.transaction((tx) => tx.notifications.settle(["a"], 7));
      await store.transaction((tx) => tx.notifications.settle(["a", "b"], 8));
      expect(await store.read((tx) => tx.notifications.unsettled())).toEqual([]);
      expect(await store.read((tx) => tx.notifications.settledBefore(8, 10))).toEqual(["a"]);
      expect(await store.read((tx) => tx.notifications.settledBefore(9, 10))).toEqual(["a", "b"]);
      expect(await store.read((tx) => tx.notifications.settledBefore(9, 1))).toEqual(["a"]);
      expect(await store.transaction((tx) => tx.notifications.remove(["a", "x"]))).toBe(1);
      expect(await store.read((tx) => tx.notifications.known(["a", "b"]))).toEqual(new Set(["b"]));
    },
  );
}
