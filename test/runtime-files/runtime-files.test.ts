import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ranTurns } from "../../testkit/lifecycle.ts";
import { heronProject } from "./heron.world.ts";

test("a runtime of a file is listed, probed, examined and chosen by the configuration", async () => {
  await using project = await heronProject();
  project.describe("heron", "good", "environment: [HERON_KEY]\n");
  const env = { PATH: `${join(project.home, "bin")}:${project.env.PATH ?? process.env.PATH}`, HERON_KEY: "x" };
  const { runtimes, broken } = await project.json("runtimes", "list");
  expect(broken).toEqual([]);
  expect(runtimes).toContainEqual(
    expect.objectContaining({
      runtime: "heron",
      file: ".overstory/runtimes/heron.yaml",
      program: "heron",
      environment: ["HERON_KEY"],
      drivers: [expect.objectContaining({ driver: "acp", resume: true, tools: true })],
    }),
  );
  const probed = await project.ovWith({ env }, "runtimes", "probe", "heron", "--json");
  expect(JSON.parse(probed.out).runtimes).toMatchObject([{ runtime: "heron", version: "4.2.0", problem: null }]);
  const examined = await project.ovWith({ env }, "runtimes", "doctor", "heron", "--json");
  expect([examined.code, JSON.parse(examined.out).healthy]).toEqual([0, true]);
  await project.json("config", "set", "runtime.capabilities.builder", "heron");
  expect((await project.ov("config", "validate")).code).toBe(0);
  await project.json("task", "create", "Greet", "--id", "T1");
  const planned = await project.ovWith({ env }, "sling", "T1", "--dry-run", "--json");
  expect(JSON.parse(planned.out)).toMatchObject({ runtime: "heron" });
}, 120_000);

test("a file that cannot be used is told with its place, and keeps nobody else from working", async () => {
  await using project = await heronProject();
  project.describe("heron", "good", "arg: [acp]\n");
  const place = ".overstory/runtimes/heron.yaml:5:1: arg is not a known key; did you mean args?";
  const validated = await project.ov("config", "validate");
  expect(validated.code).not.toBe(0);
  expect(`${validated.out}${validated.err}`).toContain("arg is not a known key");
  expect((await project.ov("runtimes", "list")).out).toContain(place);
  expect((await project.ov("runtimes", "doctor")).out).toContain(place);
  await project.json("task", "create", "Greet", "--id", "T1");
  const refused = await project.ov("sling", "T1", "--runtime", "heron");
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining(place) });
  const unknown = await project.ov("sling", "T1", "--runtime", "stork");
  expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining(".overstory/runtimes/stork.yaml") });
  expect((await project.ov("status")).code).toBe(0);
}, 120_000);

test("an agent keeps the description it was spawned with, also when the file has changed or is gone", async () => {
  await using project = await heronProject("agents:\n  continuePrompts: 0\n");
  project.describe("heron", "no-load", "guardedFiles: ['**/.heron/**']\n");
  await project.sling("h1", "heron");
  expect(await project.firstTurn("h1")).toMatchObject({ clean: true, resultText: "I wait." });
  const file = join(project.root, ".overstory/runtimes/heron.yaml");
  writeFileSync(file, "program: no-such-program\n");
  rmSync(file);
  await project.json("mail", "send", "--to", "h1", "--type", "dispatch", "--subject", "Go", "--body", "Now do it.");
  await project.done("h1");
  expect((await ranTurns(project, "h1")).length).toBeGreaterThan(1);
  expect(await project.agent("h1")).toMatchObject({
    runtime: "heron",
    runtimeSpec: { program: "heron", args: ["no-load"] },
  });
}, 300_000);

test("a model reaches the program as its file says", async () => {
  await using project = await heronProject();
  project.describe("heron", "good", "model: { option: model, aliases: { big: heron-large } }\n");
  await project.sling("h1", "heron", "--model", "big");
  await project.done("h1");
  expect(await project.agent("h1")).toMatchObject({ model: "heron-large" });
}, 200_000);
