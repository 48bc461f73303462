import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inProject, load } from "../../testkit/config-world.ts";
import { variableFor } from "./environment.ts";
import { type Loaded, loadConfig, loadLastKnown } from "./load.ts";
import { unusedKeys, whyIgnored } from "./unused-keys.ts";

const brief = (problems: Loaded["problems"]) =>
  problems.map(({ line, column, key, message }) => `${line}:${column} ${key} ${message}`);

test("without files everything has its default, and the project is named after its directory", async () => {
  const loaded = await load({});
  expect(loaded).toMatchObject({ ok: true, warnings: [], problems: [], origins: {} });
  expect(loaded.config.project.name).toBe("garden");
  expect(loaded.config.agents.maxConcurrent).toBe(25);
  expect(loaded.config.project.qualityGates).toEqual([]);
});

test("later layers win, sections are merged, lists are replaced", async () => {
  const { config, ok, origins } = await load({
    project:
      "agents: {maxConcurrent: 4, maxDepth: 3}\nmerge:\n  keepIgnored: [a, b]\nruntime: {capabilities: {lead: claude, builder: claude}}\n",
    local:
      "agents:\n  maxConcurrent: 5\nmerge:\n  keepIgnored: [c]\nruntime:\n  capabilities:\n    builder: scripted\n",
    env: { OVERSTORY__AGENTS__MAX_CONCURRENT: "6" },
  });
  expect(ok).toBe(true);
  expect(config.agents).toMatchObject({ maxConcurrent: 6, maxDepth: 3, maxAgentsPerLead: 5 });
  expect(config.merge.keepIgnored).toEqual(["c"]);
  expect(config.runtime.capabilities).toEqual({ lead: "claude", builder: "scripted" });
  expect(origins["agents.maxConcurrent"]).toMatchObject({
    layer: "environment",
    file: "OVERSTORY__AGENTS__MAX_CONCURRENT",
  });
  expect(origins["runtime.capabilities.builder"]).toMatchObject({ layer: "local", line: 7, column: 14 });
  expect(origins["agents.maxDepth"]).toMatchObject({ layer: "project", line: 1 });
  expect(origins["agents.maxAgentsPerLead"]).toBeUndefined();
});

test("the machine's own file works without the shared one", async () => {
  expect((await load({ local: "agents:\n  maxDepth: 1\n" })).config.agents.maxDepth).toBe(1);
});

test("an unknown key, a wrong type and a value out of range are reported together with their lines", async () => {
  const loaded = await load({
    project: "agents:\n  maxConcurent: 3\n  maxDepth: deep\nwatchdog:\n  maxEscalationLevel: 50\n",
    local: "merge:\n  mode: atuo\n",
  });
  expect(loaded.ok).toBe(false);
  expect(brief(loaded.problems)).toEqual([
    '3:13 agents.maxDepth must be a whole number of at least 0, not "deep"',
    "5:23 watchdog.maxEscalationLevel must be a whole number from 1 to 5, not 50",
    '2:9 merge.mode must be one of manual, auto, approve, not "atuo"',
  ]);
  expect(loaded.problems[2]).toMatchObject({ nearest: "auto", file: expect.stringContaining("config.local.yaml") });
  expect(brief(loaded.warnings)).toEqual(["2:3 agents.maxConcurent is not a known key and is ignored"]);
  expect(loaded.warnings[0]?.nearest).toBe("agents.maxConcurrent");
});

test("an unknown key alone does not make a configuration unusable", async () => {
  const loaded = await load({ project: "agents:\n  colour: red\nfrobnicate: 1\n" });
  expect(loaded.ok).toBe(true);
  expect(loaded.warnings.map((warning) => warning.key)).toEqual(["agents.colour", "frobnicate"]);
});

test("a key in the wrong section, or written with dots, is pointed to its place", async () => {
  const { warnings } = await load({ project: "maxConcurrent: 3\nagents.maxDepth: 1\n" });
  expect(warnings[0]?.nearest).toBe("agents.maxConcurrent");
  expect(warnings[1]?.message).toContain("nested sections");
});

