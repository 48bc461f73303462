import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeProject } from "../testkit/project.ts";
import { statePath } from "../testkit/state.ts";
import { document, initWorld, type World } from "./init.world.ts";

async function project(config: string): Promise<World> {
  const world = await initWorld();
  world.write(".overstory/config.yaml", config);
  return world;
}

describe("get", () => {
  test("prints the value alone, as it could be typed again", async () => {
    using world = await project("project: {name: garden}\nmerge:\n  keepIgnored: [a, b]\n");
    expect(await world.ov("config", "get", "project.name")).toEqual({ code: 0, out: "garden\n", err: "" });
    expect((await world.ov("config", "get", "merge.keepIgnored")).out).toBe('["a","b"]\n');
    expect((await world.ov("config", "get", "agents.maxConcurrent")).out).toBe("25\n");
    expect(await world.json("config", "get", "runtime.capabilities.scout")).toMatchObject({ value: null });
  });

  test("of an unknown key is refused with the nearest one", async () => {
    using world = await project("");
    const { code, out } = await world.ov("config", "get", "agents.maxConcurent", "--json");
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({
      details: { kind: "invalid", field: "key", nearest: "agents.maxConcurrent" },
    });
  });

  test("from a configuration that cannot be used is a failure, not a default", async () => {
    using world = await project("agents:\n  maxDepth: many\n");
    expect(await world.ov("config", "get", "agents.maxDepth")).toMatchObject({ code: 3, out: "" });
  });

  test("a mistake in the file is told with its line and column", async () => {
    using world = await project("agents:\n  maxDepth: [1\nmerge: {}\n");
    const { code, err } = await world.ov("status");
    expect(code).toBe(3);
    expect(err).toMatch(/\(line \d+, column \d+\)/);
    using other = await project("agents:\n  maxDepth: many\n");
    expect((await other.ov("status")).err).toContain("(line 2, column 13)");
  });

  test("outside of a project says how to make one", async () => {
    using world = await initWorld();
    expect(await world.ov("config", "get", "agents.maxDepth")).toMatchObject({
      code: 3,
      err: expect.stringContaining("ov init"),
    });
  });
});

test("an emptied file takes no setting away: it is named with the copy, which stays", async () => {
  using world = await project("agents:\n  maxDepth: 1\n");
  expect((await world.ov("init", "--yes")).code).toBe(0);
  world.write(".overstory/config.yaml", "");
  const refused = { code: 3, out: "", err: expect.stringContaining("is empty; put its last known copy back: cp ") };
  expect(await world.ov("config", "get", "agents.maxDepth")).toMatchObject(refused);
  expect(await world.ov("config", "set", "agents.maxDepth", "2")).toMatchObject(refused);
  rmSync(join(world.root, ".overstory/config.yaml"));
  expect((await world.ov("config", "get", "agents.maxDepth")).out).toBe("1\n");
});

describe("unset", () => {
  test("of the only key leaves a file that is not taken for an emptied one", async () => {
    using world = await project("agents:\n  maxDepth: 1\n");
    expect((await world.ov("config", "unset", "agents.maxDepth")).code).toBe(0);
    expect(world.read(".overstory/config.yaml")).toStartWith("# ");
    expect((await world.ov("config", "set", "agents.maxDepth", "3")).code).toBe(0);
    expect((await world.ov("config", "get", "agents.maxDepth")).out).toBe("3\n");
  });

  test("removes one key, keeps everything else, and says what counts now; a second time changes nothing", async () => {
    using world = await project("# mine\nagents:\n  maxDepth: 1 # low\n  maxConcurrent: 4\n");
    const { code, out } = await world.ov("config", "unset", "agents.maxConcurrent");
    expect(code).toBe(0);
    expect(out).toContain("agents.maxConcurrent was removed from .overstory/config.yaml: 25 counts now (default)");
    expect(world.read(".overstory/config.yaml")).toBe("# mine\nagents:\n  maxDepth: 1 # low\n");
    expect(await world.json("config", "unset", "agents.maxConcurrent")).toMatchObject({
      key: "agents.maxConcurrent",
      file: ".overstory/config.yaml",
      removed: false,
      before: 25,
      value: 25,
      origin: "default",
    });
  });

  test("with --local removes it from the file of this machine alone, and the project's value counts", async () => {
    using world = await project("agents:\n  maxDepth: 1\n");
    await world.json("config", "set", "agents.maxDepth", "3", "--local");
    const shared = await world.ov("config", "unset", "agents.maxConcurrent", "--local");
    expect(shared).toMatchObject({ code: 0, out: expect.stringContaining("is not set in") });
    expect(await world.json("config", "unset", "agents.maxDepth", "--local")).toMatchObject({
      file: ".overstory/config.local.yaml",
      removed: true,
      before: 3,
      value: 1,
      origin: ".overstory/config.yaml:2",
    });
    expect(world.read(".overstory/config.yaml")).toBe("agents:\n  maxDepth: 1\n");
    const elsewhere = await world.ov("config", "unset", "agents.maxDepth", "--local");
    expect(elsewhere.out).toContain("to remove it there: ov config unset agents.maxDepth");
  });

  test("refuses an unknown key and changes nothing", async () => {
    using world = await project("agents:\n  maxDepth: 1\n");
    const before = world.snapshot();
    const { code, out } = await world.ov("config", "unset", "agents.maxDept", "--json");
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({ details: { kind: "invalid", nearest: "agents.maxDepth" } });
    expect(world.snapshot()).toEqual(before);
  });

  test("refuses what would leave the settings at odds with each other", async () => {
    using world = await project("watchdog:\n  staleThresholdMs: 5000000\n  zombieThresholdMs: 9000000\n");
    const { code } = await world.ov("config", "unset", "watchdog.zombieThresholdMs", "--json");
    expect(code).toBe(2);
    expect(world.read(".overstory/config.yaml")).toContain("zombieThresholdMs: 9000000");
  });
});

