import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { acpQuestion, overAcp, type RecordedTurn, runtimeContract } from "../../../testkit/contracts/runtime.ts";
import { geminiRuntime } from "./runtime.ts";

const fixtures = resolve(import.meta.dir, "../../../test/fixtures/gemini");

const recorded = (name: string, session: string, more: Pick<RecordedTurn, "failure" | "usage">): RecordedTurn => ({
  name,
  driver: "exec-json",
  output: () => readFileSync(join(fixtures, `${name}.ndjson`), "utf8"),
  session,
  ...more,
});

runtimeContract("gemini", {
  runtime: geminiRuntime,
  turns: [
    recorded("basic", "61c511f1-a0dd-4e48-a512-66c474d21d22", { failure: null, usage: true }),
    recorded("resume", "61c511f1-a0dd-4e48-a512-66c474d21d22", { failure: null, usage: true }),
    recorded("hook-blocked", "fcf0d86a-b0a5-4c70-bd68-cd77cdf08eaf", { failure: null, usage: true }),
    recorded("api-error-401", "9171c977-b243-48fb-99c2-6f4c1632d539", { failure: "login", usage: false }),
    overAcp("gemini", "basic", { failure: null, session: "d1806c7e-631f-4e48-b7b4-e1bdd2295bb0" }),
    overAcp("gemini", "api-error-400", { failure: "rejected", session: "d1806c7e-631f-4e48-b7b4-e1bdd2295bb0" }),
  ],
  question: acpQuestion({
    toolCallId: "run_shell_command__1",
    status: "pending",
    title: "git push",
    content: [],
    locations: [],
    kind: "execute",
  }),
});
