import type { LaunchPlan, LaunchRequest, Runtime } from "../../ports/runtime.ts";
import { execJsonDriver } from "../shared/exec-json.ts";
import { withExitLine } from "../shared/exit-line.ts";
import { execJsonReader } from "./exec-json.ts";
import { guardExtension, guardLine } from "./hooks.ts";

/** Pi, one process per turn. It can start no tool server: its agents use `ov` in their shell. */
export const piRuntime: Runtime = {
  id: "pi",
  footprint: {
    keeps: [".pi"],
    brings: [".pi/agent/auth.json", ".pi/agent/settings.json", ".pi/agent/models.json"],
    moves: { PI_CODING_AGENT_DIR: { ".pi/agent": "" }, PI_CODING_AGENT_SESSION_DIR: { ".pi/agent/sessions": "" } },
    reads: [],
    writes: [],
  },
  program: "pi",
  instructionFile: "AGENTS.md",
  guardedFiles: ["**/.pi/**"],
  guardLine,
  gitAuthor: "settings",
  environment: [
    "PI_*",
    ...["ANTHROPIC_*", "OPENAI_*", "AZURE_OPENAI_*", "GEMINI_*", "GOOGLE_*", "OPENROUTER_*", "MISTRAL_*", "GROQ_*"],
    ...["XAI_*", "DEEPSEEK_*", "CEREBRAS_*", "ZAI_*", "AWS_*", "COPILOT_GITHUB_TOKEN"],
  ],
  login: {
    variables: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"],
    files: [".pi/agent/auth.json", ".pi/agent/models.json"],
    status: null,
    certain: false,
  },
  complaints: [
    { says: "No session found matching", cause: "session_lost" },
    { says: "No API key found", cause: "login" },
    { says: "No models available", cause: "login" },
    { says: "Use --list-models", cause: "model" },
    { says: "Unknown option", cause: "program" },
    { says: "Failed to load extension", cause: "program" },
  ],
  advice: {
    login: "log in with /login in: pi (or export the key of its provider, such as ANTHROPIC_API_KEY)",
    program: "make sure that this shell runs: pi --version",
  },
  drivers: [
    execJsonDriver({
      // A person's own session has neither the extension of a turn nor its guard.
      abilities: { terminal: false, tokens: "answer", tools: false },
      launch,
      reader: execJsonReader,
    }),
  ],
  terminal: ({ resume }) => ({ argv: ["pi", "--session", resume], env: {}, input: "", files: [] }),
};

const extension = "pi-guard.ts";

function launch({ model, resume, turnDir, guard, prompt }: LaunchRequest): LaunchPlan {
  const argv = [
    ...["pi", "--mode", "json", "--print"],
    // Others bring tools that no guard knows, and could change a call that the guard has seen.
    "--no-extensions",
  ];
  if (guard !== null) argv.push("--extension", `${turnDir}/${extension}`);
  if (model !== null) argv.push("--model", model);
  if (resume !== null) argv.push("--session", resume);
  return {
    argv: withExitLine(argv),
    // What it looks up at its start is nothing that a turn needs.
    env: { PI_OFFLINE: "1" },
    // On the command line a prompt that begins with @ would be the name of a file.
    input: prompt,
    files: guard === null ? [] : [{ in: "turn", path: extension, text: guardExtension(guard) }],
  };
}
