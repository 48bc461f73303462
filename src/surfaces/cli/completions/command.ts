import { ok } from "../../../domain/result.ts";
import type { Command } from "../command.ts";
import { shells } from "./shells.ts";

/** `ov completions <shell>`, to be hung into the tree it completes; the tree comes as a function because it holds this. */
export const completionsCommand = (tree: () => Command): Command => ({
  name: "completions",
  summary: "Print the completion script for a shell",
  arguments: [{ name: "shell", required: true, choices: shells, summary: "The shell to complete in" }],
  examples: [{ line: "source <(ov completions bash)", does: "Completes in this shell from now on" }],
  run: async () => {
    const { completionScript } = await import("./script.ts");
    return async ({ args }) => {
      const shell = shells.find((known) => known === args.shell) ?? "bash";
      const script = completionScript(tree(), shell);
      return ok({ json: { shell, script }, text: script });
    };
  },
});
