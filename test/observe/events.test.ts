import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Event } from "../../src/domain/event/event.ts";
import { databaseOf, ranTurns } from "../../testkit/lifecycle.ts";
import { jsonOf } from "../../testkit/ov.ts";
import { printing } from "../../testkit/printed.ts";
import type { TestProject } from "../../testkit/project.ts";
import { rawDatabase } from "../../testkit/raw-database.ts";
import { script, scriptedRun, zones } from "./one-run.world.ts";

let project: TestProject;
beforeAll(async () => {
  project = await scriptedRun();
}, 200_000);
afterAll(() => project[Symbol.asyncDispose]());

type Shown = Record<string, unknown>;
const list = (value: unknown): readonly Shown[] => value as readonly Shown[];
const stored = (): Promise<Event[]> => project.read((tx) => tx.events.after(0, 10_000));
const seqs = (events: readonly Shown[]) => events.map(({ seq }) => seq);

test("trace, logs, feed and errors tell what the script did and nothing else, in every time zone", async () => {
  const events = await stored();
  const own = events.filter(({ agentName }) => agentName === "b1");
  const [turn] = await ranTurns(project, "b1");
  const answers = new Map<string, string>();
  for (const TZ of zones) {
    const json = async (...words: string[]) => jsonOf(await project.ovWith({ env: { TZ } }, ...words, "--json"));

    const traced = await json("trace", "b1", "--limit", "1000");
    expect(traced).toMatchObject({ success: true, kind: "agent", target: "b1", nextCursor: null });
    expect(seqs(list(traced.events))).toEqual(own.map(({ seq }) => seq));
    for (const [at, event] of list(traced.events).entries()) {
      expect(event.at).toBe(new Date(own[at]?.createdAt ?? 0).toISOString());
      expect(event).toMatchObject({ id: event.seq, eventType: event.type, createdAt: event.at });
    }

    const { turns } = await json("trace", "B1", "--turns");
    expect(list(turns)).toHaveLength(1);
    const [only] = list(turns);
    expect(only).toMatchObject({
      id: turn?.id,
      agentName: "b1",
      durationMs: (turn?.endedAt ?? 0) - (turn?.startedAt ?? 0),
      outcome: { end: "clean", agentState: "completed", agentOutcome: "done" },
      mail: 1,
    });
    const steps = list(only?.steps);
    const calls = steps
      .filter(({ kind }) => kind === "tool")
      .map(({ tool, summary, failed }) => ({ tool, summary, failed }));
    expect(calls.slice(0, 3)).toEqual([
      { ...script.calls[0], summary: expect.stringMatching(/work\.txt$/) },
      ...script.calls.slice(1),
    ]);
    expect(Number(steps.find(({ summary }) => summary === script.calls[1].summary)?.durationMs)).toBeGreaterThan(150);
    expect(steps.filter(({ kind }) => kind === "mail")).toMatchObject([script.mail]);

    const { lines, entries } = await json("logs", "b1");
    expect(
      list(lines)
        .filter(({ type }) => type === "progress")
        .map(({ text }) => text),
    ).toContain(script.said);
    expect(list(lines).filter(({ type }) => type === "tool_start")).toHaveLength(calls.length);
    expect(entries).toEqual(lines);

    const failed = events.filter(({ level }) => level === "warn" || level === "error");
    expect(seqs(list((await json("errors")).events))).toEqual(failed.map(({ seq }) => seq));
    const { groups } = await json("errors", "--group");
    const group = list(groups).find(({ key }) => String(key).startsWith("tool_end:"));
    expect(group).toMatchObject({ count: 1, agents: ["b1"], next: `ov logs b1 --turn ${turn?.id}` });
    expect(list(groups).reduce((sum, { count }) => sum + Number(count), 0)).toBe(failed.length);

    expect(seqs(list((await json("feed", "--since", "1h", "--limit", "1000")).events))).toEqual(
      events.map(({ seq }) => seq),
    );
    for (const command of ["trace b1", "trace B1 --turns", "feed --since 1h", "errors", "errors --group", "logs b1"]) {
      const { out } = await project.ovWith({ env: { TZ } }, ...command.split(" "));
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal
      expect([command, /[\u0000-\u0009\u000b-\u001f\u007f\u202e]/.test(out)]).toEqual([command, false]);
      answers.set(`${TZ} ${command}`, out);
    }
  }
  expect(answers.get("UTC trace b1")).not.toBe(answers.get("Asia/Kolkata trace b1"));
}, 180_000);

