import { object } from "../../domain/schema/schema.ts";
import { flag, text, texts } from "./input.ts";
import type { ToolFor } from "./tool.ts";

const branch = text("Branch, like overstory/<agent>/<task>");

/** Tools about branches: their changes, their evidence, their way into the landing branch. */
export const codeTools = {
  diff: () => ({
    description:
      "Shows what a branch changes against where it will land; a landing branch against its target. Long patches are cut: narrow them with files.",
    readOnly: true,
    input: object({ branch }, { files: texts("Only files below these paths") }),
  }),
  gates: (role) => ({
    description: role.access.gates
      ? "Shows what the quality gates said about a branch, or runs them on its tip."
      : "Shows what the quality gates said about a branch.",
    readOnly: !role.access.gates,
    input: object({ branch }, role.access.gates ? { run: flag("Run them now; may take minutes") } : {}),
  }),
  merge_preview: () => ({
    description: "Predicts whether a branch would merge cleanly. Changes nothing.",
    readOnly: true,
    input: object({ branch }),
  }),
  merge: () => ({
    description: "Asks the merge queue to land a branch of your children. The queue tests and lands it and mails you.",
    readOnly: false,
    input: object({ branch }),
  }),
} as const satisfies Record<string, ToolFor>;
