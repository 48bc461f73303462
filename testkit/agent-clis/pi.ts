import { fields, list, text } from "../../src/runtimes/shared/json-fields.ts";
import { fakeKey, type Recipe, sum } from "./recipe.ts";

/** Pi. */
export const pi: Recipe = {
  version: "0.73.1",
  dialect: "chat",
  argv: ({ prompt, session }) => [
    ...["--mode", "json", "-p", "--provider", "fake", "--model", "fake-model"],
    ...(session === undefined ? [] : ["--session", session]),
    prompt,
  ],
  env: () => ({ PI_OFFLINE: "1", PI_TELEMETRY: "0", FAKE_KEY: fakeKey }),
  files: ({ url }) => ({
    ".pi/agent/models.json": JSON.stringify({
      providers: {
        fake: { baseUrl: `${url}/v1`, api: "openai-completions", apiKey: "FAKE_KEY", models: [piModel] },
      },
    }),
  }),
  read: (lines) => {
    const answers = lines
      .flatMap(({ type, message }) => (type === "message_end" ? [fields(message) ?? {}] : []))
      .filter(({ role }) => role === "assistant");
    const usages = answers.map(({ usage }) => fields(usage) ?? {});
    const last = answers.at(-1) ?? {};
    return {
      session: text(lines.find(({ type }) => type === "session")?.id),
      text: list(last.content)
        .map((block) => text(fields(block)?.text) ?? "")
        .join(""),
      usage: {
        input: sum(usages.map(({ input }) => input)),
        output: sum(usages.map(({ output }) => output)),
        cacheRead: sum(usages.map(({ cacheRead }) => cacheRead)),
        cacheWrite: sum(usages.map(({ cacheWrite }) => cacheWrite)),
      },
      error: last.stopReason === "error" ? text(last.errorMessage) : undefined,
    };
  },
  usageIsOf: "turn",
  countsCacheWrites: false,
  nameOfTool: null,
  exitWhenRefused: 0,
  facts: [
    "It reads the prompt from an input that is no terminal; there no @ names a file. --model takes provider/id.",
    "An extension (-e) that throws blocks the tool; one that is missing ends Pi with 1. With --no-extensions those of -e still count.",
    "Its shell tool puts ~/.pi/agent/bin before the PATH that it was started with.",
    "agent_end is no end: auto_retry_start may follow.",
    "A prompt that begins with @ is the name of a file to it.",
    "--version writes to the error output.",
    "It exits 0 after an error; only the last answer says so (stopReason error).",
    "If an answer claims cache_write_tokens, they are taken out of cached_tokens too. OpenAI never claims them, nor does the fake model here.",
    "It pays no heed to the reset of a limit: twelve requests in 20 s, then the error. At a retry-after it sleeps so long, without a word.",
  ],
};

const piModel = {
  id: "fake-model",
  name: "Fake",
  reasoning: false,
  input: ["text"],
  contextWindow: 128_000,
  maxTokens: 8000,
  cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
};
