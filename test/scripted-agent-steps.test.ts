import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Event, eventually, isAlive, recorded, shape, World } from "./scripted-agent.world.ts";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.end());

const git = (...args: string[]) =>
  Bun.spawnSync(["git", ...args], { cwd: world.cwd })
    .stdout.toString()
    .trim();

test("think is a thinking block of the recorded shape", async () => {
  const { events } = await world.run("- do: [{ think: A short thought. }, { say: Done. }]", ["go"]);
  const thinking = (event: Event) => event.message?.content?.[0]?.type === "thinking";
  expect(shape(events.find(thinking))).toEqual(shape(recorded("partial").find(thinking)));
  expect(events.find(thinking)?.message.id).toBe(events.nth(-2).message.id);
});

test("tool pretends a call, and an error of it does not fail the turn", async () => {
  const scenario = `
- do:
    - tool: { name: Read, input: { file_path: "\${cwd}/a.ts", limit: 5 }, output: contents }
    - tool: { name: WebFetch, output: no network, error: true }
`;
  const { events, code } = await world.run(scenario, ["go"]);
  expect(events.blocks[0]).toMatchObject({ name: "Read", input: { file_path: `${world.cwd}/a.ts`, limit: 5 } });
  expect(events.toolResults).toMatchObject([
    { content: "contents", is_error: false },
    { content: "no network", is_error: true },
  ]);
  expect(events.last.is_error).toBe(false);
  expect(code).toBe(0);
});

test("edit writes, appends and replaces for real, and is reported as the file tools", async () => {
  const scenario = `
- do:
    - edit: { file: src/a.txt, write: "one\\ntwo\\n" }
    - edit: { file: src/a.txt, append: "three\\n" }
    - edit: { file: src/a.txt, replace: { from: two, to: "$& 2" } }
    - edit: { file: src/a.txt, replace: { from: nowhere, to: x } }
    - say: never said
`;
  const { events, code } = await world.run(scenario, ["go"]);
  expect(world.file("src/a.txt")).toBe("one\n$& 2\nthree\n");
  expect(events.blocks.map((block) => block.name)).toEqual(["Write", "Write", "Edit", "Edit"]);
  expect(events.toolResults.at(-1)?.is_error).toBe(true);
  expect(events.last).toMatchObject({ subtype: "error_during_execution", is_error: true });
  expect(events.last.errors[0]).toContain("scenario line 6: src/a.txt: String to replace not found");
  expect(code).toBe(1);
});

test("shell runs in the working directory with the agent's environment", async () => {
  const scenario = "- do: [{ shell: 'pwd; echo $OVERSTORY_AGENT_NAME; echo oops >&2' }, { shell: 'true' }]";
  const { events } = await world.run(scenario, ["go"]);
  expect(events.toolResults).toMatchObject([
    { content: `${world.cwd}\nb1\noops` },
    { content: "(Bash completed with no output)", is_error: false },
  ]);
});

test("a shell command with another exit code than expected fails the turn, unless that is allowed", async () => {
  const failing = await world.run("- do: [{ shell: echo no; exit 3 }, { touch: reached }]", ["go"]);
  expect(failing.events.last.errors[0]).toContain('"echo no; exit 3" exited with 3 instead of 0: no');
  expect(failing.events.toolResults[0]).toMatchObject({ content: "Exit code 3\nno", is_error: true });
  expect(world.has("reached")).toBe(false);

  const steps = "{ shell: exit 3, expect: 3 }, { shell: exit 4, allowFail: true }, { touch: reached }";
  expect((await world.run(`- do: [${steps}]`, ["go"])).events.last.is_error).toBe(false);
  expect(world.has("reached")).toBe(true);
});

test("a shell command that leaves something in the background does not hold the turn", async () => {
  const { events } = await world.run("- do: [{ shell: 'tail -f /dev/null & echo $!' }]", ["go"]);
  world.adopt(Number(events.toolResults[0]?.content));
  expect(events.last.is_error).toBe(false);
});

test("commit commits everything under a fixed identity, and nothing to commit is fine", async () => {
  git("init", "-q", "-b", "overstory/b1/T-1");
  const scenario = `
- do:
    - edit: { file: a.txt, write: x }
    - commit: "add it's a.txt on \${branch}"
    - commit: again
`;
  const { events } = await world.run(scenario, ["go"]);
  expect(git("log", "--format=%an <%ae> %s")).toBe(
    "Scripted Agent <scripted-agent@example.invalid> add it's a.txt on overstory/b1/T-1",
  );
  expect(git("status", "--porcelain")).toBe("");
  expect(events.toolResults.at(-1)?.content).toBe("nothing to commit");
});

