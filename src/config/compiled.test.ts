import { afterEach, beforeEach, expect, setSystemTime, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { compileConfig } from "./compile.ts";
import { readCompiledConfig } from "./compiled.ts";
import { config } from "./config.ts";
import { configFiles } from "./sources.ts";

let root: string;
const compiled = () => join(root, ".overstory/run/config.json");

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ov-compiled-"));
  mkdirSync(join(root, ".overstory"));
});
afterEach(() => rmSync(root, { recursive: true }));

/** Writes a source that was last changed a while ago, `age` seconds. */
function settle(file: string, text: string, age = 10): void {
  writeFileSync(file, text);
  const then = Date.now() / 1000 - age;
  utimesSync(file, then, then);
}

test("the compiled form is what loading gives, warnings included", async () => {
  settle(configFiles(root).project, "agents: {maxDepth: 4, colour: red}\n");
  expect(readCompiledConfig(root, {})).toBeUndefined();
  const loaded = await config(root, {});
  const ready = readCompiledConfig(root, {});
  expect(ready?.config.agents.maxDepth).toBe(4);
  expect(ready?.warnings).toMatchObject([{ key: "agents.colour", line: 1 }]);
  expect(loaded).toEqual({ ok: true, value: ready! });
  expect(Object.isFrozen(ready?.config.merge.keepIgnored)).toBe(true);
});

test("it is also made when there is no source at all, and goes stale when one appears", async () => {
  await config(root, {});
  expect(readCompiledConfig(root, {})?.config.agents.maxDepth).toBe(2);
  settle(configFiles(root).local, "agents: {maxDepth: 7}\n");
  expect(readCompiledConfig(root, {})).toBeUndefined();
  expect(await config(root, {})).toMatchObject({ ok: true, value: { config: { agents: { maxDepth: 7 } } } });
});

test("a change of time, size or inode alone makes it stale", async () => {
  const { project } = configFiles(root);
  const then = new Date(Date.now() - 60_000);
  const write = (file: string, depth: string, time = then) => {
    writeFileSync(file, `agents: {maxDepth: ${depth}}\n`);
    utimesSync(file, time, time);
  };
  write(project, "4");
  await config(root, {});
  expect(readCompiledConfig(root, {})?.config.agents.maxDepth).toBe(4);

  write(project, "5", new Date(then.getTime() + 1));
  expect(readCompiledConfig(root, {})).toBeUndefined();
  write(project, "4");
  expect(readCompiledConfig(root, {})).toBeDefined();

  write(project, "55");
  expect(readCompiledConfig(root, {})).toBeUndefined();
  write(project, "4");

  write(`${project}.new`, "6");
  renameSync(`${project}.new`, project);
  expect(readCompiledConfig(root, {})).toBeUndefined();
  expect(await config(root, {})).toMatchObject({ value: { config: { agents: { maxDepth: 6 } } } });
});

test("overrides from the environment have a form of their own", async () => {
  settle(configFiles(root).project, "agents: {maxDepth: 4}\n");
  const env = { OVERSTORY__AGENTS__MAX_DEPTH: "9", HOME: "/anywhere" };
  await config(root, {});
  expect(readCompiledConfig(root, env)).toBeUndefined();
  await config(root, env);
  expect(readCompiledConfig(root, env)?.config.agents.maxDepth).toBe(9);
  expect(readCompiledConfig(root, { HOME: "/elsewhere" })?.config.agents.maxDepth).toBe(4);
  expect(readCompiledConfig(root, { ...env, OVERSTORY__AGENTS__MAX_DEPTH: "8" })).toBeUndefined();
});

test("a source changed this very moment is not compiled yet", async () => {
  const { project } = configFiles(root);
  writeFileSync(project, "agents: {maxDepth: 4}\n");
  const moment = new Date();
  utimesSync(project, moment, moment);
  setSystemTime(moment);
  try {
    expect((await config(root, {})).ok).toBe(true);
  } finally {
    setSystemTime();
  }
  expect(existsSync(compiled())).toBe(false);
});

test("a configuration with errors is never compiled, and a form from before is not used for it", async () => {
  const { project } = configFiles(root);
  await config(root, {});
  settle(project, "agents: {maxDepth: deep}\n");
  expect(await config(root, {})).toMatchObject({ ok: false, refusal: [{ key: "agents.maxDepth", line: 1 }] });
  expect(readCompiledConfig(root, {})).toBeUndefined();
});

test.each(["", "{", "null\nnull\n", "[]"])("a damaged form (%p) is made anew", async (text) => {
  await config(root, {});
  writeFileSync(compiled(), text);
  expect(readCompiledConfig(root, {})).toBeUndefined();
  expect((await config(root, {})).ok).toBe(true);
  expect(readCompiledConfig(root, {})).toBeDefined();
});

test("a form cut off at any place is not used", async () => {
  await config(root, {});
  const text = readFileSync(compiled(), "utf8");
  for (let length = 0; length < text.length; length += 7) {
    writeFileSync(compiled(), text.slice(0, length));
    expect(readCompiledConfig(root, {})).toBeUndefined();
  }
});

test("a form made for another table of keys is not used", async () => {
  await config(root, {});
  writeFileSync(compiled(), readFileSync(compiled(), "utf8").replace(/"table":"[^"]*"/, '"table":"older"'));
  expect(readCompiledConfig(root, {})).toBeUndefined();
});

test("a directory that cannot be written still gives a configuration", async () => {
  writeFileSync(join(root, ".overstory/run"), "a file where the directory should be");
  expect((await config(root, {})).ok).toBe(true);
  rmSync(join(root, ".overstory/run"));
  chmodSync(join(root, ".overstory"), 0o500);
  expect((await config(root, {})).ok).toBe(true);
  chmodSync(join(root, ".overstory"), 0o700);
});

test("outside a project nothing is written", async () => {
  rmSync(join(root, ".overstory"), { recursive: true });
  expect((await config(root, {})).ok).toBe(true);
  expect(readdirSync(root)).toEqual([]);
});

test("many at once leave one whole form and no drafts", async () => {
  settle(configFiles(root).project, "agents: {maxDepth: 4}\n");
  await Promise.all(Array.from({ length: 20 }, () => compileConfig(root, {})));
  expect(readdirSync(join(root, ".overstory/run"))).toEqual(["config.json"]);
  expect(readCompiledConfig(root, {})?.config.agents.maxDepth).toBe(4);
});

test("the fast path loads neither the table of keys nor the YAML library", async () => {
  settle(configFiles(root).project, "agents: {maxDepth: 4}\n");
  const script = `
    const { config } = await import(${JSON.stringify(resolve(import.meta.dir, "config.ts"))});
    const answer = await config(${JSON.stringify(root)}, {});
    const loaded = Object.keys(require.cache).filter((path) => /schema|keys|node_modules/.test(path));
    console.log(JSON.stringify([answer.value.config.agents.maxDepth, loaded.length > 0]));`;
  const run = () => {
    const { stdout } = Bun.spawnSync([process.execPath, "-e", script], { cwd: root, env: {} });
    return JSON.parse(stdout.toString());
  };
  expect(run()).toEqual([4, true]);
  expect(run()).toEqual([4, false]);
});
