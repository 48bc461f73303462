import type { Places } from "../means.ts";
import { absolute, checkWrite } from "../paths.ts";
import type { GuardPolicy } from "../policy.ts";
import type { Invocation } from "../shell/invocations.ts";
import { isOption } from "../shell/options.ts";
import type { ShellWord } from "../shell/tree.ts";
import { type Denial, deny } from "../verdict.ts";
import { readGit } from "./call.ts";
import { checkChange, isNobodys } from "./changes.ts";
import { isLook } from "./looks.ts";

/** May git be called so? */
export function checkGit({ args, cwd }: Invocation, policy: GuardPolicy, places: Places): Denial | undefined {
  const call = readGit(args);
  if ("decision" in call) return call;
  if (isLook(call.command, call.args)) return undefined;
  const denied = checkChange(call, policy);
  if (policy.files === "read-only") {
    return isNobodys(denied)
      ? denied
      : deny("read-only", `a ${policy.capability} only looks: log, show, diff, blame, status`);
  }
  if (denied !== undefined) return denied;
  const elsewhere = checkPlaces(call.places, cwd, policy, places);
  if (elsewhere !== undefined || !writing.includes(call.command)) return elsewhere;
  return checkOutputs(call.args, cwd, policy, places);
}

/** Commands that write files where they are told to. */
const writing = "init clone archive format-patch bundle log diff show merge-file interpret-trailers".split(" ");

function checkPlaces(
  given: readonly ShellWord[],
  cwd: string | undefined,
  policy: GuardPolicy,
  places: Places,
): Denial | undefined {
  const where = given.map((word) => absolute(word, cwd, places.home));
  const elsewhere = deny("git-elsewhere", `change only your own worktree, and name it plainly: ${policy.worktree}`);
  for (const place of [cwd, ...where]) {
    // The repository's own directory is where git writes, not what an agent does.
    if (place === undefined || checkWrite(place.replace(/\/\.git\/?$/, ""), policy, places) !== undefined)
      return elsewhere;
  }
  return undefined;
}

/** Files that git is told to write, wherever their names stand: everything that leads out is looked at. */
function checkOutputs(
  args: readonly ShellWord[],
  cwd: string | undefined,
  policy: GuardPolicy,
  places: Places,
): Denial | undefined {
  for (const word of args) {
    if (word.dynamic) continue;
    const text = isOption(word) ? (/^(?:--[a-z-]+=|-[a-zA-Z])(.+)$/.exec(word.text)?.[1] ?? "") : word.text;
    const leadsOut = word.home || text.startsWith("/") || /(^|\/)\.\.(\/|$)/.test(text);
    if (!leadsOut || /\s/.test(text)) continue;
    const path = absolute({ ...word, text }, cwd, places.home);
    const denied = path === undefined ? undefined : checkWrite(path, policy, places);
    if (denied !== undefined) return denied;
  }
  return undefined;
}
