import { relativePath } from "../../domain/name/name.ts";
import { boolean, choice, integer, optionalText, records, texts } from "./key.ts";

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
  "merge.gateChanges": choice(["ask", "allow"], {
    doc: "What happens to a branch that changes how branches are judged (configuration, role texts, settings and instructions of coding agents such as `CLAUDE.md`, `.gitattributes`, what a gate or the setup command names): it waits for you with the difference shown, or it lands and its receipt says so.",
    default: "ask",
  }),
  "merge.guarded": texts({
    doc: "More files that no branch changes without your word, as directories or globs, such as .github/workflows.",
    default: [],
  }),
  "merge.keepIgnored": texts({
    doc: "Ignored paths that are kept as merge.setup made them: before each gate they are put back to that. All other ignored files are removed.",
    default: ["node_modules", ".venv", "target"],
    shape: relativePath,
  }),
  "merge.cache": texts({
    doc: "Ignored directories, such as build caches, that stay as earlier gates left them. Every receipt names them, because a gate can then depend on what another one wrote.",
    default: [],
    shape: relativePath,
  }),
  "merge.setup": optionalText({
    doc: "Command that installs dependencies before gates. It runs once for each state of lock files, manifests and package manager settings; without it nothing is kept.",
  }),
  "merge.batchSize": integer({
    doc: "Branches that are gated together at most. Without gates up to 64 land together.",
    default: 8,
    min: 1,
    max: 64,
  }),
  "merge.parallelGates": integer({
    doc: "Checkouts in which gates may run at the same time.",
    default: 2,
    min: 1,
    max: 8,
  }),
  "merge.maxRebases": integer({
    doc: "How often a candidate is built anew because its landing branch has moved.",
    default: 5,
    max: 100,
  }),
  "merge.timeoutMs": integer({
    doc: "Milliseconds that git may take to merge one branch, while the queue waits. A branch that takes longer is a conflict in the largest files that both sides changed.",
    default: 60_000,
    min: 1_000,
    max: 3_600_000,
  }),
  "merge.baselineFailing": choice(["warn", "block"], {
    doc: "What happens when a gate already fails without the branches that want to land.",
    default: "warn",
  }),
  "merge.keepRefsDays": integer({
    doc: "Days for which refs of merges and results of the radar are kept when nothing rests on them; 0 keeps them for ever.",
    default: 14,
    max: 3_650,
  }),
  "merge.keepLogsDays": integer({
    doc: "Days for which the output of gates is kept; 0 keeps it for ever.",
    default: 14,
    max: 3_650,
  }),
  "merge.keepReceiptsDays": integer({
    doc: "Days for which receipts, checks and results of gates are kept when no landing rests on them; 0 keeps them for ever.",
    default: 14,
    max: 3_650,
  }),
  "merge.keepAttemptsDays": integer({
    doc: "Days for which attempts to land branches are kept; 0 keeps them for ever. Those of open entries always stay.",
    default: 14,
    max: 3_650,
  }),
  "merge.closeTask": boolean({ doc: "Whether landing a branch closes its task.", default: true }),
  "merge.runGitHooks": boolean({
    doc: "Whether the project's own merge hooks may veto a landing. Those of the repository need `ov trust add hook:<name>`.",
    default: true,
  }),
  "merge.structured.enabled": boolean({
    doc: "Whether conflicts are settled by the structure of the files where that is certain.",
    default: true,
  }),
  "merge.generated": records(
    { paths: { type: "list of text", shape: relativePath }, command: "required" },
    {
      doc: "Files that are made by a command: a conflict in them is settled by running it.",
      default: [{ paths: ["package-lock.json"], command: "npm install --package-lock-only" }],
    },
  ),
};
