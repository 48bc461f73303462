import type { Command } from "../../command.ts";

/** `ov merge-file`: the rules that settle conflicts, on three files. */
export const mergeFileCommand: Command = {
  name: "merge-file",
  summary: "Merge three versions of one file by rule, or refuse",
  details:
    "Tries what the merge queue tries without asking anybody: one side unchanged, the same change twice, files both sides add to, and a merge by structure (JSON, YAML, Markdown, JSONL, source code). The merged text is printed; nothing is written. A conflict that no rule settles is refused with exit code 4. Works outside a project.",
  group: "Setup",
  arguments: [
    { name: "base", summary: "The common version; may be empty", required: true, complete: "files" },
    { name: "ours", summary: "Our version; line ends follow it", required: true, complete: "files" },
    { name: "theirs", summary: "The other version", required: true, complete: "files" },
  ],
  flags: [
    {
      name: "path",
      value: "name",
      summary: "What the file is called in its repository; decides the format",
      required: true,
    },
    { name: "union", summary: "The file has the git attribute merge=union" },
  ],
  examples: [
    { line: "ov merge-file base.json ours.json theirs.json --path package.json", does: "prints the merged manifest" },
    { line: "ov merge-file a b c --path docs/guide.md --json", does: "says how it was merged, or why not" },
  ],
  run: async () => (await import("../merge-file.ts")).mergeFile,
};
