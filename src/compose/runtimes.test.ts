import { expect, test } from "bun:test";
import { hookFormat, runtimeChoices, runtimeNames } from "./runtime-names.ts";
import { runtimeById } from "./runtimes.ts";

test("what may be chosen for an agent are the drivers that there are, the default under the plain name", () => {
  const drivers = runtimeNames.flatMap((runtime) =>
    (runtimeById(runtime)?.drivers ?? []).map(({ id: driver }, at) => ({
      name: at === 0 ? runtime : `${runtime}:${driver}`,
      runtime,
      driver,
    })),
  );
  expect(runtimeChoices.map(({ name, runtime, driver }) => ({ name, runtime, driver }))).toEqual(drivers);
});

test("a runtime is known by every name that may be chosen", () => {
  for (const { name, runtime } of runtimeChoices) expect(runtimeById(name)?.id).toBe(runtime);
  expect(runtimeById("nobody")).toBeUndefined();
});

test("what a runtime tells the guard is read as the command that it would run", async () => {
  const guard = { program: ["/bin/ov"], rules: "/w/rules", digest: "d1" };
  const asked = runtimeNames.flatMap((name) => {
    const line = runtimeById(name)?.guardLine?.(guard);
    return line === undefined ? [] : [{ name, line }];
  });
  expect(asked.length).toBeGreaterThan(0);
  for (const { name, line } of asked) {
    const read = (await hookFormat(name)).read(line.told("git push", "/w/tree"));
    expect([name, read]).toMatchObject([name, { cwd: "/w/tree", use: { command: "git push" } }]);
    expect(read?.tool).not.toBeNull();
    expect(line.line).toMatch(/(?:^|; )\/bin\/ov hook pre-tool --rules \/w\/rules --digest d1/);
  }
});
