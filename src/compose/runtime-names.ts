import { noRuntimeFiles, type RuntimeFiles, type RuntimeSpec } from "../domain/agent/runtime-spec.ts";
import type { HookFormat } from "../domain/hook/hook.ts";
import type { RuntimeChoice } from "../ports/settings.ts";

/** Its short names stay what they are: the program itself knows which model they stand for. */
const ofClaude = {
  modelAliases: { opus: "opus", sonnet: "sonnet", haiku: "haiku" },
  gateways: true,
  vendor: "Anthropic",
} as const;

/** What may be chosen for an agent. A runtime with several drivers offers all but the default under a longer name. */
export const runtimeChoices: readonly RuntimeChoice[] = [
  { name: "claude", runtime: "claude", driver: "stream-json", ...ofClaude },
  { name: "claude:control", runtime: "claude", driver: "control", ...ofClaude },
  { name: "codex", runtime: "codex", driver: "exec-json", vendor: "OpenAI" },
  { name: "gemini", runtime: "gemini", driver: "exec-json", vendor: "Google" },
  { name: "gemini:acp", runtime: "gemini", driver: "acp", vendor: "Google" },
  { name: "copilot", runtime: "copilot", driver: "exec-json" },
  { name: "copilot:acp", runtime: "copilot", driver: "acp" },
  { name: "pi", runtime: "pi", driver: "exec-json" },
  { name: "opencode", runtime: "opencode", driver: "exec-json" },
  { name: "opencode:acp", runtime: "opencode", driver: "acp" },
  { name: "scripted", runtime: "scripted", driver: "stream-json" },
  { name: "scripted:control", runtime: "scripted", driver: "control" },
];

/** The same with what the configuration says about single runtimes, and with those that the project describes. */
export const choicesFor = (
  { pi }: PiSettings,
  { specs }: Pick<RuntimeFiles, "specs"> = noRuntimeFiles,
): readonly RuntimeChoice[] => [
  ...runtimeChoices.map((choice) =>
    choice.runtime === "pi" ? { ...choice, modelAliases: pi.modelMap, modelProvider: pi.provider } : choice,
  ),
  ...specs.map(describedChoice),
];

/** Every description has one driver. */
const describedChoice = (spec: RuntimeSpec): RuntimeChoice => ({
  name: spec.id,
  runtime: spec.id,
  driver: "acp",
  modelAliases: spec.model.aliases,
  spec,
});

interface PiSettings {
  readonly pi: { readonly provider: string | undefined; readonly modelMap: Readonly<Record<string, string>> };
}

/** How the hooks of a program are read and answered; without a name, those of Claude Code. */
export const hookFormat = (program: string | undefined): Promise<HookFormat> =>
  (hookFormats[program ?? ""] ?? claudeHooks)();

const claudeHooks = async (): Promise<HookFormat> => (await import("../runtimes/claude/hooks.ts")).claudeHooks;

const hookFormats: Readonly<Record<string, () => Promise<HookFormat>>> = {
  codex: async () => (await import("../runtimes/codex/hooks.ts")).codexHooks,
  copilot: async () => (await import("../runtimes/copilot/hooks.ts")).copilotHooks,
  gemini: async () => (await import("../runtimes/gemini/hooks.ts")).geminiHooks,
  opencode: async () => (await import("../runtimes/opencode/hooks.ts")).opencodeHooks,
  pi: async () => (await import("../runtimes/pi/hooks.ts")).piHooks,
};
