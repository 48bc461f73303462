import { expect, test } from "bun:test";
import { redactionOf } from "../domain/text/redact.ts";
import { redactingStore } from "./redacting.ts";
import { inMemory, openSqlite } from "./sqlite.ts";

const secret = "s3cret-value-of-a-variable";

test("a secret in the reason of a pause is not stored, and a queue without a pause stays without one", async () => {
  const store = redactingStore(
    openSqlite({ path: inMemory, life: "process" }),
    redactionOf(() => [secret]),
  );
  const paused = { pausedBy: "operator", since: 1, reason: `until ${secret} is changed` };
  await store.transaction((tx) => tx.merges.setPause(paused));
  expect(await store.read((tx) => tx.merges.pause())).toEqual({ ...paused, reason: "until [REDACTED] is changed" });
  await store.transaction((tx) => tx.merges.setPause(undefined));
  expect(await store.read((tx) => tx.merges.pause())).toBeUndefined();
  await store.close();
});
