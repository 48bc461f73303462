import type { Runtime } from "../ports/runtime.ts";
import { claudeRuntime } from "../runtimes/claude/runtime.ts";
import { scriptedRuntime } from "../runtimes/scripted/runtime.ts";
import { selfCommand } from "./self.ts";

/** Every runtime this build knows. */
const runtimes: Readonly<Record<string, () => Runtime>> = {
  claude: () => claudeRuntime,
  scripted: () => scriptedRuntime([...selfCommand(), "scripted-agent"]),
};

export const runtimeById = (id: string): Runtime | undefined => runtimes[id]?.();
