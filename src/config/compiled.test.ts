import { afterEach, beforeEach, expect, setSystemTime, test } from "bun:test";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
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
const place = () => ({ root, state: join(root, ".git/ov-state") });
const compiled = () => join(place().state, "run/config.json");

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ov-compiled-"));
  mkdirSync(join(root, ".overstory"));
  mkdirSync(place().state, { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true }));

/** Writes a source that was last changed a while ago, `age` seconds. */
function settle(file: string, text: string, age = 10): void {
  writeFileSync(file, text);
  const then = Date.now() / 1000 - age;
  utimesSync(file, then, then);
}

test("the compiled form is what loading gives, warnings included", async () => {
  settle(configFiles(place()).project, "agents: {maxDepth: 4, colour: red}\n");
  expect(readCompiledConfig(place(), {})).toBeUndefined();
  const loaded = await config(place(), {});
  const ready = readCompiledConfig(place(), {});
  expect(ready?.config.agents.maxDepth).toBe(4);
  expect(ready?.warnings).toMatchObject([{ key: "agents.colour", line: 1 }]);
  expect(loaded).toEqual({ ok: true, value: ready! });
  expect(Object.isFrozen(ready?.config.merge.keepIgnored)).toBe(true);
});

test("it is also made when there is no source at all, and goes stale when one appears", async () => {
  await config(place(), {});
  expect(readCompiledConfig(place(), {})?.config.agents.maxDepth).toBe(2);
  settle(configFiles(place()).local, "agents: {maxDepth: 7}\n");
  expect(readCompiledConfig(place(), {})).toBeUndefined();
  expect(await config(place(), {})).toMatchObject({ ok: true, value: { config: { agents: { maxDepth: 7 } } } });
});

test("a change of time, size or inode alone makes it stale", async () => {
  const { project } = configFiles(place());
  const then = new Date(Date.now() - 60_000);
  const write = (file: string, depth: string, time = then) => {
    writeFileSync(file, `agents: {maxDepth: ${depth}}\n`);
    utimesSync(file, time, time);
  };
  write(project, "4");
  await config(place(), {});
  expect(readCompiledConfig(place(), {})?.config.agents.maxDepth).toBe(4);

  write(project, "5", new Date(then.getTime() + 1));
  expect(readCompiledConfig(place(), {})).toBeUndefined();
  write(project, "4");
  expect(readCompiledConfig(place(), {})).toBeDefined();

  write(project, "55");
  expect(readCompiledConfig(place(), {})).toBeUndefined();
  write(project, "4");

  write(`${project}.new`, "6");
  renameSync(`${project}.new`, project);
  expect(readCompiledConfig(place(), {})).toBeUndefined();
  expect(await config(place(), {})).toMatchObject({ value: { config: { agents: { maxDepth: 6 } } } });
});

test("overrides from the environment have a form of their own", async () => {
  settle(configFiles(place()).project, "agents: {maxDepth: 4}\n");
  const env = { OVERSTORY__AGENTS__MAX_DEPTH: "9", HOME: "/anywhere" };
  await config(place(), {});
  expect(readCompiledConfig(place(), env)).toBeUndefined();
  await config(place(), env);
  expect(readCompiledConfig(place(), env)?.config.agents.maxDepth).toBe(9);
  expect(readCompiledConfig(place(), { HOME: "/elsewhere" })?.config.agents.maxDepth).toBe(4);
  expect(readCompiledConfig(place(), { ...env, OVERSTORY__AGENTS__MAX_DEPTH: "8" })).toBeUndefined();
});

test("a source changed this very moment is not compiled yet", async () => {
  const { project } = configFiles(place());
  writeFileSync(project, "agents: {maxDepth: 4}\n");
  const moment = new Date();
  utimesSync(project, moment, moment);
  setSystemTime(moment);
  try {
    expect((await config(place(), {})).ok).toBe(true);
  } finally {
    setSystemTime();
  }
  expect(existsSync(compiled())).toBe(false);
});

