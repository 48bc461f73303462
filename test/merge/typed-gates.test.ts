import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { environmentOf } from "../../src/domain/completion/check.ts";
import { randomIds } from "../../src/host/ids.ts";
import { projectFiles } from "../../src/host/project-files.ts";
import { runUseCase } from "../../src/usecases/channel/run-use-case.ts";
import { outside } from "../../testkit/marked.ts";
import { builderBranch, type MergeWorld, mergeWorld } from "../../testkit/merge-queue-world.ts";

const environment = { CARGO_HOME: "/c", OPENAI_API_KEY: "k", OVERSTORY_TOKEN: "t", PATH: "/bin" };

const captured = ({ dir }: MergeWorld): string[] => {
  const place = join(dir, "run", "env");
  return existsSync(place) ? readdirSync(place) : [];
};

const byOperator = async (world: MergeWorld, request: unknown) => {
  const { store, settings, dir } = world;
  const clock = { now: () => world.clock.now, monotonic: () => 0 };
  const none = { ids: randomIds, reach: () => {}, sight: outside };
  const ports = { ...none, store, settings, clock, files: projectFiles({ root: dir, dir }) };
  return (await runUseCase(ports, { name: "gate.run", request })).result;
};

test("what a person types is asked with their variables, less what no gate may have", async () => {
  await using world = await mergeWorld();
  expect((await byOperator(world, { ref: builderBranch, environment, envFile: "/etc/passwd" })).ok).toBe(true);
  const [check] = await world.store.read((tx) => tx.checks.queued());
  const file = check === undefined ? undefined : environmentOf(check);
  expect(captured(world)).toEqual([file?.split("/").at(-1) ?? ""]);
  expect(JSON.parse(readFileSync(file ?? "", "utf8"))).toEqual({ CARGO_HOME: "/c", PATH: "/bin" });
  expect(statSync(file ?? "").mode & 0o777).toBe(0o600);
});

test("an agent's own variables, and a path in a request, are not believed", async () => {
  await using world = await mergeWorld();
  const asked = { ref: builderBranch, environment, envFile: "/etc/passwd" };
  expect((await world.callAs("lead-1", "gate.run", asked)).ok).toBe(true);
  expect((await byOperator(world, { ref: "main", envFile: "/etc/passwd" })).ok).toBe(true);
  const checks = await world.store.read((tx) => tx.checks.queued());
  expect(checks.map(environmentOf)).toEqual([undefined, undefined]);
  expect(captured(world)).toEqual([]);
});
