import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type RecordedTurn, runtimeContract } from "../../../testkit/contracts/runtime.ts";
import { piRuntime } from "./runtime.ts";

const fixtures = resolve(import.meta.dir, "../../../test/fixtures/pi");

/** With the line that our launch adds: Pi exits with 0 in each of these. */
const recorded = (name: string, session: string, more: Pick<RecordedTurn, "failure" | "usage">): RecordedTurn => ({
  name,
  output: () => `${readFileSync(join(fixtures, `${name}.ndjson`), "utf8")}\n{"type":"overstory.exit","code":0}\n`,
  session,
  ...more,
});

runtimeContract("pi", {
  runtime: piRuntime,
  turns: [
    recorded("basic", "01a1dd30-8849-7252-bff9-03dedfc7beaf", { failure: null, usage: true }),
    recorded("resume", "01a1dd30-8849-7252-bff9-03dedfc7beaf", { failure: null, usage: true }),
    recorded("api-retry-then-ok", "01a1dd37-2e97-74ac-9c5b-70f2b2cef09b", { failure: null, usage: true }),
    recorded("api-error-401", "01a1dd30-979f-77e1-9412-0b4f5c98f0d9", { failure: "login", usage: false }),
  ],
  question: "",
});
