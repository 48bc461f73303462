import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { GuardMachine } from "../domain/guard/paths.ts";
import type { ToolGuard } from "../ports/runtime.ts";

/** Where the rules lie by which an agent's tools are guarded. */
export const rulesFile = (state: string, agentName: string): string => join(state, "agents", agentName, "guard.json");

type Environment = Readonly<Record<string, string | undefined>>;

export const toolGuard = (env: Environment, stateDir: () => Promise<string>): ToolGuard => ({
  rulesFileOf: async (agentName) => rulesFile(await stateDir(), agentName),
  rulesIn: (file) => {
    try {
      return readFileSync(file, "utf8");
    } catch (error) {
      // For any reason that keeps us from reading them: without rules nothing is allowed.
      if (error instanceof Error && "code" in error) return undefined;
      throw error;
    }
  },
  digest: (text) => new Bun.CryptoHasher("sha256").update(text).digest("hex"),
  machine: () => guardMachine(env),
});

/** What the guard must know of this machine. The grammar of the shell is loaded when it is needed. */
export async function guardMachine(env: Environment): Promise<GuardMachine> {
  const { parseShell } = await import("./syntax/shell.ts");
  const temporary = ["/tmp", "/var/tmp", env.TMPDIR ?? ""].filter((dir) => dir.startsWith("/") && dir !== "/");
  return { parse: parseShell, places: { realPath: realPathOf, home: env.HOME, temporary } };
}

/** Where an absolute path leads: links and `..` are followed as the system would, and what does not exist stays as named. */
export function realPathOf(path: string): string {
  let real = "/";
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    real = part === ".." ? dirname(real) : followed(join(real, part));
  }
  return real;
}

function followed(path: string): string {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? realpathSync(path) : path;
  } catch (error) {
    // A link that leads nowhere, or a name below a file: nothing can be reached through it.
    if (error instanceof Error && "code" in error) return path;
    throw error;
  }
}
