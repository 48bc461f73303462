import { expect } from "bun:test";
import type { WebKey } from "../../../src/domain/web/web-key.ts";
import type { WebListener } from "../../../src/ports/store/web.ts";
import type { Check } from "./database.ts";

const listener: WebListener = {
  host: "127.0.0.1",
  port: 7321,
  strictPort: true,
  owner: { pid: 7, startToken: "s", bootId: "b" },
  boundPort: null,
  problem: null,
  askedAt: 5,
};

const key: WebKey = {
  digest: "d1",
  id: "key-1",
  kind: "code",
  role: "operator",
  createdAt: 1,
  expiresAt: 10,
  usedAt: null,
};

export function webPromises(check: Check): void {
  check("there is one wish to listen, and a newer one takes its place", async ({ store }) => {
    expect(await store.read((tx) => tx.web.listener())).toBeUndefined();
    await store.transaction((tx) => tx.web.setListener(listener));
    expect(await store.read((tx) => tx.web.listener())).toEqual(listener);
    const served = { ...listener, strictPort: false, owner: null, boundPort: 7322 };
    await store.transaction((tx) => tx.web.setListener(served));
    expect(await store.read((tx) => tx.web.listener())).toEqual(served);
    await store.transaction((tx) => tx.web.dropListener());
    expect(await store.read((tx) => tx.web.listener())).toBeUndefined();
  });

  check("a key is found by its digest, deleted once, and listed only while it counts", async ({ store }) => {
    const session: WebKey = { ...key, digest: "d2", id: "key-2", kind: "session", createdAt: 2, expiresAt: 20 };
    await store.transaction(async (tx) => {
      await tx.web.addKey(session);
      await tx.web.addKey(key);
    });
    expect(await store.read((tx) => tx.web.key("d1"))).toEqual(key);
    expect(await store.read((tx) => tx.web.key("d3"))).toBeUndefined();
    expect(await store.read((tx) => tx.web.keys(9))).toEqual([key, session]);
    expect(await store.read((tx) => tx.web.keys(10))).toEqual([session]);
    await store.transaction((tx) => tx.web.noteUse("key-2", 7));
    expect(await store.read((tx) => tx.web.keys(10))).toEqual([{ ...session, usedAt: 7 }]);
    expect(await store.transaction((tx) => tx.web.dropKey("d1"))).toBe(true);
    expect(await store.transaction((tx) => tx.web.dropKey("d1"))).toBe(false);
    await store.transaction((tx) => tx.web.dropExpired(20));
    expect(await store.read((tx) => tx.web.key("d2"))).toBeUndefined();
  });

  check("keys are deleted by id, by role, or all of them", async ({ store }) => {
    const keys: readonly WebKey[] = [
      key,
      { ...key, digest: "d2", id: "key-2", role: "viewer" },
      { ...key, digest: "d3", id: "key-3", role: "viewer" },
      { ...key, digest: "d4", id: "key-4" },
    ];
    await store.transaction(async (tx) => {
      for (const each of keys) await tx.web.addKey(each);
    });
    expect(await store.transaction((tx) => tx.web.dropKeysOf(undefined, "key-1"))).toBe(1);
    expect(await store.transaction((tx) => tx.web.dropKeysOf("viewer", undefined))).toBe(2);
    expect(await store.read((tx) => tx.web.keys(0))).toEqual(keys.slice(3));
    expect(await store.transaction((tx) => tx.web.dropKeysOf(undefined, undefined))).toBe(1);
  });

  check("marks of the operator are found by their beginning, each thing having one", async ({ store }) => {
    const seen = { subject: "mail:m1", seenAt: 5, snoozedUntil: null, seenAs: null };
    const later = { subject: "attention:a%", seenAt: null, snoozedUntil: 9, seenAs: "as it was" };
    await store.transaction(async (tx) => {
      await tx.web.setMark({ ...seen, seenAt: 4 });
      await tx.web.setMark(seen);
      await tx.web.setMark(later);
    });
    expect(await store.read((tx) => tx.web.marks("mail:"))).toEqual([seen]);
    expect(await store.read((tx) => tx.web.marks("attention:a%"))).toEqual([later]);
    expect(await store.read((tx) => tx.web.marks(""))).toEqual([later, seen]);
  });
}
