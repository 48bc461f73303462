import { boolean, choice, texts } from "./key.ts";
import { relativePath } from "./shape.ts";

/** How branches come back. */
export const mergeKeys = {
  "merge.mode": choice(["manual", "auto", "approve"], {
    doc: "When approved branches are merged: when asked, by themselves, or each after a decision.",
    default: "auto",
  }),
  "merge.unverified": choice(["wait", "land"], {
    doc: "What happens to a branch that no gate has checked.",
    default: "wait",
  }),
  "merge.promote": choice(["ask", "auto"], {
    doc: "Whether landed work moves to a checked-out branch when asked, or at run end if that checkout is clean.",
    default: "ask",
  }),
  "merge.keepIgnored": texts({
    doc: "Ignored directories that survive between gate runs; all other ignored files are removed first.",
    default: ["node_modules", ".venv", "target"],
    shape: relativePath,
  }),
  "merge.aiResolveEnabled": boolean({ doc: "Whether a model may resolve conflicts.", default: true }),
  "merge.reimagineEnabled": boolean({
    doc: "Whether a model may rewrite the change when resolving has failed.",
    default: false,
  }),
};