test("ov runs the ov on PATH, from a line or from words", async () => {
  const ov = join(world.root, "bin/ov");
  writeFileSync(ov, '#!/bin/sh\nfor word; do echo "<$word>"; done\n[ "$1" != fail ]\n');
  chmodSync(ov, 0o755);
  const scenario = `
- do:
    - ov: mail send --to lead --body "two words"
    - ov: [mail, send, --body, "it's \${task}"]
    - ov: fail
`;
  const { events } = await world.run(scenario, ["go"]);
  expect(events.toolResults.map((result) => result.content)).toEqual([
    "<mail>\n<send>\n<--to>\n<lead>\n<--body>\n<two words>",
    "<mail>\n<send>\n<--body>\n<it's T-1>",
    "Exit code 1\n<fail>",
  ]);
  expect(events.blocks[1]?.input.command).toBe(String.raw`ov mail send --body 'it'\''s T-1'`);
  expect(events.last.is_error).toBe(true);
});

test("templates are filled from the agent's facts and environment, and can be escaped", async () => {
  const text = ["agent", "capability", "task", "turn", "attempt", "env.COLOUR", "env.NONE"].map(
    (name) => `\${${name}}`,
  );
  const { events } = await world.run(`- do: [{ say: "${text.join(" ")}| $\${agent}" }]`, ["go"], {
    env: { COLOUR: "green" },
  });
  expect(events.last.result).toBe(`b1 builder T-1 1 1 green | \${agent}`);
});

test("waitFor holds the turn open until the file is there", async () => {
  const agent = world.start("- do: [{ touch: held }, { waitFor: { file: go } }, { say: went }]");
  agent.prompt("go");
  expect(await eventually(() => world.has("held"))).toBe(true);
  expect(agent.stdout).not.toContain("went");
  writeFileSync(join(world.cwd, "go"), "");
  expect((await agent.finish()).events.last.result).toBe("went");
});

test("waitFor gives up visibly", async () => {
  const { events } = await world.run("- do: [{ waitFor: { file: go, timeoutMs: 20 } }]", ["go"]);
  expect(events.last.errors[0]).toContain("go did not appear within 20 ms");
});

test("repeat does its steps again and again", async () => {
  const { events } = await world.run("- do: [{ repeat: { times: 3, do: [{ shell: echo x >> n }] } }]", ["go"]);
  expect(world.file("n")).toBe("x\nx\nx\n");
  expect(events.last.num_turns).toBe(3);
});

test("result ends the turn with its text, as a success or as an error", async () => {
  const good = await world.run("- do: [{ say: a }, { result: { text: b } }]", ["go"]);
  expect(good.events.last).toMatchObject({ result: "b", is_error: false });
  const bad = await world.run("- do: [{ result: { text: broken, error: true } }]", ["go"]);
  expect(bad.events.last).toMatchObject({ errors: ["broken"], is_error: true });
  expect(bad.code).toBe(1);
});

test("input fails the turn when the prompt lacks what was expected", async () => {
  const scenario = `- do: [{ input: { expect: 'the \${task} spec' } }, { say: fine }]`;
  expect((await world.run(scenario, ["read the T-1 spec"])).events.last.result).toBe("fine");
  const lacking = await world.run(scenario, ["hello"]);
  expect(lacking.events.last.errors[0]).toContain('the prompt lacks "the T-1 spec"');
});

test("malformed lines appear between the events as they are", async () => {
  const { stdout } = await world.run('- do: [{ malformed: "{not json" }, { say: after }]', ["go"]);
  expect(stdout.split("\n")[1]).toBe("{not json");
});

test("split delivers one event in several pieces that add up to it", async () => {
  let wasCut = false;
  // A reader that is held up finds all the pieces at once; it is not held up each time.
  for (let tries = 0; !wasCut && tries < 20; tries++) {
    const agent = world.start("- do: [{ touch: go }, { split: true }, { say: äöü äöü äöü }, { say: whole }]");
    agent.prompt("go");
    await agent.until((stdout) => {
      wasCut ||= stdout !== "" && !stdout.endsWith("\n");
      return stdout.includes('"result"');
    });
    const { events } = await agent.finish();
    expect(events.blocks.map((block) => block.text)).toEqual(["äöü äöü äöü", "whole"]);
  }
  expect(wasCut).toBe(true);
});

test("bigLine is one line of exactly that many bytes", async () => {
  const { stdout, events } = await world.run("- do: [{ bigLine: 5000 }, { bigLine: true }, { say: end }]", ["go"]);
  const sizes = stdout.split("\n").map((line) => Buffer.byteLength(line) + 1);
  expect(sizes.slice(1, 3)).toEqual([5000, 10 * 1024 * 1024]);
  expect(events.last.result).toBe("end");
});

