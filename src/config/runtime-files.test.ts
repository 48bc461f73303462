import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { brokenWords, type RuntimeFiles } from "../domain/agent/runtime-spec.ts";
import { readCompiledConfig } from "./compiled.ts";
import { config, watchConfig } from "./config.ts";
import { loadConfig } from "./load.ts";
import { keys, loadRuntimeFiles } from "./runtime-files.ts";
import { configFiles } from "./sources.ts";

/** A project with these files in `.overstory/runtimes`. */
async function inProject<T>(
  files: Readonly<Record<string, string>>,
  use: (root: string, dir: string) => Promise<T>,
): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), "ov-runtime-files-"));
  const dir = join(root, ".overstory/runtimes");
  mkdirSync(dir, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  try {
    return await use(root, dir);
  } finally {
    rmSync(root, { recursive: true });
  }
}

const load = (files: Readonly<Record<string, string>>): Promise<RuntimeFiles> =>
  inProject(files, (root) => loadRuntimeFiles({ root }));

/** What is wrong with the file `heron.yaml`. */
async function wrongIn(text: string): Promise<string> {
  const { specs, broken } = await load({ "heron.yaml": text });
  expect(specs).toEqual([]);
  return broken.map((one) => brokenWords(one).replace(".overstory/runtimes/heron.yaml", "")).join("\n");
}

test("a file that names the program alone is a runtime", async () => {
  const { specs, broken } = await load({ "heron.yaml": "program: heron\n" });
  expect(broken).toEqual([]);
  expect(specs).toEqual([
    {
      id: "heron",
      program: "heron",
      args: [],
      versionArgs: ["--version"],
      instructionFile: "AGENTS.md",
      guardedFiles: [],
      environment: [],
      variables: {},
      model: { flag: null, option: null, aliases: {} },
      mode: null,
      usage: "prompt",
      resume: true,
      tools: true,
      stays: false,
      login: { variables: [], files: [], advice: null },
      home: { keeps: [], brings: [] },
    },
  ]);
});

test("every key counts", async () => {
  const text = `driver: acp
program: /opt/heron/bin/heron
args: [serve, --acp]
versionArgs: [version]
instructionFile: .heron/AGENTS.md
guardedFiles: ["**/.heron/**"]
environment: [HERON_*, OPENAI_API_KEY]
variables: { HERON_QUIET: "1" }
model: { flag: --model, aliases: { sonnet: heron-large } }
mode: ask
usage: process
resume: false
tools: false
stays: true
login: { variables: [OPENAI_API_KEY], files: [.heron/login], advice: "heron login" }
home: { keeps: [.heron/sessions], brings: [.heron/login] }
`;
  const [spec] = (await load({ "heron.yaml": text })).specs;
  expect(spec).toMatchObject({
    program: "/opt/heron/bin/heron",
    args: ["serve", "--acp"],
    versionArgs: ["version"],
    instructionFile: ".heron/AGENTS.md",
    guardedFiles: ["**/.heron/**"],
    environment: ["HERON_*", "OPENAI_API_KEY"],
    variables: { HERON_QUIET: "1" },
    model: { flag: "--model", option: null, aliases: { sonnet: "heron-large" } },
    mode: "ask",
    usage: "process",
    resume: false,
    tools: false,
    stays: true,
    login: { variables: ["OPENAI_API_KEY"], files: [".heron/login"], advice: "heron login" },
    home: { keeps: [".heron/sessions"], brings: [".heron/login"] },
  });
});

test.each([
  ["", ": is empty; it must at least name the program"],
  ["[a]", ": must be a section with keys such as program"],
  ["args: [acp]\n", ":1:1: program is missing"],
  ["program: heron\nargs: acp\n", ':2:7: args must be a list of texts, not "acp"'],
  ["program: heron\nargs: [acp, 7]\n", ":2:13: args[1] must be text, not 7; put it in quotes"],
  ["program: heron\narg: [acp]\n", ":2:1: arg is not a known key; did you mean args?"],
  ["program: heron\nmodel:\n  flags: -m\n", ":3:3: model.flags is not a known key; did you mean flag?"],
  [
    "program: heron\nmodel: { flag: -m, option: model }\n",
    ":2:8: model has both a flag and an option; one of them tells the model",
  ],
  ["program: heron\nusage: turn\n", ':2:8: usage must be one of prompt, process, none, not "turn"'],
  [
    "program: ./heron\n",
    ':1:10: program must be the name of a program on the PATH, or an absolute path, not "./heron"',
  ],
  [
    "program: heron\nguardedFiles: [../x]\n",
    ':2:16: guardedFiles[0] must be a path inside, without .. and without / in front, not "../x"',
  ],
  ["program: heron\nhome: { brings: ['.'] }\n", ":2:18: home.brings[0] must be a path inside"],
  ["program: heron\nhome: { keeps: ['./'] }\n", ":2:17: home.keeps[0] must be a path inside"],
  [
    "program: heron\nenvironment: ['*']\n",
    ":2:15: environment[0] must be the name of a variable, or the beginning of several and a *, such as GOOSE_*",
  ],
  [
    "program: heron\nvariables: { OVERSTORY_TOKEN: x }\n",
    ":2:14: variables.OVERSTORY_TOKEN is a variable that ov sets itself, or that nobody gets",
  ],
  ["program: heron\nvariables: { LD_PRELOAD: x }\n", ":2:14: variables.LD_PRELOAD is a variable"],
  ["program: heron\nprogram: other\n", ":2:1: has the same key twice in one section"],
  ["program: 'heron\n", ":2:1: is not valid YAML"],
])("what is wrong in %j is told with its place", async (text, says) => {
  expect(await wrongIn(text)).toStartWith(says);
});