describe("a key that no part of this version uses", () => {
  const file = [
    "runtime: {printCommand: x}",
    "logging:",
    "  verbose: [not, even, a, switch]",
    "providers:",
    "  corner: {colour: red}",
    "models: {builder: opus}",
    "mulch: 5",
    "agents: {manifestPath: a.json, maxDepth: 1}",
  ].join("\n");

  test("is accepted with a warning that names it, whatever its value is", async () => {
    const { ok, config, warnings } = await load({ project: file });
    expect([ok, config.agents.maxDepth]).toEqual([true, 1]);
    expect(warnings.map(({ line, key, message }) => `${line} ${key} ${message.split(":")[0]}`)).toEqual([
      "1 runtime.printCommand has no effect in this version and is ignored",
      "3 logging.verbose has no effect in this version and is ignored",
      "5 providers.corner.colour is not a known key and is ignored",
      "7 mulch is not a known key and is ignored",
      "8 agents.manifestPath has no effect in this version and is ignored",
    ]);
    expect(warnings[0]?.message).toEndWith("it waits for single questions to a model");
  });

  test("each of them is accepted, in a file and as a variable", async () => {
    for (const pattern of Object.keys(unusedKeys)) {
      const path = pattern.replaceAll("*", "builder").split(".");
      const project = path.map((part, depth) => `${" ".repeat(depth)}${part}:`).join("\n");
      const loaded = await load({ project: `${project} 1\n`, env: { [variableFor(path)]: "1" } });
      const said = [`${path.join(".")} ${whyIgnored(path)}`, ` ${whyIgnored(path)}`];
      expect([loaded.ok, loaded.warnings.map(({ key, message }) => `${key} ${message}`)]).toEqual([true, said]);
    }
  });
});

test("a rule about two keys is reported where one of them is written", async () => {
  const loaded = await load({
    project: "watchdog:\n  staleThresholdMs: 900000\n",
  });
  expect(loaded.problems.map(({ key, line }) => [key, line])).toEqual([["watchdog.zombieThresholdMs", 2]]);
});

test("a rule says nothing about a key whose value is already refused", async () => {
  const loaded = await load({ project: "watchdog:\n  staleThresholdMs: 900000\n  zombieThresholdMs: never\n" });
  expect(loaded.problems.map((problem) => problem.message)).toEqual([
    'must be a whole number of at least 1, not "never"',
  ]);
});

test("a health check that is off needs no interval", async () => {
  expect((await load({ project: "watchdog: {tier0Enabled: false, tier0IntervalMs: 0}\n" })).ok).toBe(true);
  expect((await load({ project: "watchdog: {tier0IntervalMs: 0}\n" })).ok).toBe(false);
});

test("a name that means nothing is warned about with the nearest that does", async () => {
  const project =
    "runtime: {capabilities: {bulder: claude}}\nmail:\n  wake:\n    status@lead: true\n    stauts: true\n    result@leed: true\n";
  const { ok, warnings, config } = await load({ project });
  expect(ok).toBe(true);
  expect(warnings.map(({ key, line, nearest }) => [key, line, nearest])).toEqual([
    ["runtime.capabilities.bulder", 1, "builder"],
    ["mail.wake.stauts", 5, "status"],
    ["mail.wake.result@leed", 6, "lead"],
  ]);
  expect(config.mail.wake["status@lead"]).toBe(true);
});

test("gates are read field by field, and every fault in them is named", async () => {
  const gate = "project:\n  qualityGates:\n    - name: test\n      command: make test\n";
  const good = await load({ project: gate });
  expect(good.config.project.qualityGates).toEqual([
    { name: "test", command: "make test", description: "", timeoutMs: 300_000, required: true, paths: [] },
  ]);
  const bad = await load({ project: `${gate}    - name: lint\n    - 7\n    - name: ""\n      comand: x\n` });
  expect(bad.problems.map(({ key, line }) => `${line} ${key}`)).toEqual([
    "5 project.qualityGates[1].command",
    "6 project.qualityGates[2]",
    "8 project.qualityGates[3].comand",
    "7 project.qualityGates[3].name",
    "7 project.qualityGates[3].command",
  ]);
});

test("a gate may have its own time limit, be optional, and be limited to some files", async () => {
  const gate = "project:\n  qualityGates:\n    - {name: e2e, command: make e2e, timeoutMs: 1_000";
  const good = await load({ project: `${gate}, required: false, paths: ["src/**", web]}\n` });
  expect(good.config.project.qualityGates).toEqual([
    { name: "e2e", command: "make e2e", description: "", timeoutMs: 1_000, required: false, paths: ["src/**", "web"] },
  ]);
  const bad = await load({ project: `${gate.replace("1_000", "0")}, required: maybe, paths: [a, ../b]}\n` });
  expect(bad.problems.map(({ key, message }) => `${key} ${message}`)).toEqual([
    "project.qualityGates[0].timeoutMs must be a whole number of at least 1, not 0",
    'project.qualityGates[0].required must be true or false, not "maybe"',
    'project.qualityGates[0].paths[1] must be a path inside the project, without a leading / and without .., not "../b"',
  ]);
});

test("two gates of one name could not be told apart, so the second is refused", async () => {
  const gates = "project:\n  qualityGates:\n    - {name: t, command: a}\n    - {name: t, command: b}\n";
  expect((await load({ project: gates })).problems).toMatchObject([
    { key: "project.qualityGates", message: "has two gates that are called t" },
  ]);
});

