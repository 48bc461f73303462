import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomIds } from "../src/host/ids.ts";
import { eventsOf } from "../testkit/lifecycle.ts";
import { makeProject } from "../testkit/project.ts";

test("a hook entry that version 0.11 wrote is recorded, and what it cannot be forbids no tool", async () => {
  await using project = await makeProject();
  const stdin = JSON.stringify({ tool_name: "Bash", tool_input: { command: "ls" }, session_id: "s1" });
  const logged = await project.ovWith({ stdin }, "log", "tool-start", "--agent", "orchestrator", "--stdin");
  expect(logged).toMatchObject({ code: 0, out: "" });
  const [started] = await eventsOf(project, "tool_start");
  expect(started?.agentName).toBe("orchestrator");
  const inputDigest = randomIds.digest(JSON.stringify({ command: "ls" }));
  const call = { tool: "Bash", id: null, summary: "ls", input: { command: "ls" }, inputDigest };
  const seen = { ...call, sessionId: "s1" };
  expect(JSON.parse(started?.data ?? "{}")).toEqual(seen);
  const end = ["log", "session-end", "--agent", "orchestrator", "--stdin", "--transcript", "/tmp/t.jsonl"];
  expect((await project.ovWith({ stdin: "not json" }, ...end)).code).toBe(0);
  const [ended] = await eventsOf(project, "session_end");
  expect(JSON.parse(ended?.data ?? "{}")).toEqual({ transcript: "/tmp/t.jsonl" });
  // Exit code 2 denies the tool, or the prompt of a person.
  for (const words of [
    ["log", "tool-start", "--agent", "orchestrator", "--from-the-past"],
    ["log", "tool-middle"],
    ["mail", "check", "--inject", "--from-the-past"],
    ["prime", "--from-the-past"],
  ]) {
    expect([words.join(" "), (await project.ovWith({ stdin }, ...words)).code]).toEqual([words.join(" "), 1]);
  }
}, 60_000);

test("ov init names databases of an earlier version and leaves them alone", async () => {
  await using project = await makeProject({ bare: true });
  mkdirSync(join(project.root, ".overstory"));
  writeFileSync(join(project.root, ".overstory", "mail.db"), "old");
  const { code, err } = await project.ov("init");
  expect(code).toBe(0);
  expect(err).toContain("databases of an earlier Overstory (mail.db)");
  expect(err).toContain("ov import");
  expect(await Bun.file(join(project.root, ".overstory", "mail.db")).text()).toBe("old");
}, 60_000);
