import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { acpQuestion, overAcp, type RecordedTurn, runtimeContract } from "../../../testkit/contracts/runtime.ts";
import { usageLine } from "./exec-json.ts";
import { copilotRuntime } from "./runtime.ts";

const fixtures = resolve(import.meta.dir, "../../../test/fixtures/copilot");
const textOf = (name: string): string => readFileSync(join(fixtures, `${name}.ndjson`), "utf8");

/** With the line that our launch adds. */
const withUsage = (name: string): string =>
  `${textOf(name)}{"type":"${usageLine}","data":${textOf("usage-file").trim()}}\n`;

const recorded = (name: string, failure: RecordedTurn["failure"]): RecordedTurn => ({
  name,
  driver: "exec-json",
  output: () => (failure === null ? withUsage(name) : textOf(name)),
  failure,
  session: null,
  usage: failure === null,
});

runtimeContract("copilot", {
  runtime: copilotRuntime,
  turns: [
    recorded("basic", null),
    { ...recorded("resume", null), session: "4224c92d-db5d-42f9-8f9d-38e0f9dbd4b0" },
    recorded("hook-blocked", null),
    recorded("permission-denied", null),
    recorded("api-error-401", "login"),
    overAcp("copilot", "basic", { failure: null, session: "9b70a8f8-2139-40f4-a77b-1322f64f0ec5" }),
    overAcp("copilot", "api-error-400", { failure: "rejected", session: "9b70a8f8-2139-40f4-a77b-1322f64f0ec5" }),
  ],
  question: acpQuestion({
    toolCallId: "t1",
    title: "as asked",
    kind: "execute",
    status: "pending",
    rawInput: { command: "git push", commands: ["git push"] },
  }),
});
