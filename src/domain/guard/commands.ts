import { checkGit } from "./git/git.ts";
import type { GuardMeans } from "./means.ts";
import { absolute, checkWrite, isDevice } from "./paths.ts";
import type { GuardPolicy } from "./policy.ts";
import { isOpaque } from "./programs/interpreters.ts";
import { onlyLooks, readingGh } from "./programs/looking.ts";
import { scriptFile, targetsOf } from "./programs/writing.ts";
import { type Invocation, readShell, type ShellEffects } from "./shell/invocations.ts";
import { operands } from "./shell/options.ts";
import type { ShellWord } from "./shell/tree.ts";
import { type Denial, deny } from "./verdict.ts";

/** May an agent have this line run by a shell? */
export function checkCommand(text: string, cwd: string, policy: GuardPolicy, means: GuardMeans): Denial | undefined {
  const { parse, places } = means;
  const effects = readShell(text, { parse, cwd, home: places.home, gates: policy.gates });
  if ("decision" in effects) return effects;
  return (
    first(effects.invocations, (each) => checkInvocation(each, effects, policy, means)) ??
    first(effects.writes, ({ target, cwd: from }) => checkTarget(target, from, policy, means))
  );
}

function first<T>(all: readonly T[], check: (each: T) => Denial | undefined): Denial | undefined {
  for (const each of all) {
    const denied = check(each);
    if (denied !== undefined) return denied;
  }
  return undefined;
}

function checkInvocation(
  invocation: Invocation,
  { functions }: ShellEffects,
  policy: GuardPolicy,
  means: GuardMeans,
): Denial | undefined {
  const { name, args } = invocation;
  const denied = checkVariables(invocation, policy) ?? checkTracker(invocation, policy);
  if (denied !== undefined || name === "") return denied;
  if (name === "git") return checkGit(invocation, policy, means.places);
  if (isOpaque(name, args)) return opaque(name);
  const leaving = checkLeaving(invocation);
  if (leaving !== undefined) return leaving;
  if (policy.files === "scoped-write") return checkTargets(invocation, policy, means);
  if (functions.has(name) || onlyLooks(invocation)) return undefined;
  return deny(
    "read-only",
    `a ${policy.capability} changes nothing, and ${name} as it stands here is not known to only look`,
  );
}

const opaque = (name: string): Denial =>
  deny(
    "opaque-code",
    `code that is handed to ${name} cannot be looked at; write it into a file of yours, or do without`,
  );

/** Variables by which a program is made to run others, or git to work elsewhere. */
const steersGit =
  /^GIT_(DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|OBJECT_DIRECTORY|CONFIG.*|EXEC_PATH|SSH.*|PROXY.*|EXTERNAL.*)$/;
const steersPrograms =
  /^(PATH|IFS|ENV|BASH_ENV|SHELL|LD_.*|DYLD_.*|GIT_.*|.*PAGER|.*EDITOR|.*_OPTIONS|.*OPTS?|PYTHON.*|PERL.*|RUBY.*|NODE_.*|LESS.*)$/;

function checkVariables({ assignments }: Invocation, { files }: GuardPolicy): Denial | undefined {
  const forbidden = files === "read-only" ? steersPrograms : steersGit;
  const found = assignments.find(({ name, value }) => forbidden.test(name) && value.text !== "cat");
  return found && deny("variables", `${found.name} decides what other programs do; leave it as it is`);
}

/** A task of somebody else is theirs to close. */
function checkTracker({ name, args }: Invocation, { taskId }: GuardPolicy): Denial | undefined {
  if (!["sd", "bd"].includes(name)) return undefined;
  const [verb, ...rest] = operands(args);
  const words = rest.map(({ text }) => text);
  const closes = ["close", "done"].includes(verb?.text ?? "");
  const updates = verb?.text === "update" && args.some(({ text }) => text.startsWith("--status"));
  if (!closes && !updates) return undefined;
  const values = args.flatMap(({ text }, at) =>
    text.startsWith("--") && !text.includes("=") ? [args[at + 1]?.text] : [],
  );
  const ids = words.filter((word) => !values.includes(word));
  const own = ids.length > 0 && ids.every((id) => id === taskId) && rest.every(({ dynamic }) => !dynamic);
  return own ? undefined : deny("tracker", `close only your own task${taskId === null ? "" : ` ${taskId}`}`);
}

/** Nothing leaves this machine but by the operator. */
function checkLeaving({ name, args }: Invocation): Denial | undefined {
  const [verb] = operands(args);
  const publishes =
    (["npm", "pnpm", "yarn", "bun", "cargo", "poetry", "uv"].includes(name) && verb?.text === "publish") ||
    (["docker", "podman", "gem", "hub"].includes(name) && verb?.text === "push") ||
    (name === "twine" && verb?.text === "upload") ||
    (["gh", "glab"].includes(name) && args.length > 0 && !readingGh(args));
  return publishes
    ? deny("publish", "what leaves this machine is the operator's to send; report that it is ready")
    : undefined;
}

function checkTargets({ name, args, cwd }: Invocation, policy: GuardPolicy, means: GuardMeans): Denial | undefined {
  const script = scriptFile(name, args);
  const targets = script === undefined ? targetsOf(name, args) : [script];
  return first(targets, (target) => checkTarget(target, cwd, policy, means));
}

function checkTarget(
  target: ShellWord,
  cwd: string | undefined,
  policy: GuardPolicy,
  { places }: GuardMeans,
): Denial | undefined {
  const path = absolute(target, cwd, places.home);
  if (policy.files === "read-only") {
    const harmless = path !== undefined && isDevice(path);
    return harmless ? undefined : deny("read-only", `a ${policy.capability} writes no files; let the output be shown`);
  }
  if (path === undefined) {
    return deny("dynamic", "which file this changes cannot be told before it runs; write its path out");
  }
  return checkWrite(path, policy, places);
}
