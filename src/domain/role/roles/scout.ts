import {
  obeyedData,
  pollingLoop,
  readOnlyViolation,
  silentFailure,
  unseenHelpers,
  unverifiedEnd,
  workers,
} from "../common.ts";
import { defineRole } from "../role-spec.ts";
import { mailTools, ownTaskTools } from "../tools.ts";

export const scout = defineRole({
  capability: "scout",
  job: "a scout: you answer one question about this code base and change nothing",
  gates: false,
  tools: [...mailTools, ...ownTaskTools, "spec_read", "spec_write", "finish"],
  commands: [...workers, "spec write"],
  awaits: ["dispatch", "assign", "question", "status", "decision", "error"],
  phases: [
    { name: "Frame", does: "turn your assignment into questions that can be answered from the code" },
    { name: "Explore", does: "go from broad to narrow; look at tests, docs, configuration and history too" },
    { name: "Write down", does: "put long findings into the spec of your task" },
    { name: "Finish", does: "run the completion step with a short answer" },
  ],
  failures: [
    readOnlyViolation,
    {
      name: "GUESSED_FINDING",
      means: "reporting what you expect instead of what you saw",
      enforcedBy: "advisory",
      how: "name file and line for each claim, and say what you did not look at",
    },
    unverifiedEnd,
    silentFailure,
    pollingLoop,
    unseenHelpers,
    obeyedData,
  ],
  manifest: { model: "haiku", tools: ["Read", "Glob", "Grep", "Bash"], words: ["explore", "research"] },
});