test("a generated file names its paths and its command", async () => {
  expect((await load({ project: "" })).config.merge.generated).toEqual([
    { paths: ["package-lock.json"], command: "npm install --package-lock-only" },
  ]);
  const bad = await load({ project: "merge:\n  generated: [{command: make}, {command: make, paths: []}]\n" });
  expect(bad.problems.map(({ key, message }) => `${key} ${message}`)).toEqual([
    "merge.generated[0].paths is missing",
    "merge.generated[1].paths must not be empty",
  ]);
});

test("numbers may be grouped by underscores, as the earlier system wrote them", async () => {
  expect((await load({ project: "watchdog:\n  tier0IntervalMs: 45_000\n" })).config.watchdog.tier0IntervalMs).toBe(
    45_000,
  );
});

test("a section whose keys are all commented out is no section at all", async () => {
  expect(await load({ project: "agents:\n  # maxConcurrent: 3\nmodels: ~\n" })).toMatchObject({
    ok: true,
    warnings: [],
  });
});

test("an empty value is refused, except where a key may be absent", async () => {
  const loaded = await load({
    project: "project: {defaultProfile: quick}\nruntime: {capabilities: {lead: claude}}\nagents:\n  maxDepth:\n",
    local: "project: {defaultProfile: ~}\nruntime: {capabilities: {lead: ~}}\n",
  });
  expect(brief(loaded.problems)).toEqual([
    "4:12 agents.maxDepth has no value; it must be a whole number of at least 0",
  ]);
  expect(loaded.config.project.defaultProfile).toBeUndefined();
  expect(loaded.config.runtime.capabilities).toEqual({});
});

test("broken YAML is reported with its line, and the other file is still checked", async () => {
  const loaded = await load({ project: "agents:\n  maxDepth: [1,\nmail: {}\n", local: "agents:\n  maxDepth: -1\n" });
  expect(loaded.problems).toMatchObject([
    { key: "", line: 3 },
    { key: "agents.maxDepth", line: 2 },
  ]);
});

test("a key written twice is reported together with the faults around it", async () => {
  const { problems } = await load({ project: "agents:\n  maxDepth: 1\n  maxDepth: 2\n  maxRevivals: x\n" });
  expect(problems.map(({ line, key }) => `${line} ${key}`)).toEqual(["3 ", "4 agents.maxRevivals"]);
});

test("what is not a mapping, or not one document, is refused", async () => {
  expect(brief((await load({ project: "- agents\n" })).problems)).toEqual([
    "1:1  must be a section with keys such as project",
  ]);
  expect(brief((await load({ project: "agents: 5\n" })).problems)[0]).toContain("1:9 agents must be a section");
  expect((await load({ project: "a: 1\n---\nb: 2\n" })).problems[0]?.message).toBe("holds more than one YAML document");
});

test("old names are moved to the new ones with one warning each", async () => {
  const { config, ok, warnings } = await load({
    project: [
      "project: {root: /somewhere/else}",
      "beads: {enabled: false}",
      "watchdog:",
      "  tier1Enabled: false",
      "  tier1IntervalMs: 40000",
      "  tier2Enabled: true",
    ].join("\n"),
  });
  expect(ok).toBe(true);
  expect(warnings.map(({ line, key }) => `${line} ${key}`)).toEqual([
    "2 beads",
    "4 watchdog.tier1Enabled",
    "5 watchdog.tier1IntervalMs",
    "6 watchdog.tier2Enabled",
    "1 project.root",
    "6 watchdog.tier1Enabled",
    "2 taskTracker.enabled",
  ]);
  expect(config.taskTracker).toEqual({ backend: "beads" });
  expect(config.watchdog).toMatchObject({
    tier0Enabled: false,
    tier0IntervalMs: 40_000,
    tier2Enabled: false,
  });
  expect(config.project).not.toHaveProperty("root");
});

test("an old tracker section is ignored when the new one is there", async () => {
  const { config, warnings } = await load({ project: "taskTracker: {backend: native}\nseeds: {enabled: true}\n" });
  expect(config.taskTracker.backend).toBe("native");
  expect(warnings[0]?.message).toContain("is ignored");
});

