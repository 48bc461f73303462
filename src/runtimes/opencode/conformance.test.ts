import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { acpQuestion, overAcp, type RecordedTurn, runtimeContract } from "../../../testkit/contracts/runtime.ts";
import { stepLine } from "./hooks.ts";
import { opencodeRuntime } from "./runtime.ts";

const fixtures = resolve(import.meta.dir, "../../../test/fixtures/opencode");

/** With the line that our launch adds. */
const recorded = (name: string, code: number, more: Pick<RecordedTurn, "failure" | "session">): RecordedTurn => ({
  name,
  driver: "exec-json",
  output: () => `${readFileSync(join(fixtures, `${name}.ndjson`), "utf8")}\n{"type":"overstory.exit","code":${code}}\n`,
  usage: more.failure === null,
  ...more,
});

/** Recorded without our plugin, which alone tells the tokens: its lines stand before the end of the turn. */
const withPlugin = (turn: RecordedTurn): RecordedTurn => ({
  ...turn,
  output: () => turn.output().replace(/^.*"stopReason".*$/m, (end) => `${step(1)}\n${step(2)}\n${end}`),
});

const step = (id: number): string =>
  JSON.stringify({ type: stepLine, id: `prt_${id}`, tokens: { input: 100, output: 20, cache: {} }, cost: 0.001 });

const session = "ses_e22cfdd08ffetW8lvZNQJewJJS";

runtimeContract("opencode", {
  runtime: opencodeRuntime,
  turns: [
    recorded("basic", 0, { failure: null, session }),
    recorded("resume", 0, { failure: null, session }),
    recorded("permission-denied", 0, { failure: null, session: null }),
    recorded("api-error-401", 1, { failure: "login", session: "ses_e22cf8a89ffe6eGv6N0wDVUKpx" }),
    withPlugin(overAcp("opencode", "basic", { failure: null, session: "ses_e22cd12abffejBuiAGa0y7TDNw" })),
    overAcp("opencode", "api-error-400", { failure: "rejected", session: "ses_e22cd12abffejBuiAGa0y7TDNw" }),
  ],
  question: acpQuestion({
    toolCallId: "t1",
    title: "git push",
    kind: "execute",
    status: "pending",
    locations: [],
    rawInput: { command: "git push" },
  }),
});