test("each flag of feed, trace, errors and logs narrows the list to what it says", async () => {
  const events = await stored();
  const [middle] = events.slice(Math.floor(events.length / 2));
  const at = new Date(middle?.createdAt ?? 0).toISOString();
  const shown = async (...words: string[]) => seqs(list((await project.json(...words, "--limit", "1000")).events));
  const wanted = (fits: (event: Event) => boolean) => events.filter(fits).map(({ seq }) => seq);
  const [since, until] = [
    (event: Event) => event.createdAt >= (middle?.createdAt ?? 0),
    (event: Event) => event.createdAt <= (middle?.createdAt ?? 0),
  ];
  const isOwn = ({ agentName }: Event): boolean => agentName === "b1";
  const runId = (await project.agent("b1")).runId;
  expect(await shown("feed", "--since", at)).toEqual(wanted(since));
  expect(await shown("feed", "--since", "1d", "--agent", "b1", "--agent", "b1")).toEqual(wanted(isOwn));
  expect(await shown("feed", "--since", "1d", "--run", runId)).toEqual(wanted((event) => event.runId === runId));
  expect(await shown("trace", "b1", "--until", at)).toEqual(wanted((event) => isOwn(event) && until(event)));
  expect(await shown("trace", runId)).toEqual(wanted((event) => event.runId === runId));
  expect(await shown("trace", "B1")).toEqual(
    wanted((event) => isOwn(event) || JSON.parse(event.data ?? "null")?.taskId === "B1"),
  );
  expect(await shown("errors", "--agent", "b1", "--run", runId, "--since", "1d", "--until", "0s")).toEqual(
    wanted((event) => isOwn(event) && /warn|error/.test(event.level)),
  );

  // Pages by cursor: together they are the whole, without a gap or a repetition.
  const pages: unknown[] = [];
  for (let before: unknown = 1_000_000; before !== null; ) {
    const page = await project.json("trace", "b1", "--limit", "5", "--before", String(before));
    pages.unshift(...seqs(list(page.events)));
    before = page.nextCursor;
  }
  expect(pages).toEqual(wanted(isOwn));

  const lines = async (...words: string[]) => list((await project.json("logs", ...words)).lines);
  expect((await lines("b1", "--level", "warn")).every(({ level }) => level !== "info")).toBe(true);
  expect((await lines("b1", "--level", "warn")).map(({ text }) => text)).toContain("! the tool failed: Exit code 3");
  expect(await lines("--level", "debug")).not.toEqual(await lines());
  expect(new Set((await lines()).map(({ agentName }) => agentName))).toContain("b1");
  expect(await lines("b1", "--since", "0s")).toEqual([]);
  expect(await lines("b1", "--limit", "2")).toEqual((await lines("b1")).slice(-2));
  for (const wrong of ["yesterday", "25:00", "2026-02-30", "10x"]) {
    expect([wrong, (await project.ov("logs", "b1", "--since", wrong)).code]).toEqual([wrong, 2]);
  }
  expect((await project.ov("trace", "nobody")).code).toBe(7);
}, 120_000);

