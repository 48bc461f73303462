import type { HookFormat } from "../../domain/hook/hook.ts";
import type { GuardCommand, GuardLine } from "../../ports/runtime.ts";
import { askedByHook, guardCall, hookFormat, programTimeout, shellCall } from "../shared/hook-format.ts";
import { codexToolUse } from "./tools.ts";

/** Codex speaks to hooks as Claude Code does; only the names of its tools are its own. */
export const codexHooks: HookFormat = hookFormat(codexToolUse);

/** The guard as a setting on the command line. A hook that fails, or takes too long, lets the tool run, unless it fails with exit code 2. */
export const guardSetting = (guard: GuardCommand): string =>
  `hooks.PreToolUse=[{matcher=".*",hooks=[{type="command",command=${tomlText(guardLine(guard).line)},timeout=${programTimeout}}]}]`;

/** What the program has its shell run before each tool. */
export const guardLine = (guard: GuardCommand): GuardLine =>
  askedByHook(`${shellCall(guardCall(guard, "codex"))} || exit 2`);

/** A text as a basic string of TOML, which is written as in JSON. */
export const tomlText = (text: string): string => JSON.stringify(text).replaceAll("\u007f", "\\u007f");
