import type { HookFormat } from "../../domain/hook/hook.ts";
import type { GuardCommand, GuardLine } from "../../ports/runtime.ts";
import { askedByHook, guardCall, hookFormat, programTimeout, shellCall } from "../shared/hook-format.ts";
import { geminiToolUse } from "./tools.ts";

/** Gemini tells hooks what Claude Code tells them; only the names of its events and tools are its own. */
export const geminiHooks: HookFormat = hookFormat(geminiToolUse);

/**
 * The guard as a setting. To Gemini a hook that takes too long, or that fails without a word, is none: the tool runs. So
 * the hook always says something when it fails, and gets a time in which a turn is ended for its silence.
 */
export const guardHooks = (guard: GuardCommand): object => ({
  BeforeTool: [
    { matcher: ".*", hooks: [{ type: "command", command: guardLine(guard).line, timeout: programTimeout * 1_000 }] },
  ],
});

/** What the program has its shell run before each tool. */
export const guardLine = (guard: GuardCommand): GuardLine => {
  const call = shellCall(guardCall(guard, "gemini"));
  return askedByHook(`${call} || { echo 'This tool was not allowed.' >&2; exit 2; }`);
};
