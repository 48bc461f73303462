import { afterAll } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RecordedTurn, runtimeContract } from "../../../testkit/contracts/runtime.ts";
import type { FailureCause } from "../../domain/turn/failure.ts";
import { scriptedRuntime } from "./runtime.ts";

const home = mkdtempSync(join(tmpdir(), "ov-scripted-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const session = "11111111-2222-4333-8444-555555555555";

/** The output of a real process that followed this scenario. */
function played(name: string, steps: string, failure: FailureCause | null): RecordedTurn {
  let output: string | undefined;
  const play = (): string => {
    const scenario = join(home, `${name}.yaml`);
    writeFileSync(scenario, `- do:\n${steps}`);
    const { success, stdout, stderr } = Bun.spawnSync({
      cmd: [
        process.execPath,
        join(import.meta.dir, "program/run.ts"),
        ..."-p --input-format stream-json --output-format stream-json --verbose".split(" "),
        ...["--session-id", session],
      ],
      env: { HOME: join(home, name), PATH: process.env.PATH ?? "", OVERSTORY_SCENARIO: scenario },
      stdin: new Blob([`${JSON.stringify({ type: "user", message: { role: "user", content: "go" } })}\n`]),
    });
    if (success !== (failure === null)) throw new Error(`${name}: ${stdout}${stderr}`);
    return stdout.toString();
  };
  return {
    name,
    output: () => {
      output ??= play();
      return output;
    },
    failure,
    session,
    usage: failure === null,
  };
}

runtimeContract("scripted", {
  runtime: scriptedRuntime(["ov", "scripted-agent"]),
  turns: [
    played("work", "    - say: Grüße\n    - shell: echo done\n    - say: finished\n", null),
    played("limit", "    - fail: rate_limit\n", "rate_limit"),
    played("login", "    - fail: login\n", "login"),
    played("lost", "    - fail: session_lost\n", "session_lost"),
  ],
  question: JSON.stringify({
    type: "control_request",
    request_id: "r1",
    request: { subtype: "can_use_tool", tool_name: "Bash", input: { command: "git push" }, tool_use_id: "t1" },
  }),
});
