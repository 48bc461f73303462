import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Event, program, recorded, shape, usual, World } from "./scripted-agent.world.ts";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.end());

const basic = `
- do:
    - say: I will create the file.
    - shell: echo hello > greeting.txt && cat greeting.txt
    - say: The greeting file is in place.
`;

/** The recorded event in our words: entries that only the recording machine had are left out. */
function comparable(event: Event): unknown {
  const { modelUsage, model_usage_since_last_result, memory_paths, tool_use_result, ...rest } = event;
  const perModel = (usage: object | undefined) => usage && Object.values(usage).map(shape);
  const { bashEditDiff: _, ...output }: { bashEditDiff?: unknown } = Object(tool_use_result);
  const usages = { modelUsage: perModel(modelUsage), since: perModel(model_usage_since_last_result) };
  return [shape(rest), shape(output), usages, typeof memory_paths];
}

test("a turn has the events of the recorded stream, with the same keys and types", async () => {
  const { events, code } = await world.run(basic, ["go"]);
  expect(code).toBe(0);
  expect(events.map(comparable)).toEqual(recorded("basic").map(comparable));
});

test("a text and the tool call after it share one reply; the answer after the tool is another", async () => {
  const { events } = await world.run(basic, ["go"]);
  const ids = events.filter((event) => event.type === "assistant").map((event) => event.message.id);
  expect(ids[0]).toBe(ids[1]);
  expect(ids[2]).not.toBe(ids[0]);
});

test("tokens and cost are those of the recording", async () => {
  const { events } = await world.run(basic, ["go"]);
  const ours = events.last;
  const theirs = recorded("basic").last;
  expect(ours.usage).toEqual(theirs.usage);
  expect(ours.total_cost_usd).toBe(theirs.total_cost_usd);
  expect(ours.num_turns).toBe(theirs.num_turns);
  expect(ours.result).toBe(theirs.result);
});

test("a step can report its own tokens", async () => {
  const scenario = "- do: [{ say: big, usage: { input: 5000, output: 7 } }, { say: same reply }]";
  const { events } = await world.run(scenario, ["go"]);
  expect(events.last.usage).toMatchObject({ input_tokens: 5000, output_tokens: 7, cache_read_input_tokens: 30 });
});

test("every prompt is one turn with one result, and the end of input ends the process", async () => {
  const { events, code } = await world.run(`- do: [{ say: "answer \${turn}" }]`, ["one", "two"]);
  const results = events.results;
  expect(results.map((event) => [event.result, event.result_index])).toEqual([
    ["answer 1", 0],
    ["answer 2", 1],
  ]);
  expect(results.map((event) => event.usage.input_tokens)).toEqual([100, 100]);
  expect(results[1]?.modelUsage["scripted-model"]?.inputTokens).toBe(200);
  expect(events.filter((event) => event.subtype === "init")).toHaveLength(2);
  expect(new Set(events.map((event) => event.session_id)).size).toBe(1);
  expect(code).toBe(0);
});

test("a resumed conversation keeps its id, its turn number and its cost", async () => {
  const scenario = `- { when: { turn: 2 }, do: [{ say: "Still here, context kept." }] }\n${basic}`;
  const first = await world.run(scenario, ["go"]);
  const session = first.events.first.session_id;
  const second = await world.run(scenario, ["again"], { args: ["--resume", session] });
  expect(second.events.map(comparable)).toEqual(recorded("resume").map(comparable));
  expect(second.events.map((event) => event.session_id)).toEqual([session, session, session]);
  expect(second.events.last.total_cost_usd).toBe(recorded("resume").last.total_cost_usd);
  expect(
    JSON.parse(readFileSync(join(world.root, ".scripted-agent/sessions", `${session}.json`), "utf8")),
  ).toMatchObject({
    id: session,
    turns: 2,
    inputs: ["go", "again"],
  });
});

test("resuming an unknown conversation fails as the real program does", async () => {
  const id = "99999999-2222-4333-8444-555555555555";
  const { code, events, stderr } = await world.run(basic, ["go"], { args: ["--resume", id] });
  const theirs = recorded("resume-unknown").first;
  expect(events.map(shape)).toEqual([shape(theirs)]);
  expect(events.first.errors).toEqual(theirs.errors);
  expect(stderr).toBe(`No conversation found with session ID: ${id}\n`);
  expect(code).toBe(1);
});

