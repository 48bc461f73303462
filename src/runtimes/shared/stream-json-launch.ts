import type { LaunchRequest } from "../../ports/runtime.ts";

/** The flags of one non-interactive turn with JSON in and out. */
export function streamJsonArguments({
  model,
  resume,
  instructions,
  mcpConfig,
  maxCostUsd,
}: Pick<LaunchRequest, "model" | "resume" | "instructions" | "mcpConfig" | "maxCostUsd">): string[] {
  const argv = [
    "-p",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--verbose",
    // Without it one long answer is silence, and silence ends a turn.
    "--include-partial-messages",
    "--strict-mcp-config",
    // Not `local`: in a linked worktree that is the file of the main checkout, with its person's own hooks.
    "--setting-sources",
    "user,project",
  ];
  // It takes any number of values, so another flag must follow.
  if (mcpConfig !== undefined) argv.push("--mcp-config", mcpConfig);
  argv.push("--permission-mode", "bypassPermissions");
  // It counts from the beginning of this process, also in a conversation that goes on.
  if (maxCostUsd !== undefined) argv.push("--max-budget-usd", maxCostUsd.toFixed(6));
  if (model !== null) argv.push("--model", model);
  if (resume !== null) argv.push("--resume", resume);
  if (instructions !== undefined) argv.push("--append-system-prompt-file", instructions);
  return argv;
}

/** The prompt as the one line that these CLIs read from their input. */
export function streamJsonInput(prompt: string): string {
  const message = { role: "user", content: [{ type: "text", text: prompt }] };
  return `${JSON.stringify({ type: "user", message })}\n`;
}
