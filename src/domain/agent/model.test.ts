import { expect, test } from "bun:test";
import { chooseModel, modelNotes } from "./model.ts";

const claude = { runtime: "claude", modelAliases: { sonnet: "sonnet" }, gateways: true };
const codex = { runtime: "codex" };
const pi = { runtime: "pi", modelAliases: { big: "openai/gpt-5.2" }, modelProvider: "anthropic" };
const settings = {
  models: { builder: "sonnet", scout: "corner/glm-5", lead: "gpt-5.2" },
  providers: {
    anthropic: { type: "native" },
    corner: { type: "gateway", baseUrl: "https://corner.example", authTokenEnv: "CORNER_KEY" },
  },
  runtime: { fallbackModels: { claude: "haiku" } },
  runtimes: [claude, pi],
};
const plain = { ...settings, runtime: { fallbackModels: {} } };

test.each([
  ["the model of the capability", claude, "builder", undefined, "sonnet"],
  ["what was typed before that", claude, "builder", "opus-next", "opus-next"],
  ["the program's own default where nothing is said", claude, "reviewer", undefined, null],
  ["the program's own default for a short name of another runtime", codex, "builder", undefined, null],
  ["a short name of another runtime that was typed, for the program to judge", codex, "builder", "sonnet", "sonnet"],
  ["a name that only this runtime knows", codex, "lead", undefined, "gpt-5.2"],
  ["what the runtime calls it", pi, "builder", "big", "openai/gpt-5.2"],
  ["the provider of the runtime before a bare name", pi, "lead", undefined, "anthropic/gpt-5.2"],
  ["a name with a provider that is no gateway, as it is", codex, "builder", "anthropic/x", "anthropic/x"],
] as const)("an agent gets %s", (_, choice, capability, asked, model) => {
  expect(chooseModel(plain, { asked, capability, choice })).toEqual({ ok: true, value: { model, terms: null } });
});

test("a model of a gateway is kept with its address and its variable, never with a token", () => {
  expect(chooseModel(settings, { asked: undefined, capability: "scout", choice: claude })).toEqual({
    ok: true,
    value: {
      model: "corner/glm-5",
      terms: {
        gateway: { baseUrl: "https://corner.example", tokenVariable: "CORNER_KEY", model: "glm-5" },
        fallback: "haiku",
      },
    },
  });
});

test("a runtime that cannot use a gateway is refused a model of one", () => {
  const refused = chooseModel(settings, { asked: undefined, capability: "scout", choice: codex });
  expect(refused).toMatchObject({ ok: false, refusal: { problem: expect.stringContaining("codex cannot use") } });
});

test.each([
  ["a slip in a short name", claude, "sonet", "did you mean sonnet?"],
  ["a short name of another runtime", codex, "sonnet", "a short name of claude that codex may not know"],
  [
    "a model of another maker",
    { ...codex, vendor: "OpenAI" },
    "claude-opus-4-5",
    "a model of Anthropic, and codex asks OpenAI",
  ],
  ["a provider that the project does not have", claude, "nowhere/m1", "nowhere is no provider of this project"],
] as const)("%s is named before the agent starts, and refused for nothing", (_, choice, asked, words) => {
  expect(modelNotes(settings, { asked, capability: "builder", choice })).toEqual([expect.stringContaining(words)]);
  expect(chooseModel(settings, { asked, capability: "builder", choice })).toMatchObject({ ok: true });
});

test("nothing is said about names that may well be right", () => {
  for (const [choice, asked] of [
    [claude, "sonnet"],
    [claude, "opus-next"],
    [claude, "corner/glm-5"],
    [pi, "nowhere/m1"],
    [{ ...codex, vendor: "OpenAI" }, "gpt-5.2"],
    [codex, undefined],
  ] as const)
    expect(modelNotes(settings, { asked, capability: "builder", choice })).toEqual([]);
});

test("an empty name is refused", () => {
  expect(chooseModel(settings, { asked: " ", capability: "builder", choice: claude })).toMatchObject({
    ok: false,
    refusal: { kind: "invalid", field: "model" },
  });
});