test("an export holds the events and turns of its target, as one document or as lines", async () => {
  const { events } = await project.json("trace", "b1", "--limit", "1000");
  const { turns } = await project.json("trace", "b1", "--turns");
  await project.json("trace", "b1", "--export", "b1.json");
  const document = JSON.parse(readFileSync(join(project.root, "b1.json"), "utf8"));
  expect(document).toMatchObject({ format: "overstory-trace", version: 1, kind: "agent", target: "b1" });
  expect(document).toMatchObject({ events, turns });
  await project.json("trace", "b1", "--export", "b1.ndjson");
  const lines = readFileSync(join(project.root, "b1.ndjson"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines[0]).toMatchObject({ format: "overstory-trace", target: "b1" });
  expect(lines.flatMap(({ event }) => event ?? [])).toEqual([...list(events)]);
  expect(lines.flatMap(({ turn }) => turn ?? [])).toEqual([...list(turns)]);
  expect((await project.ov("trace", "b1", "--export", "nowhere/b1.json")).code).toBe(2);
}, 120_000);

test("inspect tells who an agent is, where it stood, its turns, files, tokens, tools and calls", async () => {
  const seen = await project.json("inspect", "b1", "--limit", "2", "--no-tmux");
  const [turn] = await ranTurns(project, "b1");
  expect(seen).toMatchObject({
    agent: { name: "b1", capability: "builder", outcome: "done" },
    checkpoint: { taskId: "B1", turnId: turn?.id },
    identity: { completed: 1 },
    turnCount: 1,
    turns: [{ id: turn?.id, outcome: { end: "clean" } }],
    waits: [{ kind: "approval", ref: "merge:1" }],
    // The keys of 0.11.
    session: { agentName: "b1" },
    timeSinceLastActivity: expect.any(Number),
    tokenUsage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number) },
    tmuxOutput: null,
    headlessTurnInfo: { turn: 1, running: false },
  });
  expect(list(seen.calls)).toHaveLength(2);
  expect(list(seen.recentToolCalls)).toHaveLength(2);
  expect(
    list(seen.files)
      .map(String)
      .some((file) => file.endsWith("work.txt")),
  ).toBe(true);
  const tools = list(seen.tools);
  const starts = (await stored()).filter(({ type }) => type === "tool_start");
  expect(tools.reduce((sum, { count }) => sum + Number(count), 0)).toBe(starts.length);
  expect(tools.find(({ tool }) => tool === "Bash")).toMatchObject({ failed: 1 });
  const { out } = await project.ov("inspect", "b1");
  for (const words of [
    "b1 (builder",
    "Checkpoint",
    "Files touched",
    "Last turns (1 of 1)",
    "Top tools",
    "Recent calls",
  ]) {
    expect(out).toContain(words);
  }
  // It has ended, so a follower has seen everything at once.
  const followed = await project.ov("inspect", "b1", "--follow", "--interval", "500", "--json");
  expect(followed.code).toBe(0);
  expect(
    followed.out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toMatchObject([{ agent: { name: "b1" } }]);
}, 60_000);

test("looking leaves the database as it is, byte for byte, while no engine runs", async () => {
  const looks = [
    "logs",
    "logs b1",
    "feed",
    "trace b1",
    "trace B1 --turns",
    "errors",
    "errors --group",
    "inspect b1",
    "why README.md",
    "prime",
    "prime --agent b1",
  ];
  const path = databaseOf(project);
  const bytes = () => [path, `${path}-wal`].map((file) => (existsSync(file) ? Bun.hash(readFileSync(file)) : null));
  const watch = rawDatabase(project, "read");
  const version = () => watch.query("PRAGMA data_version").get();
  const [before, counted, changed] = [bytes(), version(), statSync(path).mtimeMs];
  for (const look of looks) expect([look, (await project.ov(...look.split(" "))).code]).toEqual([look, 0]);
  expect(version()).toEqual(counted);
  expect(bytes()).toEqual(before);
  expect(statSync(path).mtimeMs).toBe(changed);
  watch.close();
}, 120_000);

test("feed follows what happens, as lines and as one document per line, and ends with Ctrl-C", async () => {
  const follow = ["feed", "-f", "--interval", "200"] as const;
  await using lines = printing(project, ...follow);
  await using documents = printing(project, ...follow, "--json");
  // What was there before is printed first, so both have begun to follow.
  for (const follower of [lines, documents])
    await follower.until("what happened before", (text) => text.includes("\n"));
  await project.json("task", "create", "A new one", "--id", "T9");
  await lines.until("the new task", (text) => text.includes("T9 created"));
  await documents.until("the new task", (text) => text.includes("task_created") && text.includes("T9"));
  expect(await Promise.all([lines.interrupt(), documents.interrupt()])).toEqual([0, 0]);
  const told = documents
    .text()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(told.every(({ success, command }) => success === true && command === "feed")).toBe(true);
  const numbers = told.map(({ event }) => event.seq);
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  expect(told.map(({ event }) => event.type)).toContain("task_created");
}, 120_000);
