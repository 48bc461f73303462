import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type RecordedTurn, runtimeContract } from "../../../testkit/contracts/runtime.ts";
import { codexRuntime } from "./runtime.ts";

const fixtures = resolve(import.meta.dir, "../../../test/fixtures/codex");

const recorded = (name: string, more: Pick<RecordedTurn, "failure" | "usage">): RecordedTurn => ({
  name,
  output: () => readFileSync(join(fixtures, `${name}.ndjson`), "utf8"),
  session: null,
  ...more,
});

runtimeContract("codex", {
  runtime: codexRuntime,
  turns: [
    recorded("basic", { failure: null, usage: true }),
    recorded("command-failed", { failure: null, usage: true }),
    recorded("mcp", { failure: null, usage: true }),
    recorded("resume", { failure: null, usage: true }),
    recorded("api-error-429", { failure: "rate_limit", usage: false }),
    recorded("api-error-500", { failure: "server_error", usage: false }),
  ],
  question: "",
});