test("a fixed session id is used once and refused the second time", async () => {
  const id = "11111111-2222-4333-8444-555555555555";
  const args = ["--session-id", id];
  expect((await world.run(basic, ["go"], { args })).events.first.session_id).toBe(id);
  const again = await world.run(basic, ["go"], { args });
  expect(again.code).toBe(1);
  expect(again.stderr).toContain("already in use");
});

test("the arguments an orchestrator passes are accepted and show in init", async () => {
  writeFileSync(join(world.root, "mcp.json"), '{"mcpServers":{"ov":{"command":"ov"}}}');
  writeFileSync(join(world.root, "role.md"), "You are a builder.");
  const args = ["--strict-mcp-config", "--permission-mode", "bypassPermissions", "--model=m1", "--settings", "{}"];
  const files = [
    "--mcp-config",
    join(world.root, "mcp.json"),
    "--append-system-prompt-file",
    join(world.root, "role.md"),
  ];
  const { events, code } = await world.run(basic, ["go"], { args: [...args, ...files] });
  expect(code).toBe(0);
  expect(events.first).toMatchObject({
    model: "m1",
    permissionMode: "bypassPermissions",
    cwd: world.cwd,
    mcp_servers: [{ name: "ov", status: "connected", source: "dynamic" }],
  });
  expect(world.diary("starts.ndjson")[0]).toMatchObject({ systemPrompt: "You are a builder.", cwd: world.cwd });
});

test.each([
  [["--frobnicate"], "unknown option '--frobnicate'"],
  [["prompt"], "unknown argument 'prompt'"],
  [["--model"], "argument missing"],
  [["--resume", "a", "--session-id", "11111111-2222-4333-8444-555555555555"], "--session-id"],
  [["--session-id", "b"], "valid UUID"],
  [["--mcp-config", "/nowhere.json"], "Invalid MCP configuration"],
  [["--append-system-prompt-file", "/nowhere.md"], "not found"],
])("the arguments %j are refused with exit 1", async (args, words) => {
  const { code, stderr, stdout } = await world.run(basic, ["go"], { args });
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain(words);
});

test("the stream needs --verbose, and the version needs nothing", async () => {
  const argv = ["-p", "--input-format", "stream-json", "--output-format", "stream-json"];
  expect((await world.run(basic, [], { argv })).stderr).toContain("requires --verbose");
  expect(await world.run(undefined, [], { argv: ["--version"] })).toMatchObject({
    code: 0,
    stdout: "2.1.325 (Scripted Agent)\n",
  });
});

test("no input is no output, and a line that is no JSON is exit 1", async () => {
  expect(await world.run(basic, [])).toMatchObject({ code: 0, stdout: "" });
  const agent = world.start(basic);
  agent.send("hello?");
  const { code, stderr } = await agent.finish();
  expect(code).toBe(1);
  expect(stderr).toContain("hello?");
});

test("without a matching rule, or without a scenario, there is nothing to do", async () => {
  for (const scenario of [undefined, "[]", "- { when: { agent: other }, do: [{ exit: 3 }] }"]) {
    const { events, code } = await world.run(scenario, ["go"]);
    expect(events.last).toMatchObject({ is_error: false, result: "nothing to do" });
    expect(code).toBe(0);
  }
});

test("the first rule whose conditions all hold is followed", async () => {
  const scenario = `
- { when: { agent: "c*" }, do: [{ say: agent }] }
- { when: { capability: lead }, do: [{ say: capability }] }
- { when: { task: "T-?", input: "/^fix .+ now$/i" }, do: [{ say: pattern }] }
- { when: { attempt: 3 }, do: [{ say: third process }] }
- { when: { input: hello }, do: [{ say: substring }] }
- do: [{ say: rest }]
`;
  const answer = async (prompt: string, env = {}) => (await world.run(scenario, [prompt], { env })).events.last.result;
  expect(await answer("FIX it NOW")).toBe("pattern");
  expect(await answer("say hello", { OVERSTORY_TASK_ID: "other" })).toBe("substring");
  expect(await answer("hello", {})).toBe("third process");
  expect(await answer("x", { OVERSTORY_AGENT_NAME: "c7" })).toBe("agent");
  expect(await answer("x", { OVERSTORY_CAPABILITY: "lead" })).toBe("capability");
  expect(await answer("x")).toBe("rest");
});