test.each([
  ["an option in the place of a branch", "project: {canonicalBranch: --upload-pack=x}", "project.canonicalBranch"],
  ["a branch git refuses", "project: {canonicalBranch: a..b}", "project.canonicalBranch"],
  ["control characters", 'project: {name: "a\\e[2Jb"}', "project.name"],
  ["a path that leads out", "worktree: {include: [../../.ssh/id]}", "worktree.include[0]"],
  ["an absolute path", "merge: {keepIgnored: [/etc]}", "merge.keepIgnored[0]"],
  ["a number beyond any timer", "turn: {stallTimeoutMs: 99999999999}", "turn.stallTimeoutMs"],
  ["a fraction", "agents: {maxConcurrent: 1.5}", "agents.maxConcurrent"],
  ["infinity", "agents: {maxConcurrent: .inf}", "agents.maxConcurrent"],
  ["a number in the place of a name", "project: {name: 7}", "project.name"],
  ["a word in the place of a switch", "merge: {closeTask: yes}", "merge.closeTask"],
])("%s is refused", async (_, project, key) => {
  expect((await load({ project })).problems.map((problem) => problem.key)).toEqual([key]);
});

test("the last known copy stands in for a broken file, and for the project's file only a copy does", () =>
  inProject({ project: "agents: [\n", local: "agents: {maxDepth: 4}\n" }, async (files) => {
    const { problems } = await loadConfig(files, {});
    expect(await loadLastKnown(files, {}, problems)).toBeUndefined();
    mkdirSync(join(files.state, "config"), { recursive: true });
    writeFileSync(files.lastKnown.project, "agents: {maxConcurrent: 3}\n");
    const known = await loadLastKnown(files, {}, problems);
    expect(known?.config.agents).toMatchObject({ maxConcurrent: 3, maxDepth: 4 });
    expect(known?.notices).toEqual([expect.stringContaining(`${files.project} cannot be used: `)]);
    writeFileSync(files.lastKnown.project, "agents: [\n");
    expect(await loadLastKnown(files, {}, problems)).toBeUndefined();
  }));

test.each(["project", "local"] as const)("an emptied %s file is a problem while a copy of it has settings", (layer) =>
  inProject({ [layer]: "\n" }, async (files) => {
    expect(await loadConfig(files, {})).toMatchObject({ ok: true });
    mkdirSync(join(files.state, "config"), { recursive: true });
    writeFileSync(files.lastKnown[layer], "");
    expect(await loadConfig(files, {})).toMatchObject({ ok: true });
    writeFileSync(files.lastKnown[layer], "agents: {maxConcurrent: 3}\n");
    const { ok, problems } = await loadConfig(files, {});
    const message = expect.stringContaining(
      `put its last known copy back: cp ${files.lastKnown[layer]} ${files[layer]}`,
    );
    expect({ ok, problems }).toMatchObject({ ok: false, problems: [{ file: files[layer], message }] });
    expect((await loadLastKnown(files, {}, problems))?.config.agents.maxConcurrent).toBe(3);
    writeFileSync(files[layer], "# the defaults\n");
    expect(await loadConfig(files, {})).toMatchObject({ ok: true });
  }),
);

test("worktrees.baseDir must be a directory of its own", () =>
  inProject({}, async (files) => {
    writeFileSync(join(files.root, "a.txt"), "");
    for (const dir of ["/", ".", "..", "../../..", ".git", ".git/w", "a.txt", "x/.."]) {
      writeFileSync(files.project, `worktrees:\n  baseDir: ${dir}\n`);
      const { problems } = await loadConfig(files, {});
      expect({ dir, problems }).toMatchObject({ dir, problems: [{ key: "worktrees.baseDir", line: 2 }] });
    }
    for (const dir of ["w", "../beside", ".overstory/elsewhere", ".github"]) {
      writeFileSync(files.project, `worktrees:\n  baseDir: ${dir}\n`);
      expect(await loadConfig(files, {})).toMatchObject({ ok: true });
    }
  }));

describe("models", () => {
  test("are those of the manifest, unless a file of settings says more", async () => {
    const manifest = JSON.stringify({ agents: { scout: { model: "haiku" }, lead: { model: "opus" }, other: {} } });
    const loaded = await load({ manifest, project: "models: {lead: sonnet}\n" });
    expect(loaded.config.models).toEqual({ scout: "haiku", lead: "sonnet" });
    expect(loaded.origins["models.scout"]?.file).toEndWith("agent-manifest.json");
  });

  test("a manifest that is not JSON is warned about, and keeps nobody from working", async () => {
    const { ok, warnings, config } = await load({ manifest: "{" });
    expect([ok, config.models]).toEqual([true, {}]);
    expect(warnings).toMatchObject([{ message: expect.stringContaining("ov update --manifest") }]);
  });

  test("a gateway without an address or a token is a problem", async () => {
    const { problems } = await load({
      project: "providers: {corner: {type: gateway, baseUrl: 'https://c.example'}}\n",
    });
    expect(brief(problems)).toEqual(["1:28 providers.corner.authTokenEnv must be set for a gateway"]);
  });
});
