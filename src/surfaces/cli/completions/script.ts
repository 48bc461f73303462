import type { Command } from "../command.ts";
import type { Shell } from "../tree/tool-commands.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { zshScript } from "./zsh.ts";

/** The completion script of the tree for one shell. Values that change are asked of `ov __complete <source> -- <prefix>`. */
export function completionScript(tree: Command, shell: Shell): string {
  switch (shell) {
    case "bash":
      return bashScript(tree);
    case "zsh":
      return zshScript(tree);
    case "fish":
      return fishScript(tree);
  }
}