test("flood is that many events", async () => {
  const { events } = await world.run("- do: [{ flood: { events: 2000, bytes: 10 } }]", ["go"]);
  expect(events.blocks).toHaveLength(2000);
  expect(events.last.usage.output_tokens).toBe(42);
});

test("newSessionId answers a resume under another id, and goes on under that one", async () => {
  const scenario = `
- { when: { attempt: 2 }, do: [{ newSessionId: true }, { say: "turn \${turn}" }] }
- do: [{ say: "turn \${turn}" }]`;
  const first = (await world.run(scenario, ["go"])).events.first.session_id;
  const second = (await world.run(scenario, ["a", "b"], { args: ["--resume", first] })).events;
  const other = second.first.session_id;
  expect(other).not.toBe(first);
  expect(new Set(second.map((event) => event.session_id))).toEqual(new Set([other]));
  const third = await world.run(scenario, ["go"], { args: ["--resume", other] });
  expect(third.events.last).toMatchObject({ session_id: other, result: "turn 4" });
});

test("rateLimit announces retries, says when it ends, and exits 1 with the recorded shapes", async () => {
  const before = Date.now();
  const scenario = "- do: [{ rateLimit: { resetInMs: 5000, retries: 2 } }]";
  const { events, code } = await world.run(scenario, ["go"]);
  expect(events.outline).toEqual(["init", "api_retry", "api_retry", "rate_limit_event", "assistant", "success"]);
  expect(events.nth(1)).toMatchObject({
    attempt: 1,
    max_retries: 2,
    retry_delay_ms: 5000,
    error_status: 429,
    error: "rate_limit",
  });
  expect(events.nth(3).rate_limit_info.resetsAt * 1000).toBeGreaterThanOrEqual(before + 5000);
  const [, assistant, result] = recorded("api-error-429");
  expect(events.slice(4).map(shape)).toEqual([shape(assistant), shape(result)]);
  expect(events.last).toMatchObject({ is_error: true, api_error_status: 429, terminal_reason: "api_error" });
  expect(events.nth(-2)).toMatchObject({ error: "rate_limit", message: { model: "<synthetic>" } });
  expect(code).toBe(1);
});

test("apiError fails the turn with its status, or recovers after its retries", async () => {
  const failing = await world.run("- do: [{ apiError: { status: 500, retries: 1 } }]", ["go"]);
  expect(failing.events.map(shape).slice(1)).toEqual(recorded("api-error-500").map(shape).slice(1));
  expect(failing.code).toBe(1);
  const steps = "[{ apiError: { status: 500, retries: 2, recover: true } }, { say: recovered }]";
  const recovering = await world.run(`- do: ${steps}`, ["go"]);
  expect(recovering.events.outline).toEqual(recorded("api-retry-then-ok").outline);
  expect(shape(recovering.events.nth(1))).toEqual(shape(recorded("api-retry-then-ok").nth(1)));
  expect(recovering.code).toBe(0);
});

test("child starts a process in a session of its own that outlives the agent", async () => {
  const { code } = await world.run("- do: [{ child: { command: 'exec tail -f /dev/null' } }]", ["go"]);
  const { pid, command } = world.child();
  expect(code).toBe(0);
  expect(command).toBe("exec tail -f /dev/null");
  expect(isAlive(pid)).toBe(true);
  if (existsSync("/proc/self")) expect(groupOf(pid)).toBe(pid);
});

test("a child without a new session stays in the agent's process group", async () => {
  const agent = world.start("- do: [{ child: { command: 'exec tail -f /dev/null', newSession: false } }]");
  agent.prompt("go");
  await agent.until((stdout) => stdout.includes('"type":"result"'));
  const { pid } = world.child();
  if (existsSync("/proc/self")) expect(groupOf(pid)).toBe(groupOf(agent.child.pid));
  expect((await agent.finish()).code).toBe(0);
});

test("a child that keeps stdout holds the pipe open after the agent has gone", async () => {
  const agent = world.start("- do: [{ child: { command: 'exec tail -f /dev/null', keepStdout: true } }]");
  agent.prompt("go");
  await agent.until((stdout) => stdout.includes('"type":"result"'));
  const { pid } = world.child();
  agent.child.stdin.end();
  expect(await agent.child.exited).toBe(0);
  let isOpen = true;
  const ended = agent
    .until(() => false)
    .finally(() => {
      isOpen = false;
    });
  // An agent that starts now comes to the end of its own output.
  await world.run("- do: [{ say: done }]", ["go"]);
  expect(isOpen).toBe(true);
  process.kill(pid, "SIGKILL");
  await ended;
  expect(isOpen).toBe(false);
});

function groupOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ");
  return Number(fields?.[2]);
}