describe("set", () => {
  test("changes one key, keeps everything else as it was written, and says what changed", async () => {
    using world = await project("# mine\nagents:\n  maxDepth: 1 # low\n");
    const { code, out } = await world.ov("config", "set", "agents.maxConcurrent", "4");
    expect(code).toBe(0);
    expect(out).toContain("agents.maxConcurrent: 25 -> 4 in .overstory/config.yaml");
    expect(world.read(".overstory/config.yaml")).toBe("# mine\nagents:\n  maxConcurrent: 4\n  maxDepth: 1 # low\n");
    expect(await world.json("config", "set", "agents.maxDepth", "3")).toMatchObject({
      key: "agents.maxDepth",
      file: ".overstory/config.yaml",
      before: 1,
      value: 3,
      origin: ".overstory/config.yaml:4",
      inForce: true,
    });
  });

  test("with --local writes the file of this machine alone", async () => {
    using world = await project("agents:\n  maxDepth: 1\n");
    expect(await world.json("config", "set", "agents.maxDepth", "3", "--local")).toMatchObject({
      file: ".overstory/config.local.yaml",
      before: 1,
      value: 3,
    });
    expect(world.read(".overstory/config.yaml")).toBe("agents:\n  maxDepth: 1\n");
    expect(world.read(".overstory/config.local.yaml")).toBe("agents:\n  maxDepth: 3\n");
  });

  test("that another source overrules is written, and the person is told who wins", async () => {
    using world = await project("agents:\n  maxDepth: 1\n");
    world.env.OVERSTORY__AGENTS__MAX_DEPTH = "7";
    const { out, err } = await world.ov("config", "set", "agents.maxDepth", "3");
    expect(err).toContain("OVERSTORY__AGENTS__MAX_DEPTH overrules it: agents.maxDepth is still 7");
    expect(out).toContain("agents.maxDepth was written to .overstory/config.yaml");
    expect(world.read(".overstory/config.yaml")).toBe("agents:\n  maxDepth: 3\n");
  });

  test.each([
    ["a value of the wrong type", ["agents.maxDepth", "deep"], { field: "agents.maxDepth" }],
    ["a value out of range", ["agents.maxConcurrent", "0"], { field: "agents.maxConcurrent" }],
    ["an unknown key", ["agents.maxDept", "1"], { field: "key", nearest: "agents.maxDepth" }],
    ["a choice there is not", ["taskTracker.backend", "natve"], { field: "taskTracker.backend", nearest: "native" }],
    ["a runtime there is not", ["runtime.default", "scriptet"], { field: "runtime.default", nearest: "scripted" }],
    ["one for a capability", ["runtime.capabilities.lead", "nonsense"], { field: "runtime.capabilities.lead" }],
    ["a branch there is not", ["project.canonicalBranch", "nosuch"], { field: "project.canonicalBranch" }],
  ])("refuses %s and changes nothing", async (_what, args, details) => {
    using world = await project("agents:\n  maxDepth: 1\n");
    const before = world.snapshot();
    const { code, out } = await world.ov("config", "set", ...args, "--json");
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({ details: { kind: "invalid", ...details } });
    expect(world.snapshot()).toEqual(before);
  });

  test("refuses what only clashes together with the other file", async () => {
    using world = await project("watchdog:\n  staleThresholdMs: 500000\n");
    const before = world.snapshot();
    const { code, out } = await world.ov("config", "set", "watchdog.zombieThresholdMs", "400000", "--local", "--json");
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({ details: { kind: "invalid", field: "watchdog.zombieThresholdMs" } });
    expect(world.snapshot()).toEqual(before);
  });

  test("mends a key although another one is still wrong", async () => {
    using world = await project("agents:\n  maxDepth: deep\n  maxConcurrent: none\n");
    expect((await world.ov("config", "set", "agents.maxDepth", "2")).code).toBe(0);
    expect((await world.json("config", "validate")).problems).toMatchObject([{ key: "agents.maxConcurrent" }]);
  });

  test("does not touch a file it cannot read", async () => {
    using world = await project("agents: [\n");
    expect((await world.ov("config", "set", "agents.maxDepth", "2")).code).toBe(3);
    expect(world.read(".overstory/config.yaml")).toBe("agents: [\n");
  });

  test("follows a link instead of replacing it", async () => {
    using world = await initWorld();
    world.write(".overstory/.keep", "");
    writeFileSync(join(world.base, "shared.yaml"), "agents:\n  maxDepth: 1\n");
    symlinkSync(join(world.base, "shared.yaml"), join(world.root, ".overstory/config.yaml"));
    expect((await world.ov("config", "set", "agents.maxDepth", "4")).code).toBe(0);
    expect(await Bun.file(join(world.base, "shared.yaml")).text()).toBe("agents:\n  maxDepth: 4\n");
  });

  test("at the same time by several loses nothing", async () => {
    using world = await project("agents:\n  maxDepth: 1\n");
    const keys = ["agents.maxDepth", "agents.maxConcurrent", "agents.maxAgentsPerLead"];
    const answers = await Promise.all(keys.map((key) => world.ov("config", "set", key, "9")));
    expect(answers.map(({ code }) => code)).toEqual([0, 0, 0]);
    for (const key of keys) expect((await world.ov("config", "get", key)).out).toBe("9\n");
  });
});

