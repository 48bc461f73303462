import { describe, expect, test } from "bun:test";
import { agentPromises } from "./store/agents.ts";
import { budgetPromises } from "./store/budgets.ts";
import { checkPromises } from "./store/checks.ts";
import { concurrencyPromises } from "./store/concurrency.ts";
import { consistencyPromises } from "./store/consistency.ts";
import { type Check, type NewDatabase, recorded } from "./store/database.ts";
import { eventPromises } from "./store/events.ts";
import { fleetPromises } from "./store/fleet.ts";
import { gatePromises } from "./store/gates.ts";
import { importPromises } from "./store/imports.ts";
import { ledgerPromises } from "./store/ledger.ts";
import { mailPromises } from "./store/mail.ts";
import { mergePromises } from "./store/merges.ts";
import { notificationPromises } from "./store/notifications.ts";
import { oldRowPromises } from "./store/old-rows.ts";
import { processPromises } from "./store/processes.ts";
import { recoveryPromises } from "./store/recovery.ts";
import { snapshotPromises } from "./store/snapshots.ts";
import { spendingPromises } from "./store/spending.ts";
import { taskPromises } from "./store/tasks.ts";
import { transactionPromises } from "./store/transactions.ts";
import { turnPromises } from "./store/turns.ts";
import { valuePromises } from "./store/values.ts";
import { webPromises } from "./store/web.ts";

/** The promises of every store, on every database. */
export function storeContract(name: string, open: NewDatabase): void {
  describe(`the store contract on ${name}`, () => {
    const called = new Set<string>();
    const known = new Set<string>();
    const check: Check = (promise, body, timeoutMs = 120_000) =>
      test(
        promise,
        async () => {
          await using database = await open();
          await body({
            store: recorded(database.store, called, known),
            another: async () => recorded(await database.another(), called, known),
            [Symbol.asyncDispose]: async () => {},
          });
        },
        timeoutMs,
      );

    describe("transactions", () => transactionPromises(check));
    describe("runs and agents", () => agentPromises(check));
    describe("turns", () => turnPromises(check));
    describe("the fleet", () => fleetPromises(check));
    describe("processes, leases and tokens", () => processPromises(check));
    describe("mail", () => mailPromises(check));
    describe("events, notices, waits and audit", () => eventPromises(check));
    describe("tasks, groups and specs", () => taskPromises(check));
    describe("budgets and usage", () => budgetPromises(check));
    describe("release and recovery", () => recoveryPromises(check));
    describe("notifications", () => notificationPromises(check));
    describe("snapshots and cleaning", () => snapshotPromises(check));
    describe("the merge queue and its history", () => mergePromises(check));
    describe("gates and conflicts", () => gatePromises(check));
    describe("stored checks", () => checkPromises(check));
    describe("old rows", () => oldRowPromises(check));
    describe("values", () => valuePromises(check));
    describe("many at once", () => concurrencyPromises(check));
    describe("spending", () => spendingPromises(check));
    describe("consistency", () => consistencyPromises(check));
    describe("imports", () => importPromises(check));
    describe("the web server", () => webPromises(check));
    describe("the ledger of deliveries", () => ledgerPromises(check));

    test("no method of the port is without a promise in this suite", () => {
      expect([...known].filter((method) => !called.has(method))).toEqual([]);
    });
  });
}
