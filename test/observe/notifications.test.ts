import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Notification } from "../../src/domain/notification/notification.ts";
import { eventsOf, killOnceAt, letGo, nobodyLeft, slingNew, untilFile } from "../../testkit/lifecycle.ts";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** The subject would do harm in any shell that read it. */
const scenario = `
- do:
    - touch: "\${env.HOME}/begun-\${env.OVERSTORY_AGENT_NAME}"
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [mail, send, --to, operator, --type, question, --subject, '$(touch pwned) "; touch pwned; \`touch pwned\`', --body, "which?"]
`;

/** The command of the operator keeps what it was given. */
const command =
  'env > $HOME/env; echo "$OVERSTORY_NOTIFY_COUNT $OVERSTORY_NOTIFY_KINDS" >> $HOME/counts; cat >> $HOME/told';

const configOf = (keys: Readonly<Record<string, string | number | boolean>>): string =>
  `notify:\n${Object.entries(keys)
    .map(([key, value]) => `  ${key}: ${JSON.stringify(value)}\n`)
    .join("")}`;

/** The whole lines of a file of the home, which a command may be about to write. */
const linesIn = (project: TestProject, file: string): string[] =>
  existsSync(join(project.home, file)) ? readFileSync(join(project.home, file), "utf8").split("\n").slice(0, -1) : [];
const toldTo = (project: TestProject): Notification[] => linesIn(project, "told").map((line) => JSON.parse(line));

const untilTold = (project: TestProject, count: number): Promise<void> =>
  project.until("the operator is told", async () => toldTo(project).flatMap(({ items }) => items).length >= count);

test("notify.command hears of what comes together once and together, and of nothing twice, whichever engine runs", async () => {
  await using project = await makeProject({ scenario, config: configOf({ command, debounceMs: 4_000 }) });
  await slingNew(project, "T1");
  await slingNew(project, "T2");
  await untilFile(project, "begun-t1");
  await untilFile(project, "begun-t2");
  await letGo(project);
  await untilTold(project, 2);
  const [told, ...more] = toldTo(project);
  expect(more).toEqual([]);
  expect(told).toMatchObject({ title: "2 things wait for you", command: "ov inbox" });
  const [first] = told?.items ?? [];
  expect(first).toMatchObject({ kind: "question", subject: '$(touch pwned) "; touch pwned; `touch pwned`' });
  expect(linesIn(project, "counts")).toEqual(["2 question"]);
  const variables = linesIn(project, "env").map((line) => line.split("=")[0]);
  expect(variables).not.toContain("OVERSTORY_TOKEN");
  expect(variables).not.toContain("OVERSTORY_AGENT_NAME");
  expect(linesIn(project, "env").some((line) => line.includes("pwned"))).toBe(false);
  expect(existsSync(join(project.root, "pwned"))).toBe(false);
  // Notifications keep no engine, and the next one has nothing to tell.
  await nobodyLeft(project);
  await project.json("engine", "start");
  await slingNew(project, "T3");
  await untilTold(project, 3);
  await nobodyLeft(project);
  const ids = toldTo(project).flatMap(({ items }) => items.map(({ id }) => id));
  expect(ids).toHaveLength(3);
  expect(new Set(ids).size).toBe(3);
  expect(await eventsOf(project, "attention")).toHaveLength(2);
}, 120_000);

test("an engine that is killed while it tells leaves it marked and never tells it again", async () => {
  for (const [point, times] of [
    ["notify.after-claim", 0],
    ["notify.after-send", 1],
  ] as const) {
    await using project = await makeProject({ scenario, config: configOf({ command, debounceMs: 0 }) });
    await letGo(project);
    await project.json("task", "create", "x", "--id", "T1");
    const kill = killOnceAt(project, point, "self");
    await project.ovWith({ env: kill.env }, "sling", "T1", "--name", "b1");
    await project.until(
      "another engine has noticed",
      async () => (await eventsOf(project, "notify_unsure")).length > 0,
    );
    expect(toldTo(project)).toHaveLength(times);
    await slingNew(project, "T2");
    await untilTold(project, times + 1);
    await nobodyLeft(project);
    expect(toldTo(project).flatMap(({ items }) => items)).toHaveLength(times + 1);
    expect(await eventsOf(project, "notify_unsure")).toHaveLength(1);
  }
}, 120_000);