describe("list", () => {
  test("shows keys with value and origin, those of a section when one is named", async () => {
    using world = await project("agents:\n  maxDepth: 1\n");
    const said = await world.json("config", "list", "agents");
    const keys = said.keys as { key: string }[];
    expect(keys.every(({ key }) => key.startsWith("agents."))).toBe(true);
    expect(keys.find(({ key }) => key === "agents.maxDepth")).toMatchObject({
      value: 1,
      default: 2,
      origin: ".overstory/config.yaml:2",
      variable: "OVERSTORY__AGENTS__MAX_DEPTH",
    });
    expect((await world.ov("config", "list")).out).toContain("project.canonicalBranch");
    expect(document(await world.ov("config", "list", "agents", "--json"))).toEqual(said);
  });

  test("of a section there is not is refused with the nearest one", async () => {
    using world = await project("");
    expect(await world.ov("config", "list", "agnets")).toMatchObject({
      code: 2,
      err: expect.stringContaining('did you mean "agents"'),
    });
  });
});

describe("validate", () => {
  test("reports unknown key, wrong type and range at once, each with its place, and exits 3", async () => {
    using world = await project("agents:\n  maxDepht: 1\n  maxDepth: deep\n  maxConcurrent: 0\nproject:\n  root: /x\n");
    const { code, out } = await world.ov("config", "validate", "--json");
    expect(code).toBe(3);
    const said = JSON.parse(out);
    expect(said).toMatchObject({ success: false, valid: false });
    expect([...said.problems, ...said.warnings]).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ file: ".overstory/config.yaml", line: 2, column: 3, nearest: "agents.maxDepth" }),
        expect.objectContaining({ line: 3, key: "agents.maxDepth", column: 13 }),
        expect.objectContaining({ line: 4, key: "agents.maxConcurrent" }),
        expect.objectContaining({ line: 6, key: "project.root" }),
      ]),
    );
    const text = await world.ov("config", "validate");
    expect(text.code).toBe(3);
    expect(text.out).toContain(".overstory/config.yaml:3:13 agents.maxDepth must be a whole number");
    expect(text.out).toContain('(did you mean "agents.maxDepth"?)');
  });

  test("finds nothing wrong with a file that only switches on what is not there yet", async () => {
    using world = await project("watchdog:\n  tier1Enabled: true\n");
    expect(await world.ov("config", "validate")).toMatchObject({
      code: 0,
      out: expect.stringContaining("can be used"),
    });
  });

  test("points at malformed YAML", async () => {
    using world = await project("agents:\n  maxDepth: [1\n");
    const { code, out } = await world.ov("config", "validate", "--json");
    expect(code).toBe(3);
    expect(JSON.parse(out).problems).toMatchObject([
      { file: ".overstory/config.yaml", line: expect.any(Number), key: "" },
    ]);
  });
});

