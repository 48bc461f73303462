import { severities, verdicts } from "../../domain/mail/payload-shapes.ts";
import { object } from "../../domain/schema/schema.ts";
import { anyText, choice, flag, text, whole } from "./input.ts";
import type { ToolFor } from "./tool.ts";

/** The one verified completion step. Its arguments are the points by which the role is judged. */
export const finishTool: ToolFor = (role) => ({
  description:
    "Ends your work: checks the tree, runs the quality gates on your commit and reports to your parent. Says what is missing if it refuses; mend that and call it again. May take minutes.",
  readOnly: false,
  input: object(
    {
      summary: text("What you did, in a few sentences"),
      ...(role.capability === "reviewer" ? { verdict: choice(verdicts, "Your judgement of the branch") } : {}),
    },
    {
      learned: anyText("What others should know next time"),
      ...(role.capability === "reviewer"
        ? { findings, branch: text("The branch you judged, when your assignment does not name it") }
        : {}),
      ...(role.access.commits
        ? {
            expansion_reason: anyText("Why you changed files that are not yours"),
            no_code: flag("Your task needed no change"),
            reason: anyText("Why it needed none"),
          }
        : {}),
      ...(role.capability === "lead"
        ? {
            no_code: flag("Nothing was to be built, so you hand nothing over"),
            reason: text("Why nothing was to be built; needed with no_code"),
          }
        : {}),
    },
  ),
});

const findings = {
  type: "array",
  description: "What is wrong, so that the builder can act on it",
  items: object(
    { text: text("What happens now") },
    {
      file: text("Path of the file"),
      line: whole({ min: 1 }, "Line"),
      severity: choice(severities, "How grave; error when left out"),
      expected: anyText("What would be right"),
      criterion: whole({ min: 1 }, "Last review: the criterion that is not met; not with a pass"),
    },
  ),
} as const;
