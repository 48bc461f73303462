import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type RecordedTurn, runtimeContract } from "../../../testkit/contracts/runtime.ts";
import { claudeRuntime } from "./runtime.ts";

const fixtures = resolve(import.meta.dir, "../../../test/fixtures/claude");

/** Streams of the real program. They were recorded in a mode that no driver uses any more. */
const recorded = (name: string, more: Pick<RecordedTurn, "failure" | "usage">): RecordedTurn => ({
  name,
  output: () =>
    readFileSync(join(fixtures, `${name}.ndjson`), "utf8").replaceAll('"permissionMode":"bypassPermissions",', ""),
  session: null,
  ...more,
});

runtimeContract("claude", {
  runtime: claudeRuntime,
  turns: [
    recorded("basic", { failure: null, usage: true }),
    recorded("basic-2.1.197", { failure: null, usage: true }),
    recorded("resume", { failure: null, usage: true }),
    recorded("api-error-429", { failure: "rate_limit", usage: false }),
    recorded("api-error-500", { failure: "server_error", usage: false }),
    recorded("resume-unknown", { failure: "session_lost", usage: false }),
  ],
  question: JSON.stringify({
    type: "control_request",
    request_id: "r1",
    request: { subtype: "can_use_tool", tool_name: "Bash", input: { command: "git push" }, tool_use_id: "t1" },
  }),
});