test("a configuration with errors is never compiled, and a form from before is not used for it", async () => {
  const { project } = configFiles(place());
  await config(place(), {});
  settle(project, "agents: {maxDepth: deep}\n");
  expect(await config(place(), {})).toMatchObject({ ok: false, refusal: [{ key: "agents.maxDepth", line: 1 }] });
  expect(readCompiledConfig(place(), {})).toBeUndefined();
});

test.each(["", "{", "null\nnull\n", "[]"])("a damaged form (%p) is made anew", async (text) => {
  await config(place(), {});
  writeFileSync(compiled(), text);
  expect(readCompiledConfig(place(), {})).toBeUndefined();
  expect((await config(place(), {})).ok).toBe(true);
  expect(readCompiledConfig(place(), {})).toBeDefined();
});

test("a form cut off at any place is not used", async () => {
  await config(place(), {});
  const text = readFileSync(compiled(), "utf8");
  for (let length = 0; length < text.length; length += 7) {
    writeFileSync(compiled(), text.slice(0, length));
    expect(readCompiledConfig(place(), {})).toBeUndefined();
  }
});

test("a form made by another program is not used", async () => {
  await config(place(), {});
  writeFileSync(compiled(), readFileSync(compiled(), "utf8").replace(/"program":"[^"]*"/, '"program":"older"'));
  expect(readCompiledConfig(place(), {})).toBeUndefined();
});

test("a change of the table of keys in the sources makes forms from before stale", () => {
  const repository = resolve(import.meta.dir, "../..");
  const copy = join(root, "copy");
  for (const folder of ["config", "domain", "ports"]) {
    cpSync(join(repository, "src", folder), join(copy, "src", folder), { recursive: true });
  }
  symlinkSync(join(repository, "node_modules"), join(copy, "node_modules"));
  const script = `
    const { config } = await import(${JSON.stringify(join(copy, "src/config/config.ts"))});
    const answer = await config(${JSON.stringify(place())}, {});
    console.log(answer.value.config.agents.maxDepth);`;
  const depth = () => Bun.spawnSync([process.execPath, "-e", script], { cwd: root, env: {} }).stdout.toString().trim();
  expect(depth()).toBe("2");
  const keys = join(copy, "src/config/schema/agents.ts");
  const text = readFileSync(keys, "utf8");
  const changed = text.replace(/("agents\.maxDepth": .*default: )2/, "$13");
  expect(changed).not.toBe(text);
  writeFileSync(keys, changed);
  expect(depth()).toBe("3");
});

test("a directory that cannot be written still gives a configuration", async () => {
  writeFileSync(join(place().state, "run"), "a file where the directory should be");
  expect((await config(place(), {})).ok).toBe(true);
  rmSync(join(place().state, "run"));
  chmodSync(place().state, 0o500);
  expect((await config(place(), {})).ok).toBe(true);
  chmodSync(place().state, 0o700);
});

test("where there is no repository nothing is written", async () => {
  for (const name of [".overstory", ".git"]) rmSync(join(root, name), { recursive: true });
  expect((await config(place(), {})).ok).toBe(true);
  expect(readdirSync(root)).toEqual([]);
});

test("many at once leave one whole form and no drafts", async () => {
  settle(configFiles(place()).project, "agents: {maxDepth: 4}\n");
  await Promise.all(Array.from({ length: 20 }, () => compileConfig(place(), {})));
  expect(readdirSync(join(place().state, "run"))).toEqual(["config.json"]);
  expect(readCompiledConfig(place(), {})?.config.agents.maxDepth).toBe(4);
});

test("the fast path loads neither the table of keys nor the YAML library", async () => {
  settle(configFiles(place()).project, "agents: {maxDepth: 4}\n");
  const script = `
    const { config } = await import(${JSON.stringify(resolve(import.meta.dir, "config.ts"))});
    const answer = await config(${JSON.stringify(place())}, {});
    const loaded = Object.keys(require.cache).filter((path) => /schema|keys|node_modules/.test(path));
    console.log(JSON.stringify([answer.value.config.agents.maxDepth, loaded.length > 0]));`;
  const run = () => {
    const { stdout } = Bun.spawnSync([process.execPath, "-e", script], { cwd: root, env: {} });
    return JSON.parse(stdout.toString());
  };
  expect(run()).toEqual([4, true]);
  expect(run()).toEqual([4, false]);
});
