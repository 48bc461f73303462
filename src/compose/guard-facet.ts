import { readFileSync } from "node:fs";
import { decide, type GuardRequest } from "../domain/guard/decide.ts";
import { readGuardPolicy } from "../domain/guard/policy.ts";
import { deny, type Verdict } from "../domain/guard/verdict.ts";
import type { GuardFacet } from "../surfaces/cli/facets/guard.ts";
import type { Environment } from "./project.ts";
import { rulesFile } from "./rules-file.ts";

/** The guard as hooks ask it. Nothing of the project is opened for it: it is asked before each use of a tool. */
export function makeGuardFacet(stateOf: () => string, env: Environment): GuardFacet {
  const byFile = async (file: string, use: GuardRequest, digest?: string): Promise<Verdict> => {
    const text = textOf(file) ?? "";
    if (digest !== undefined && new Bun.CryptoHasher("sha256").update(text).digest("hex") !== digest)
      return deny("unreadable", "the rules of this agent are not those its turn began with; end your turn");
    const policy = readGuardPolicy(text);
    if (policy === undefined) return deny("unreadable", "the rules of this agent are missing; end your turn");
    return decide(use, policy, await (await import("./agent-guard.ts")).guardMeans(env));
  };
  return { byFile, byAgent: (name, use, digest) => byFile(rulesFile(stateOf(), name), use, digest) };
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    // Whatever keeps us from reading them: without rules nothing is allowed.
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}
