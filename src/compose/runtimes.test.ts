import { expect, test } from "bun:test";
import { runtimeChoices, runtimeNames } from "./runtime-names.ts";
import { runtimeById } from "./runtimes.ts";

test("what may be chosen for an agent are the drivers that there are, the default under the plain name", () => {
  const drivers = runtimeNames.flatMap((runtime) =>
    (runtimeById(runtime)?.drivers ?? []).map(({ id: driver }, at) => ({
      name: at === 0 ? runtime : `${runtime}:${driver}`,
      runtime,
      driver,
    })),
  );
  expect(runtimeChoices).toEqual(drivers);
});

test("a runtime is known by every name that may be chosen", () => {
  for (const { name, runtime } of runtimeChoices) expect(runtimeById(name)?.id).toBe(runtime);
  expect(runtimeById("nobody")).toBeUndefined();
});