test("what reached the model is kept for tests to read", async () => {
  await world.run(basic, ["Zeile eins\nünd zwei"]);
  await world.run(basic, ["later"]);
  expect(world.diary("inputs.ndjson")).toMatchObject([
    { text: "Zeile eins\nünd zwei", turn: 1, attempt: 1 },
    { text: "later", turn: 1, attempt: 2 },
  ]);
});

test("a bad scenario is exit 64 with every mistake, each with file and line", async () => {
  const { code, stderr, stdout } = await world.run("- do:\n    - sya: hi\n    - exit: 300\n", ["go"]);
  const path = join(world.root, "scenario.yaml");
  expect([code, stdout]).toEqual([64, ""]);
  expect(stderr).toContain(`${path}:2: unknown step "sya"`);
  expect(stderr).toContain(`${path}:3: "exit" must be a whole number from 0 to 255`);
  const missing = await world.run(undefined, [], { env: { OVERSTORY_SCENARIO: "/nowhere.yaml" } });
  expect(missing.code).toBe(64);
});

test("output into a file is complete and in order", async () => {
  const piped = await world.run("- do: [{ flood: { events: 500, bytes: 1000 } }, { say: last }]", ["go"]);
  const target = join(world.root, "out.ndjson");
  const line = `printf '{"type":"user","message":{"content":"go"}}' | "$@" > ${target}`;
  const env = { PATH: process.env.PATH, HOME: world.root, OVERSTORY_SCENARIO: join(world.root, "scenario.yaml") };
  const done = Bun.spawn(["/bin/sh", "-c", line, "sh", ...program, ...usual], { env });
  expect(await done.exited).toBe(0);
  const kinds = (text: string) => text.split("\n").map((line) => (line === "" ? "" : JSON.parse(line).type));
  expect(kinds(readFileSync(target, "utf8"))).toEqual(kinds(piped.stdout));
  expect(piped.events).toHaveLength(503);
});

test("processes that start at once are still counted one by one", async () => {
  const scenario = `- do: [{ say: "\${attempt}" }]`;
  const all = await Promise.all(Array.from({ length: 6 }, () => world.run(scenario, ["go"])));
  expect(all.map(({ events }) => events.last.result).sort()).toEqual(["1", "2", "3", "4", "5", "6"]);
});

test("the reference names every step, and its example is a scenario that runs", async () => {
  const reference = readFileSync(join(import.meta.dir, "../docs/scripted-agent.md"), "utf8");
  const { stderr } = await world.run("- do: [{ nonsense: true }]", []);
  const words = /known: (.*)/.exec(stderr)?.[1]?.split(", ") ?? [];
  expect(words.length).toBeGreaterThan(20);
  expect(words.filter((word) => !reference.includes(`| \`${word}: `))).toEqual([]);

  const example = /```yaml\n(.*?)```/s.exec(reference)?.[1];
  const env = { OVERSTORY_CAPABILITY: "scout", OVERSTORY_AGENT_NAME: "s1" };
  expect((await world.run(example, ["go"], { env })).events.last.result).toBe("nothing for s1 in turn 1");
});

test("the builder of the reference dies once and is done the second time", async () => {
  const reference = readFileSync(join(import.meta.dir, "../docs/scripted-agent.md"), "utf8");
  const example = /```yaml\n(.*?)```/s.exec(reference)?.[1];
  writeFileSync(join(world.root, "bin/ov"), '#!/bin/sh\necho "$@" > mail\n', { mode: 0o755 });
  Bun.spawnSync(["git", "init", "-q", "-b", "work"], { cwd: world.cwd });
  expect((await world.run(example, ["do T-1"])).code).toBe(137);
  const { events, code } = await world.run(example, ["do T-1"]);
  expect([code, events.last.result]).toEqual([0, "The greeting is in place."]);
  expect(world.file("mail")).toContain("T-1 is done --body on work");
});
