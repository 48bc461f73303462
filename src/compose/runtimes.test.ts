import { expect, test } from "bun:test";
import { type RuntimeSpec, runtimeNames } from "../domain/agent/runtime-spec.ts";
import { hookFormat, runtimeChoices } from "./runtime-names.ts";
import { runtimeById, runtimeOf, steeringFiles } from "./runtimes.ts";

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

test("a runtime of a file guards its files as those of this program do, and an agent has the one it was spawned with", () => {
  const described: RuntimeSpec = {
    id: "heron",
    program: "heron",
    args: ["acp"],
    versionArgs: ["--version"],
    instructionFile: ".heron/AGENTS.md",
    guardedFiles: ["**/.heron/settings.json"],
    environment: [],
    variables: {},
    model: { flag: "--model", option: null, aliases: {} },
    mode: null,
    usage: "prompt",
    resume: true,
    tools: true,
    stays: false,
    login: { variables: [], files: [], advice: null },
    home: { keeps: [], brings: [] },
  };
  expect(steeringFiles([described])).toEqual(
    expect.arrayContaining([...steeringFiles([]), ".heron/AGENTS.md", "**/.heron/settings.json"]),
  );
  expect(runtimeOf({ runtime: "heron", runtimeSpec: described })?.program).toBe("heron");
  expect(runtimeOf({ runtime: "heron", runtimeSpec: null })).toBeUndefined();
  expect(runtimeOf({ runtime: "claude", runtimeSpec: null })?.id).toBe("claude");
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