test("no file takes the name of a runtime of ov, or one that is no name", async () => {
  const program = "program: heron\n";
  const { specs, broken } = await load({ "claude.yaml": program, "Bad Name.yaml": program, "crane.yml": program });
  expect(specs).toEqual([]);
  expect(broken.map(({ id, message }) => [id, message.split(";")[0]])).toEqual([
    ["Bad Name", "must be named with small letters, digits, _ and -, such as goose.yaml"],
    ["claude", "has the name of a runtime of ov"],
    ["crane", "is not read"],
  ]);
});

test("a file that cannot be used leaves the other runtimes and the configuration as they are", async () => {
  await inProject({ "heron.yaml": "program: heron\n", "stork.yaml": "programme: stork\n" }, async (root, dir) => {
    symlinkSync("itself.yaml", join(dir, "itself.yaml"));
    const loaded = await loadConfig(configFiles({ root, state: join(root, "state") }), {});
    expect([loaded.ok, loaded.problems]).toEqual([true, []]);
    expect(loaded.runtimeFiles.specs.map(({ id }) => id)).toEqual(["heron"]);
    expect(loaded.runtimeFiles.broken.map(({ id }) => id)).toEqual(["itself", "stork"]);
  });
});

test("the compiled configuration has the runtimes, and is made anew when a file comes, changes or goes", async () => {
  await inProject({ "heron.yaml": "program: heron\n" }, async (root, dir) => {
    const place = { root, state: join(root, "state") };
    mkdirSync(place.state);
    const names = async (): Promise<readonly string[]> => {
      // File times advance in steps.
      await Bun.sleep(30);
      const found = await config(place, {});
      if (!found.ok) throw new Error("the configuration cannot be used");
      const ready = readCompiledConfig(place, {});
      expect(ready?.runtimeFiles).toEqual(found.value.runtimeFiles);
      return found.value.runtimeFiles.specs.map(({ id, program }) => `${id} ${program}`);
    };
    expect(await names()).toEqual(["heron heron"]);
    writeFileSync(join(dir, "heron.yaml"), "program: other\n");
    expect(await names()).toEqual(["heron other"]);
    writeFileSync(join(dir, "stork.yaml"), "program: stork\n");
    expect(await names()).toEqual(["heron other", "stork stork"]);
    rmSync(dir, { recursive: true });
    expect(await names()).toEqual([]);
  });
});

test("a link that leads to itself, as a file or as the directory, breaks neither commands nor the watch for changes", async () => {
  await inProject({ "heron.yaml": "program: heron\n" }, async (root, dir) => {
    const place = { root, state: join(root, "state") };
    mkdirSync(place.state);
    symlinkSync("itself.yaml", join(dir, "itself.yaml"));
    const found = await config(place, {});
    if (!found.ok) throw new Error("the configuration cannot be used");
    expect(found.value.runtimeFiles.broken.map(({ id }) => id)).toEqual(["itself"]);
    const hasChanged = watchConfig(place, {}, found.value);
    expect(await hasChanged()).toBe(false);
    rmSync(dir, { recursive: true });
    symlinkSync("runtimes", dir);
    expect(await hasChanged()).toBe(true);
    expect(await config(place, {})).toMatchObject({ ok: true, value: { runtimeFiles: { specs: [], broken: [] } } });
  });
});

test("the guide names every key of a runtime file", () => {
  const guide = readFileSync(resolve(import.meta.dir, "../../docs/guides/runtime-file.md"), "utf8");
  const names = (from: object, above = ""): string[] =>
    Object.entries(from).flatMap(([name, value]) => {
      if ("doc" in value) return [`${above}${name}`];
      return "each" in value ? [`${above}${name}.<name>`] : names(value, `${above}${name}.`);
    });
  expect(names(keys).filter((name) => !guide.includes(`| \`${name}\` |`))).toEqual([]);
});