describe("explain", () => {
  test("documents a key: meaning, what it takes, default, value, origin and variable", async () => {
    using world = await project("agents:\n  maxDepth: 1\n");
    const { out } = await world.ov("config", "explain", "agents.maxDepth");
    for (const part of [
      "agents.maxDepth",
      "integer",
      "a whole number of at least 0",
      "default  2",
      "1 (.overstory/config.yaml:2)",
      "OVERSTORY__AGENTS__MAX_DEPTH",
    ]) {
      expect(out).toContain(part);
    }
    expect(await world.json("config", "explain", "agents.maxDepth")).toMatchObject({ min: 0, value: 1, default: 2 });
    expect(await world.json("config", "explain", "taskTracker.backend")).toMatchObject({
      choices: ["auto", "native", "seeds", "beads"],
      origin: "default",
    });
    expect((await world.ov("config", "explain", "project.name")).out).toContain("the name of the project's directory");
  });

  test("works beside a broken configuration, with a warning that defaults stand in", async () => {
    using world = await project("agents:\n  maxDepth: deep\n");
    const { code, err } = await world.ov("config", "explain", "agents.maxDepth");
    expect(code).toBe(0);
    expect(err).toContain("ov config validate");
  });

  test("of an unknown key is refused with the nearest one", async () => {
    using world = await project("");
    expect(await world.ov("config", "explain", "agents.maxDept")).toMatchObject({
      code: 2,
      err: expect.stringContaining('did you mean "agents.maxDepth"'),
    });
    expect(existsSync(statePath(world.root, "run"))).toBe(false);
  });
});

describe("a key that no part of this version uses", () => {
  const why = "it waits for settings of logs";

  test("is neither set, read, explained nor listed; the refusal says what it waits for", async () => {
    using world = await project("");
    for (const words of [
      ["set", "logging.verbose", "true"],
      ["get", "logging.verbose"],
      ["explain", "logging.verbose"],
    ]) {
      expect(await world.ov("config", ...words)).toMatchObject({ code: 2, err: expect.stringContaining(why) });
    }
    expect((await world.ov("config", "list")).out).not.toContain("logging.verbose");
    expect(readFileSync(join(world.root, ".overstory/config.yaml"), "utf8")).toBe("");
  });

  test("is accepted in a file, and validate names it with its place", async () => {
    using world = await project(
      "logging:\n  verbose: true\nmulch: {enabled: true}\nruntime:\n  printCommand: x\nagents: {maxDepth: 1}\n",
    );
    const said = JSON.parse((await world.ov("config", "validate", "--json")).out);
    expect(said).toMatchObject({ valid: true, problems: [] });
    expect(said.warnings.map(({ key, line }: { key: string; line: number }) => `${line} ${key}`)).toEqual([
      "2 logging.verbose",
      "3 mulch.enabled",
      "5 runtime.printCommand",
    ]);
    expect((await world.ov("config", "validate")).out).toContain(
      `logging.verbose has no effect in this version and is ignored: ${why}`,
    );
    expect((await world.ov("config", "get", "agents.maxDepth")).out).toBe("1\n");
  });
});

test("a typed list that is no JSON is refused with the place where it breaks", async () => {
  using world = await project("");
  const { code, err } = await world.ov("config", "set", "project.qualityGates", '[{"name":"T","command":}]');
  expect(code).toBe(2);
  expect(err).toContain('is not valid JSON: "}" stands at line 1, column 24, where a value should be');
  const mail = await world.ov("mail", "send", "--to", "b1", "--subject", "s", "--body", "b", "--payload", "{a}");
  expect(mail).toMatchObject({ code: 2, err: expect.stringContaining("line 1, column 2") });
});

test("config validate names a runtime that does not exist, with its key and file", async () => {
  await using project = await makeProject();
  const file = join(project.root, ".overstory", "config.yaml");
  writeFileSync(
    file,
    `${readFileSync(file, "utf8")}`.replace(
      "default: scripted",
      "default: scriptet\n  capabilities: { builder: bogus }",
    ),
  );
  const checked = await project.ov("config", "validate");
  expect(checked.code).toBe(3);
  expect(checked.out).toContain('"scriptet" is not a runtime of this version');
  expect(checked.out).toContain(".overstory/config.yaml:");
  expect(checked.out).toContain("runtime.capabilities.builder");
});
