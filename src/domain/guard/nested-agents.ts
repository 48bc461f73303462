import { isInside, joined, type Places } from "./paths.ts";
import type { GuardPolicy } from "./policy.ts";
import type { Invocation } from "./shell/invocations.ts";
import type { ShellWord } from "./shell/syntax.ts";
import { type Denial, deny } from "./tool-use.ts";

/** Programs that are coding agents, and the packages they come in. */
const agents: readonly string[] =
  `claude claude-code codex gemini gemini-cli opencode opencode-ai copilot copilot-cli pi
  pi-coding-agent cursor-agent aider aider-chat amp qwen qwen-code droid crush auggie kiro-cli openhands plandex cline kimi
  sourcegraph-amp sapling-agent claude-flow`.split(/\s+/);

/** Programs that share their name with others: an agent only when they are called so. */
const sometimes: Readonly<Record<string, RegExp>> = {
  goose: /^(run|session|acp|web|configure|recipe|project|term)$/,
  q: /^(chat|agent)$/,
  cn: /^-p$/,
  agent: /^(-p|--print|--yolo|--force|acp|chat|resume)$/,
  sp: /^(run|print)$/,
};

/** An agent that needs more hands asks for agents by `ov sling`, so that the team knows of them. */
export function checkNested(invocation: Invocation, policy: GuardPolicy, places: Places): Denial | undefined {
  const { name, args } = invocation;
  const isOwn = Object.hasOwn(sometimes, name) && isProjects(invocation, policy, places);
  if (!isNestedAgent(name, args, isOwn)) return undefined;
  return deny(
    "team-tools",
    `${name} starts an agent that nobody here knows; delegate with: ov sling, or ask your parent`,
  );
}

/** A program that the project builds has the name that the project gives it. It lies in the worktree, and was not installed there. */
function isProjects({ program, cwd }: Invocation, { worktree }: GuardPolicy, { realPath }: Places): boolean {
  const path = /^[^/~].*\//.test(program) ? joined(cwd, program) : undefined;
  if (path === undefined || installed.test(program)) return false;
  const real = realPath(path);
  return isInside(real, realPath(worktree)) && !installed.test(real);
}

const installed = /(^|\/)(node_modules|site-packages|\.?venv|\.tox)\//;

/** Would this program, called so, work on its own as an agent? What it only says about itself does not count. */
export function isNestedAgent(name: string, args: readonly ShellWord[], isOwn = false): boolean {
  // A package may be named with its version.
  const version = name.indexOf("@", 1);
  const program = version < 0 ? name : name.slice(0, version);
  if (args.length === 1 && /^(--version|--help|-v|-V|-h)$/.test(args[0]?.text ?? "")) return false;
  if (agents.includes(program) || startsAgent(name, args)) return true;
  const words = !isOwn && Object.hasOwn(sometimes, program) ? sometimes[program] : undefined;
  return words !== undefined && args.some(({ text }) => words.test(text));
}

/** Other ways to start one: as a module, from a registry, or by the file that its package has for it. */
function startsAgent(name: string, args: readonly ShellWord[]): boolean {
  const words = args.map(({ text }) => text);
  if (/^python[\d.]*$/.test(name)) return words[0] === "-m" && isAgent(words[1] ?? "");
  if (name === "uvx" || (name === "uv" && words[0] === "tool" && words[1] === "run")) return words.some(isAgent);
  if (name === "deno") return words.some((word) => word.startsWith("npm:") && isAgent(word.slice("npm:".length)));
  if (!/^(node|nodejs|bun|tsx)$/.test(name)) return false;
  const [file = ""] = words.filter((word) => !word.startsWith("-") && word !== "run");
  const [, behind] = /(?:^|\/)node_modules\/(?:\.bin\/)?((?:@[^/]+\/)?[^/]+)/.exec(file) ?? [];
  return behind !== undefined && isAgent(behind);
}

/** A package, with or without its owner and its version. */
const isAgent = (name: string): boolean =>
  agents.includes((/^(?:@[^/]+\/)?([^@]*)/.exec(name)?.[1] ?? "").replace(/(?:==|\[).*$/, ""));
