import { afterEach, beforeEach, expect, test } from "bun:test";
import { aboutProcess } from "../testkit/about-process.ts";
import {
  type AgentProcess,
  type Event,
  eventually,
  isAlive,
  jsonLines,
  recorded,
  shape,
  World,
} from "./scripted-agent.world.ts";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.end());

/** Starts a turn and waits until it is in the middle of its steps: the scenario must touch `ready`. */
async function started(scenario: string): Promise<AgentProcess> {
  const agent = world.start(scenario);
  agent.prompt("go");
  expect(await eventually(() => world.has("ready"))).toBe(true);
  return agent;
}

/** Resolves when it has ended: one that goes on with what it is doing keeps the test waiting. */
function stoppedBy(agent: AgentProcess, signal: NodeJS.Signals) {
  agent.child.kill(signal);
  return agent.finish();
}

/** An agent that starts now has done its work and ended. One that was asked to end before has had the time to do so. */
const anotherEnds = (): Promise<unknown> => world.run("- do: [{ say: done }]", ["go"]);

/** What the system says a process is doing: `T` is stopped by a signal. */
const stateOf = (pid: number): string | undefined => aboutProcess(pid, "stat").split(") ").at(-1)?.[0];

test("hang is silent and alive until it is told to stop", async () => {
  const agent = await started("- do: [{ touch: ready }, { hang: true }]");
  agent.child.stdin.end();
  await anotherEnds();
  expect(agent.child.exitCode).toBeNull();
  const { code, events } = await stoppedBy(agent, "SIGTERM");
  expect(code).toBe(143);
  expect(events.map((event) => event.subtype)).toEqual(["init"]);
});

test("SIGTERM ends the process with 143 at once, without a result and with its tool's processes", async () => {
  const agent = await started("- do: [{ shell: 'echo $$ > pid; touch ready; tail -f /dev/null; true' }]");
  const { code, events } = await stoppedBy(agent, "SIGTERM");
  expect(code).toBe(143);
  expect(events.last).toMatchObject({ type: "user", tool_use_result: "Error: Exit code 137" });
  const shell = Number(world.file("pid"));
  expect(await eventually(() => !isAlive(shell))).toBe(true);
});

test("a killed turn can be resumed and was a turn", async () => {
  const agent = await started("- do: [{ touch: ready }, { hang: true }]");
  const { events } = await stoppedBy(agent, "SIGTERM");
  const scenario = `- do: [{ say: "turn \${turn}, attempt \${attempt}" }]`;
  const next = await world.run(scenario, ["again"], { args: ["--resume", events.first.session_id] });
  expect(next.events.last.result).toBe("turn 2, attempt 2");
});

test("SIGTERM ends the process even when nobody reads its output", async () => {
  const agent = await started("- do: [{ touch: ready }, { flood: { events: 10000, bytes: 1000 } }]");
  await Bun.sleep(100);
  agent.child.kill("SIGTERM");
  expect(await agent.child.exited).toBe(143);
});

test.each([
  ["SIGTERM", 143],
  ["SIGHUP", 129],
  ["SIGINT", 0],
] as const)("%s between turns is exit %i", async (signal, code) => {
  const agent = world.start("- do: [{ say: done }]");
  agent.prompt("go");
  await agent.until((stdout) => stdout.includes('"type":"result"'));
  agent.child.kill(signal);
  expect(await agent.child.exited).toBe(code);
});

test("ignoreSigterm survives SIGTERM; only SIGKILL helps", async () => {
  const agent = await started("- do: [{ ignoreSigterm: true }, { touch: ready }, { hang: true }]");
  agent.child.kill("SIGTERM");
  await anotherEnds();
  expect(agent.child.exitCode).toBeNull();
  agent.child.kill("SIGKILL");
  await agent.child.exited;
  expect(agent.child.signalCode).toBe("SIGKILL");
});

test("SIGKILL leaves the tool's shell behind, as with the real program", async () => {
  const agent = await started("- do: [{ shell: 'echo $$ > pid; touch ready; tail -f /dev/null; true' }]");
  const shell = Number(world.file("pid"));
  world.adopt(shell);
  agent.child.kill("SIGKILL");
  await agent.child.exited;
  expect(isAlive(shell)).toBe(true);
  process.kill(-shell, "SIGKILL");
});

