import { decide, type GuardRequest } from "../../domain/guard/decide.ts";
import { readGuardPolicy } from "../../domain/guard/policy.ts";
import { deny, toolUseFields, type Verdict } from "../../domain/guard/tool-use.ts";
import { ok } from "../../domain/result.ts";
import { either, fields, flag, orNull, text } from "../../domain/schema/schema.ts";
import type { Effect } from "../operation.ts";

export interface JudgeRequest {
  /** By the rules in this file, or by those of this agent. */
  readonly by: { readonly file: string } | { readonly agent: string };
  readonly use: GuardRequest;
  readonly digest?: string | undefined;
}

/** May an agent use a tool so? Rules that are missing, cannot be read or have another digest deny. */
export const judge: Effect<JudgeRequest, Verdict> = {
  kind: "effect",
  request: fields(
    {
      by: either(
        fields<{ readonly file: string }>({ file: text }),
        fields<{ readonly agent: string }>({ agent: text }),
      ),
      use: fields({ ...toolUseFields, tool: orNull(text), cwd: orNull(text), attended: flag }),
    },
    { digest: text },
  ),
  place: "caller",
  run: async (world, { by, use, digest }) => {
    const guard = await world.toolGuard();
    const text = guard.rulesIn("file" in by ? by.file : await guard.rulesFileOf(by.agent)) ?? "";
    if (digest !== undefined && guard.digest(text) !== digest)
      return ok(deny("unreadable", "the rules of this agent are not those its turn began with; end your turn"));
    const policy = readGuardPolicy(text);
    if (policy === undefined) return ok(deny("unreadable", "the rules of this agent are missing; end your turn"));
    return ok(decide(use, policy, await guard.machine()));
  },
};