test("notify.webhook gets the document, notify.desktop shows it, and notify.timeoutMs bounds a command; a failure is one event", async () => {
  const posted: { readonly text: string; readonly path: string }[] = [];
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      posted.push({ text: await request.text(), path: new URL(request.url).pathname });
      return new Response(null, { status: 302, headers: { location: "/elsewhere" } });
    },
  });
  const webhook = `http://127.0.0.1:${server.port}/secret-path`;
  const late = configOf({ command: "sleep 600", webhook, desktop: true, debounceMs: 0, timeoutMs: 500 });
  await using project = await makeProject({ scenario, config: late });
  await letGo(project);
  const bin = join(project.home, "bin");
  mkdirSync(bin);
  const program = join(bin, "notify-send");
  writeFileSync(program, '#!/bin/sh\nprintf "%s\\n" "$@" > $HOME/desktop\n');
  chmodSync(program, 0o755);
  await project.json("task", "create", "x", "--id", "T1");
  await project.ovWith(
    { env: { PATH: `${bin}:${project.env.PATH ?? process.env.PATH}` } },
    "sling",
    "T1",
    "--name",
    "b1",
  );
  await project.until(
    "both failures are on record",
    async () => (await eventsOf(project, "notify_failed")).length === 2,
  );
  const failed = (await eventsOf(project, "notify_failed")).map(({ data }) => JSON.parse(data ?? ""));
  expect(failed.find(({ channel }) => channel === "command").problem).toContain("longer than 500 ms");
  expect(failed.find(({ channel }) => channel === "webhook").problem).toBe(`127.0.0.1:${server.port} answered 302`);
  expect(posted.map(({ path }) => path)).toEqual(["/secret-path"]);
  expect(JSON.parse(posted[0]?.text ?? "").items).toHaveLength(1);
  expect(linesIn(project, "desktop")).toContain("ov inbox");
  expect(linesIn(project, "desktop").join("\n")).toContain("$(touch pwned)");
  await nobodyLeft(project);
  expect(posted).toHaveLength(1);
  const ran = await project.ov("notify", "test", "--json");
  expect(ran.code).toBe(5);
  expect(JSON.parse(ran.out)).toMatchObject({
    channels: [
      { channel: "command", sent: false },
      { channel: "webhook", sent: false },
    ],
    unavailable: [expect.stringContaining("notify-send")],
  });
}, 120_000);

test("ov notify test sends by what is configured, and says when nothing is", async () => {
  await using project = await makeProject({});
  expect((await project.ov("notify", "test")).out).toContain("No notification is configured.");
  await project.json("config", "set", "--local", "notify.command", "cat > $HOME/told");
  const ran = await project.ov("notify", "test");
  expect([ran.code, ran.out]).toEqual([0, expect.stringContaining("Sent by command.")]);
  expect(toldTo(project)[0]?.items[0]?.id).toBe("test");
  expect(await eventsOf(project, "attention")).toEqual([]);
}, 60_000);

test("notify.command is never the operator", async () => {
  await using project = await makeProject({});
  const act = `cd ${project.root} && ${ovBinary()} config set merge.parallelGates 2 > $HOME/said 2>&1`;
  await project.json("config", "set", "--local", "notify.command", act);
  expect((await project.ov("notify", "test")).code).toBe(5);
  expect(linesIn(project, "said").join(" ")).toContain("operator");
}, 60_000);

test("a notify.command that comes into a file while agents work is not run before the operator has set it", async () => {
  await using project = await makeProject({ scenario, config: configOf({ debounceMs: 0 }) });
  await slingNew(project, "T1");
  await untilFile(project, "begun-t1");
  const planted = "cat >> $HOME/told";
  writeFileSync(join(project.root, ".overstory", "config.local.yaml"), configOf({ command: planted, debounceMs: 0 }));
  await project.until("the operator is told", async () => (await eventsOf(project, "settings_changed")).length > 0);
  await letGo(project);
  await project.until("it was held back", async () => (await eventsOf(project, "notify_failed")).length > 0);
  expect(toldTo(project)).toEqual([]);
  expect((await project.ov("inbox")).out).toContain("settings were changed in a file");
  await nobodyLeft(project);
  // The next engine finds no agent at work, and holds it back all the same.
  await slingNew(project, "T2");
  await project.until("both were held back", async () => (await eventsOf(project, "notify_failed")).length > 1);
  expect(toldTo(project)).toEqual([]);
  expect(await eventsOf(project, "settings_changed")).toHaveLength(1);
  await project.json("config", "set", "--local", "notify.command", planted);
  await slingNew(project, "T3");
  await untilTold(project, 1);
}, 120_000);