test("SIGINT aborts the tool, gives the recorded result, and exits 0", async () => {
  const agent = await started("- do: [{ say: Waiting. }, { shell: 'touch ready; tail -f /dev/null; true' }]");
  const { code, events } = await stoppedBy(agent, "SIGINT");
  const theirs = recorded("sigint");
  const outline = (event: Event) => {
    const { modelUsage, model_usage_since_last_result, memory_paths, ...rest } = event;
    return shape(rest);
  };
  expect(events.map(outline)).toEqual(theirs.map(outline));
  expect(events.last).toMatchObject({ subtype: "error_during_execution", terminal_reason: "aborted_tools" });
  expect(code).toBe(0);
});

test("an interrupt request ends the turn only; the next prompt is served", async () => {
  const agent = await started(
    "- { when: { turn: 1 }, do: [{ touch: ready }, { hang: true }] }\n- do: [{ say: alive }]",
  );
  agent.send({ type: "control_request", request_id: "r1", request: { subtype: "interrupt" } });
  await agent.until((stdout) => stdout.includes('"type":"result"'));
  agent.prompt("next");
  const { code, events } = await agent.finish();
  expect(events.find((event) => event.type === "control_response")?.response).toMatchObject({
    subtype: "success",
    request_id: "r1",
  });
  const results = events.results;
  expect(results).toMatchObject([{ subtype: "error_during_execution" }, { result: "alive", is_error: false }]);
  expect(code).toBe(0);
});

test("an interrupt while nothing runs is answered and changes nothing; unknown requests are refused", async () => {
  const agent = world.start("- do: [{ say: alive }]");
  agent.send({ type: "control_request", request_id: "r1", request: { subtype: "interrupt" } });
  agent.send({ type: "control_request", request_id: "r2", request: { subtype: "dance" } });
  agent.prompt("go");
  const { events, code } = await agent.finish();
  const answers = events.filter((event) => event.type === "control_response").map((event) => event.response);
  expect(answers).toMatchObject([{ subtype: "success" }, { subtype: "error", error: "unsupported_request" }]);
  expect([events.last.result, code]).toEqual(["alive", 0]);
});

test("exit leaves at once with its code, without a result and with everything said before", async () => {
  const { code, events } = await world.run("- do: [{ say: bye }, { exit: 3 }]", ["go", "never taken"]);
  expect(code).toBe(3);
  expect(events.map((event) => event.type)).toEqual(["system", "assistant"]);
});

test("noInit lets a process die before its first event", async () => {
  expect(await world.run("- do: [{ noInit: true }, { exit: 127 }]", ["go"])).toMatchObject({ code: 127, stdout: "" });
});

test("kill ends the process by the signal itself", async () => {
  const agent = world.start("- do: [{ say: last words }, { kill: SIGKILL }]");
  agent.prompt("go");
  const { events } = await agent.finish();
  expect(agent.child.signalCode).toBe("SIGKILL");
  expect(events).toHaveLength(2);
});

test("kill with SIGSTOP freezes the process until it is continued", async () => {
  const agent = await started("- do: [{ touch: ready }, { kill: SIGSTOP }, { say: thawed }]");
  let isThawed = false;
  const thawed = agent
    .until((stdout) => stdout.includes("thawed"))
    .finally(() => {
      isThawed = true;
    });
  expect(await eventually(() => stateOf(agent.child.pid) === "T")).toBe(true);
  await anotherEnds();
  expect([stateOf(agent.child.pid), isThawed]).toEqual(["T", false]);
  agent.child.kill("SIGCONT");
  expect(await thawed).toBe(true);
});

test("closeStdout ends the output while the process lives on", async () => {
  const scenario =
    "- do: [{ say: before }, { closeStdout: true }, { say: unheard }, { shell: touch ready }, { hang: true }]";
  const agent = await started(scenario);
  expect(await agent.until(() => false)).toBe(false);
  expect(agent.child.exitCode).toBeNull();
  expect(jsonLines(agent.stdout).map((event) => event.type)).toEqual(["system", "assistant"]);
});

test("sleep takes its time and can be stopped", async () => {
  const from = Date.now();
  await world.run("- do: [{ sleep: 150 }]", ["go"]);
  expect(Date.now() - from).toBeGreaterThanOrEqual(150);
  const agent = await started("- do: [{ touch: ready }, { sleep: 60000 }]");
  expect((await stoppedBy(agent, "SIGTERM")).code).toBe(143);
});
