import { expect, test } from "bun:test";
import { Failure } from "../domain/failure.ts";
import type { Store } from "../ports/store.ts";
import { patientStore } from "./patient.ts";

function failing(times: number, error: Error): { store: Store; tries: () => number } {
  let tries = 0;
  const unused = async (): Promise<never> => {
    throw new Error("not asked for");
  };
  const store: Store = {
    read: unused,
    changeCounter: unused,
    close: unused,
    transaction: async (work) => {
      if (++tries <= times) throw error;
      return work({} as never);
    },
  };
  return { store, tries: () => tries };
}

test("a unit of work waits for space, says so each time it is refused, and happens once", async () => {
  const { store, tries } = failing(2, new Failure({ kind: "disk-full", path: "/p/s.db" }));
  const told: string[] = [];
  let done = 0;
  const answer = await patientStore(store, ({ data }) => told.push(data.kind)).transaction(async () => ++done);
  expect({ answer, done, tries: tries(), told }).toEqual({
    answer: 1,
    done: 1,
    tries: 3,
    told: ["disk-full", "disk-full"],
  });
});

test("any other failure is passed on at once", async () => {
  const { store, tries } = failing(
    1,
    new Failure({ kind: "store-corrupt", path: "/p/s.db", problem: "malformed", backup: null }),
  );
  const refused = patientStore(store, () => {}).transaction(async () => 1);
  expect(await refused.catch((error: unknown) => error)).toHaveProperty("data.kind", "store-corrupt");
  expect(tries()).toBe(1);
});
