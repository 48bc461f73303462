import { judge } from "../../../usecases/guard/judge.ts";
import type { World } from "../../../usecases/operation.ts";
import type { App } from "../app.ts";
import { readStdinNow } from "../sink.ts";

/** The little that judging needs. */
export type QuickTerms = Pick<World, "toolGuard"> & Pick<App, "hookFormat">;

type QuickAnswer =
  /** `say`: what the program must hear; empty where it needs no word. */
  { readonly allowed: true; readonly say: string } | { readonly allowed: false; readonly input: string | undefined };

/**
 * The guard of a turn, which an agent's program calls before every tool. Almost every call is allowed, and needs nothing but
 * the rules and the command: so it is judged before the program is loaded that knows projects, stores and commands.
 * Everything else, be it a denial or a call that is not understood, goes the long way with the input that was read here.
 */
export async function quickGuard(argv: readonly string[], { toolGuard, hookFormat }: QuickTerms): Promise<QuickAnswer> {
  const given = flagsIn(argv);
  if (given === undefined) return { allowed: false, input: undefined };
  const input = readStdinNow();
  try {
    const { rules, digest, runtime } = given;
    const format = await hookFormat(runtime);
    const told = format.read(input);
    if (told === undefined) return { allowed: false, input };
    const { tool, cwd, use } = told;
    // The operation uses no other port of the world.
    const world = { toolGuard } as World;
    const request = { by: { file: rules }, use: { ...use, tool, cwd, attended: false }, digest };
    const judged = await judge.run(world, request);
    const isPlain = judged.ok && judged.value.decision === "allow" && judged.value.note === undefined;
    if (!isPlain) return { allowed: false, input };
    const allowance = format.allowance(undefined);
    return { allowed: true, say: allowance === null ? "" : `${JSON.stringify(allowance)}\n` };
  } catch {
    // The same failure happens again on the long way, where it is reported and denied.
    return { allowed: false, input };
  }
}

/** Exactly as we write it into the settings of agents' programs; undefined for anything else. */
function flagsIn(argv: readonly string[]) {
  const [hook, event, ...rest] = argv;
  if (hook !== "hook" || event !== "pre-tool") return undefined;
  const given = new Map<string, string>();
  for (let at = 0; at < rest.length; at += 2) given.set(rest[at] ?? "", rest[at + 1] ?? "");
  const rules = given.get("--rules");
  const digest = given.get("--digest");
  const runtime = given.get("--runtime");
  const known = ["--rules", "--digest", "--runtime"];
  if (rules === undefined || digest === undefined || ![...given.keys()].every((flag) => known.includes(flag)))
    return undefined;
  return { rules, digest, runtime };
}
